import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ApplicationFolder } from '../harness/command.js'

/** An application with one entity and one operation. */
function config(typedServices: string, fields = 'title: text(100)'): string {
  return `import { defineApplication, defineEntity, defineOperation, everyone, int, list, readOnly, text } from 'uniform-rest'
${typedServices.includes('lock') ? "import lock from './grpc/proto.lock.json' with { type: 'json' }" : ''}

const notes = defineEntity({
  name: 'notes',
  description: 'Notes.',
  fields: { id: readOnly(int()), ${fields} },
  label: 'id',
  filterable: ['id'],
  sortable: [],
  access: { read: everyone }
})
const titles = defineOperation({
  name: 'all-titles',
  route: 'GET /reports/titles',
  description: 'Every title.',
  access: everyone,
  answer: list(text(100)),
  handle: () => []
})

export default defineApplication({ entities: [notes], operations: [titles], ${typedServices} })
`
}

const STATED = "typedServices: { package: 'notes.v1' }"
const LOCKED = "typedServices: { package: 'notes.v1', lock }"
const HINT =
  "Import ./grpc/proto.lock.json with { type: 'json' } as lock where the application is defined, and state\n" +
  "typedServices: { package: 'notes.v1', lock }, so that the service serves these numbers.\n"

/** Texts of files that are no lock. */
const NO_LOCKS: readonly string[] = ['{ "rows": {} }', '<<<<<<< HEAD']

/** docs/grpc.md, "Typed services" */
describe('uniform-rest proto', () => {
  let app: ApplicationFolder
  beforeEach(async () => {
    app = await ApplicationFolder.make({})
  })
  afterEach(() => app[Symbol.asyncDispose]())

  const write = (text: string): Promise<void> => app.write({ 'uniform-rest.config.ts': text })
  const run = async (...args: readonly string[]): Promise<readonly [code: number, stdout: string, stderr: string]> => {
    const { code, stdout, stderr } = await app.run(['proto', ...args])
    return [code, stdout, stderr]
  }
  const linesOf = async (message: string): Promise<string[]> => {
    const text = await app.read('grpc/notes/v1/notes.proto')
    const body = new RegExp(`^(?:message|service) ${message} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)?.[1] ?? ''
    return body
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('//'))
  }

  it('writes the proto and the lock, whose numbers last from one version of the entities to the next', async () => {
    await write(config(STATED))
    const files = 'grpc/notes/v1/notes.proto, grpc/proto.lock.json'
    const missing = `Not those of the entities: ${files}. Run \`uniform-rest proto\`.\n`
    expect(await run('--check')).to.deep.equal([1, missing, ''])
    expect(await readdir(app.path)).to.not.include('grpc')
    expect(await run()).to.deep.equal([0, `Written: ${files}.\n${HINT}`, ''])
    const VERSION = 'optional bytes row_version = 3;'
    expect(await linesOf('Note')).to.deep.equal(['optional int32 id = 1;', 'optional string title = 2;', VERSION])
    expect(await linesOf('OperationService')).to.deep.equal([
      'rpc AllTitles(AllTitlesRequest) returns (AllTitlesResponse);'
    ])
    expect(await linesOf('AllTitlesResponse')).to.deep.equal(['repeated string items = 1;'])

    await write(config(LOCKED, 'text: text(100)'))
    expect(await run('--check')).to.deep.equal([1, missing, ''])
    expect(await linesOf('Note')).to.include('optional string title = 2;')
    expect(await run()).to.deep.equal([0, `Written: ${files}.\n`, ''])
    expect(await linesOf('Note')).to.deep.equal([
      'reserved 2;',
      'reserved "title";',
      'optional int32 id = 1;',
      'optional string text = 4;',
      VERSION
    ])
    expect(await run('--check')).to.deep.equal([0, 'The proto is that of the entities.\n', ''])
  })

  it('says what keeps it from writing', async () => {
    const rejected = async (text: string, args: readonly string[] = []): Promise<string> => {
      await write(text)
      const before = await readdir(app.path)
      const [code, stdout, stderr] = await run(...args)
      expect([code, stdout]).to.deep.equal([1, ''])
      expect(await readdir(app.path)).to.deep.equal(before)
      return stderr
    }
    expect(await rejected(config(''))).to.equal(
      "The application has no typed services. State them: typedServices: { package: 'shop.v1' }.\n"
    )
    expect(await rejected(config("typedServices: { package: 'Notes' }"))).to.equal(
      'The package of typedServices must be names in lower case with dots between, the last a version, such as shop.v1, ' +
        'not "Notes".\n'
    )
    expect(await rejected(config(STATED), ['--chek'])).to.equal(
      'uniform-rest proto takes --check or nothing, not "--chek".\n'
    )
    for (const lock of NO_LOCKS) {
      await app.write({ 'grpc/proto.lock.json': lock })
      const told = await rejected(config(STATED), ['--check'])
      const file = join(app.path, 'grpc/proto.lock.json')
      expect(told).to.equal(`${file} is not a lock of this command. Take it from the version control again.\n`)
      expect(await readdir(join(app.path, 'grpc'))).to.deep.equal(['proto.lock.json'])
    }
  })
})
