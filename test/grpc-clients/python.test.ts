import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { packageRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../harness/stack.js'
import { PYTHON } from '../runner/programs.js'

const run = promisify(execFile)

describe('a caller in Python', () => {
  let database: FreshDatabase
  let stack: Stack
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'python-caller-'))
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database })
  })
  after(async () => {
    await stack?.stop()
    await database?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  it('gets a token for a machine account, reads, pages, exports, creates once, changes and meets a conflict, with the proto alone', async () => {
    // The commands of the page, with a folder of our own for what they make.
    const page = await readFile(join(packageRoot, 'docs/grpc.md'), 'utf8')
    const [, commands = ''] = /^```sh\n(mkdir[\s\S]*?)^```$/m.exec(page) ?? []
    const [compile = '', ...rest] = commands.replaceAll('\\\n', ' ').split('\n').slice(1)
    expect([compile.split(' ')[0], rest[0]?.split(' ')[0]]).to.deep.equal(['protoc', 'PYTHONPATH=generated'])
    await run('sh', ['-c', compile.replaceAll('generated', folder)], { cwd: packageRoot })
    const { stdout } = await run(PYTHON, ['examples/store/grpc/client.py', stack.dataAddress, 'nightly-export'], {
      cwd: packageRoot,
      env: {
        ...process.env,
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: '1',
        CLIENT_SECRET: 'demo-secret-of-nightly-export'
      }
    })
    expect(stdout.trim().split('\n')).to.deep.equal([
      'token for: 900',
      "page 1 of 21 products: ['1.99', '1.99']",
      'read by cursors: 21',
      'exported: 21 21 False',
      'created, replayed: True True',
      'changed: 12.50 300 False',
      'stale: FAILED_PRECONDITION conflict',
      'deleted: NOT_FOUND not-found'
    ])
  })
})
