import { join } from 'node:path'
import { expect } from 'chai'
import { EmptyFolder, packInto } from './empty-folder.js'
import { describePackage } from './new-application.js'

const QUIET = ['--no-audit', '--no-fund']

// With npm, from the registry. linked.test.ts does the same without either.
describePackage({
  how: 'installed by npm in',
  runsItsTests: true,
  package: async (folder, { service, pages }) => {
    await folder.run('npm', ['init', '--yes'])
    const { stderr } = await folder.run('npm', ['install', service, pages, ...QUIET])
    expect(stderr, 'warnings of engines, peers and deprecations').to.not.match(/EBADENGINE|ERESOLVE|deprecated|peer/i)
  },
  application: async (folder) => {
    const { stdout } = await folder.run('npm', ['install', ...QUIET], { in: 'my-app' })
    expect(stdout).to.match(/added \d+ packages/)
  }
})

describe('the package, installed by npm', () => {
  it('is loaded as it stands by Node 24 too, which the registry has as a package', async () => {
    await using folder = await EmptyFolder.make()
    await folder.run('npm', ['init', '--yes'])
    const name = `node-${process.platform}-${process.arch}`
    const { file } = await packInto(folder)
    await folder.run('npm', ['install', file, `${name}@24`, ...QUIET, '--prefer-offline'])
    const node = join(folder.path, 'node_modules', name, 'bin/node')
    expect((await folder.run(node, ['--version'])).stdout).to.match(/^v24\./)
    const command = join(folder.path, 'node_modules/uniform-rest/dist/cli/main.js')
    await folder.run(node, [command, 'init', 'my-app'])
    await folder.run('npm', ['install', ...QUIET], { in: 'my-app' })
    const installed = join(folder.path, 'my-app/node_modules/uniform-rest/dist/cli/main.js')
    const { stdout } = await folder.run(node, [installed, 'check'], { in: 'my-app' })
    expect(stdout).to.include('1 entity, no mistakes.')
    const migrated = await folder.run(node, [installed, 'migrate', '--dry-run'], { in: 'my-app' })
    expect(migrated.stdout).to.include('CREATE TABLE')
  })
})
