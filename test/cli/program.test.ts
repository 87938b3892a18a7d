import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { ApplicationFolder, spawnCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'

const CONFIG = `import { defineApplication, defineEntity, everyone, int, readOnly } from 'uniform-rest'
const notes = defineEntity({
  name: 'notes', description: 'Notes.', fields: { id: readOnly(int()) }, label: 'id', filterable: ['id'], sortable: ['id'],
  access: { read: everyone }
})
const migrations = [{ name: '001-notes', steps: [] }]
export default defineApplication({ entities: [notes], migrations })
`

/** Other tests run commands in their own process. These hold what cli/main.ts adds in a process of the command. */
describe('the program uniform-rest, as a process', () => {
  let app: ApplicationFolder
  before(async () => {
    app = await ApplicationFolder.make({ 'uniform-rest.config.mjs': CONFIG })
  })
  after(() => app[Symbol.asyncDispose]())

  it('ends with 0 and an empty standard error after a command that has done its task', async () => {
    const { code, stdout, stderr } = await spawnCommand(['--version'])
    expect([code, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/^uniform-rest \d/)
  })

  it('ends with the exit code of a command that has found something, which is no error', async () => {
    const { code, stdout, stderr } = await app.spawn(['migrate', 'status'])
    expect([code, stderr]).to.deep.equal([1, ''])
    expect(stdout).to.include('pending  001-notes')
  })

  it('ends with 1 and says on standard error which word of the command line is wrong', async () => {
    const said = await spawnCommand(['check', '--all'])
    expect([said.code, said.stdout]).to.deep.equal([1, ''])
    expect(said.stderr)
      .to.include('--all')
      .and.not.match(/\n {4}at /)
  })

  it('ends with 1 and says on standard error why a server cannot start', async () => {
    const { code, stdout, stderr } = await spawnCommand(['start', 'gateway'], { env: { GATEWAY_PORT: 'x' } })
    expect([code, stdout]).to.deep.equal([1, ''])
    expect(stderr)
      .to.match(/^Cannot start: /)
      .and.include('GATEWAY_PORT')
  })

  it('ends with 1 and shows the stack of an error that is a defect', async () => {
    await app.write({ 'uniform-rest.config.mjs': "throw new TypeError('a defect')" })
    const { code, stdout, stderr } = await app.spawn(['check'])
    expect([code, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.match(/^TypeError: a defect\n {4}at .*\buniform-rest\.config\.mjs:1:\d+/)
  })

  it('ends with 0 where the reader of its output has gone, as `head` does', async () => {
    const child = spawn(process.execPath, [join(outputRoot, 'cli/main.js'), '--help'], { env: {} })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>])
    expect([code, stderr]).to.deep.equal([0, ''])
  })
})
