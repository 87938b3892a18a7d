import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { filesOf } from '../../../cli/proto.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { describeCatalogue } from '../../../data-service/operations/describe/describe.js'
import { describedPackage, packageOf } from '../../../data-service/rpc/typed-calls.js'
import store from '../../../examples/store/uniform-rest.config.js'
import { packageRoot } from '../../harness/package-root.js'

const FOLDER = 'examples/store/grpc'
const run = promisify(execFile)

describe('the proto of the store', () => {
  it('is that of its entities, with the numbers of its lock', () => {
    const { typedServices } = store
    if (typedServices === undefined) throw new TypeError('The store has no typed services')
    const typed = describedPackage(store, typedServices)
    for (const [path, text] of filesOf(typed)) {
      const committed = readFileSync(join(packageRoot, FOLDER, path), 'utf8')
      // Whole texts of this size take a comparison of lines minutes to show.
      expect(committed === text, `${path} is that of the entities: run \`npm run proto\``).to.equal(true)
    }
    expect(typed.isLocked).to.equal(true)
  })

  it('is the same whatever the owner parameter is called', () => {
    const { entities, operations, typedServices } = store
    if (typedServices === undefined) throw new TypeError('The store has no typed services')
    const text = describedPackage(store, typedServices).text()
    const catalogue = makeCatalogue(entities)
    for (const parameterName of ['id', 'tenant']) {
      const described = describeCatalogue(catalogue, { bypassRole: undefined, parameterName }, operations)('gateway')
      expect(packageOf(described, typedServices).text() === text, parameterName).to.equal(true)
    }
  })

  it('breaks no caller of the commit before', async () => {
    const before = await mkdtemp(join(tmpdir(), 'store-proto-'))
    try {
      // Without a history, as in an archive, the committed files are all that there is to compare with.
      const hasBefore = await run('git', ['cat-file', '-e', `HEAD^:${FOLDER}/store`], { cwd: packageRoot }).then(
        () => true,
        () => false
      )
      let against = join(packageRoot, FOLDER)
      if (hasBefore) {
        const archive = join(before, 'before.tar')
        await run('git', ['archive', '-o', archive, 'HEAD^', `${FOLDER}/store`], { cwd: packageRoot })
        await mkdir(join(before, 'out'))
        await run('tar', ['-xf', archive, '-C', join(before, 'out')])
        against = join(before, 'out', FOLDER)
      }
      const buf = join(packageRoot, 'node_modules/@bufbuild/buf/bin/buf')
      const config = JSON.stringify({ version: 'v2', breaking: { use: ['WIRE_JSON'] } })
      const args = [buf, 'breaking', '--against', against, '--config', config]
      const said = await new Promise<string>((resolve) => {
        execFile(process.execPath, args, { cwd: join(packageRoot, FOLDER) }, (error, stdout, stderr) => {
          resolve(error === null ? '' : stdout + stderr)
        })
      })
      expect(said).to.equal('')
    } finally {
      await rm(before, { recursive: true, force: true })
    }
  })
})
