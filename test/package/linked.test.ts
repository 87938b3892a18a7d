import { join } from 'node:path'
import { link, manifestOf, unpack } from './linked-package.js'
import { describePackage } from './new-application.js'

// Without npm and the registry: the package is unpacked, and what it and the application declare is linked from this
// checkout. What is not declared is not found. pack-and-install.test.ts does the same with npm, and runs
// the tests of the application.
describePackage({
  how: 'unpacked in',
  runsItsTests: false,
  package: (folder, file) => unpack(folder, file, ''),
  application: async (folder, file) => {
    const into = join(folder.path, 'my-app')
    await unpack(folder, file, 'my-app')
    await link(into, Object.keys((await manifestOf(into)).devDependencies ?? {}))
  }
})
