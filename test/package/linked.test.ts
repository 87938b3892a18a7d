import { join } from 'node:path'
import { unpackInto } from './empty-folder.js'
import { link, manifestOf, unpack } from './linked-package.js'
import { describePackage } from './new-application.js'

// Without npm and the registry: the package is unpacked, and what it and the application declare is linked from this
// checkout. What is not declared is not found. pack-and-install.test.ts does the same with npm, and runs
// the tests of the application.
describePackage({
  how: 'unpacked in',
  runsItsTests: false,
  package: async (folder, { service, pages }) => {
    await unpack(folder, service, '')
    await unpackInto(folder, pages)
  },
  application: async (folder, { service, pages }) => {
    const into = join(folder.path, 'my-app')
    await unpack(folder, service, 'my-app')
    await unpackInto(folder, pages, 'my-app')
    await link(into, Object.keys((await manifestOf(into)).devDependencies ?? {}))
  }
})
