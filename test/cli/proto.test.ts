import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Failure } from '../../cli/application/command.js'
import { proto } from '../../cli/proto.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'

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

/** Texts of files that are no lock, by the folder of their application. */
const LOCKS: Readonly<Record<string, string>> = { members: '{ "rows": {} }', merge: '<<<<<<< HEAD' }

/** docs/grpc.md, "Typed services" */
describe('uniform-rest proto', function () {
  this.timeout(60_000)
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proto-'))
    await mkdir(join(folder, 'node_modules'))
    await symlink(packageRoot, join(folder, 'node_modules/uniform-rest'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = (text: string): Promise<void> => writeFile(join(folder, 'uniform-rest.config.ts'), text)
  const run = (...args: readonly string[]): Promise<readonly [code: number, stdout: string, stderr: string]> =>
    new Promise((resolve) => {
      const command = [join(outputRoot, 'cli/main.js'), 'proto', ...args]
      execFile(
        process.execPath,
        command,
        { cwd: folder, env: { PATH: process.env['PATH'] } },
        (error, stdout, stderr) => resolve([typeof error?.code === 'number' ? error.code : 0, stdout, stderr])
      )
    })
  const linesOf = async (message: string): Promise<string[]> => {
    const text = await readFile(join(folder, 'grpc/notes/v1/notes.proto'), 'utf8')
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
    expect(await readdir(folder)).to.not.include('grpc')
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
    const rejected = async (name: string, text: string, args: readonly string[] = []): Promise<string> => {
      // A folder for each, since a module is loaded once.
      const of = join(folder, name)
      await mkdir(join(of, 'grpc'), { recursive: true })
      await writeFile(join(of, 'uniform-rest.config.mjs'), text)
      if (LOCKS[name] !== undefined) await writeFile(join(of, 'grpc/proto.lock.json'), LOCKS[name])
      const error: unknown = await proto({ args, folder: of, environment: {} }).catch((thrown: unknown) => thrown)
      expect(error).to.be.an.instanceOf(Failure)
      expect(await readdir(join(of, 'grpc'))).to.deep.equal(LOCKS[name] === undefined ? [] : ['proto.lock.json'])
      return error instanceof Error ? error.message : ''
    }
    expect(await rejected('none', config(''))).to.equal(
      "The application has no typed services. State them: typedServices: { package: 'shop.v1' }."
    )
    expect(await rejected('name', config("typedServices: { package: 'Notes' }"))).to.equal(
      'The package of typedServices must be names in lower case with dots between, the last a version, such as shop.v1, ' +
        'not "Notes".'
    )
    expect(await rejected('flag', config(STATED), ['--chek'])).to.equal(
      'uniform-rest proto takes --check or nothing, not "--chek".'
    )
    for (const name of Object.keys(LOCKS)) {
      expect(await rejected(name, config(STATED), ['--check'])).to.equal(
        `${join(folder, name, 'grpc/proto.lock.json')} is not a lock of this command. ` +
          'Take it from the version control again.'
      )
    }
  })
})
