import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freshDatabase, type FreshDatabase } from '../harness/database.js'
import { packageRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../harness/stack.js'

describe('docs/grpc.md', () => {
  let database: FreshDatabase
  let stack: Stack
  // Beside package.json, as the page has it: its packages and proto/ are found from there.
  const file = join(packageRoot, `grpc-page-${process.pid}.tmp.mjs`)
  before(async () => {
    database = await freshDatabase('sqlite')
    stack = await startStack({ database })
  })
  after(async () => {
    rmSync(file, { force: true })
    await stack.stop()
    await database.dispose()
  })

  it('has an example that runs', async () => {
    const page = readFileSync(join(packageRoot, 'docs/grpc.md'), 'utf8')
    const example = /^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? ''
    writeFileSync(file, example.replace('127.0.0.1:50051', stack.dataAddress))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: packageRoot })
    expect(stdout).to.equal("66 [ { id: 1, status: 'delivered' }, { id: 26, status: 'delivered' } ]\nnot-found\n")
  })
})
