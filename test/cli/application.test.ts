import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect } from 'chai'
import { explainedLoadError } from '../../cli/application/load-error.js'
import { ApplicationFolder, runCommand } from '../harness/command.js'
import { isSoak } from '../harness/in-soak.js'
import { scrape } from '../harness/metrics.js'
import { freePort } from '../runner/free-port.js'
import { startProcess } from '../stack/service-process.js'

const CONFIG = `import { defineApplication } from 'uniform-rest'
import { createNotes } from './migrations.js'
import { notes } from './notes.js'

export default defineApplication({ entities: [notes], migrations: [createNotes], settings: { MAX_PAGE_SIZE: 7, LOG_LEVEL: 'warn' } })
`

const MIGRATIONS = `import { createTable, type Migration } from 'uniform-rest'

export const createNotes: Migration = {
  name: '001-notes',
  steps: [createTable('notes', (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('title', 100), t.rowVersion()] }))]
}
`

/** With types, so that Node needs a loader. */
const NOTES = (
  name: string,
  more = ''
): string => `import { defineEntity, everyone, type Field, int, readOnly, text } from 'uniform-rest'

const title: Field<'string'> = text(100)
export const notes = defineEntity({
  name: '${name}',
  description: 'Notes.',
  fields: { id: readOnly(int()), title },
  label: 'title',
  filterable: ['id', 'title'],
  sortable: [],
  access: { read: everyone },
  ${more}
})
`

const NO_DATABASE =
  'DATABASE_URL: there is no database yet; `uniform-rest migrate` runs migrations, and then check compares tables.\n'

describe('an application in a folder of its own', () => {
  let app: ApplicationFolder

  beforeEach(async () => {
    app = await ApplicationFolder.make({
      'uniform-rest.config.ts': CONFIG,
      'migrations.ts': MIGRATIONS,
      'notes.ts': NOTES('notes')
    })
  })
  afterEach(() => app[Symbol.asyncDispose]())

  it('is found in the working directory, and by --app', async () => {
    const said = { code: 0, stdout: `1 entity, no mistakes.\n${NO_DATABASE}`, stderr: '' }
    expect(await app.run(['check'])).to.deep.equal(said)
    const elsewhere = { env: { DATA_DIR: app.dataDir }, directory: tmpdir() }
    expect(await runCommand(['check', '--app', app.path], elsewhere)).to.deep.equal(said)
    expect(await runCommand([`--app=${app.path}`, 'check'], elsewhere)).to.deep.equal(said)
    const above = { ...elsewhere, directory: dirname(app.path) }
    expect(await runCommand(['check', '--app', basename(app.path)], above)).to.deep.equal(said)
  })

  it('has settings of the environment, then of .env, then of its own', async () => {
    const effective = async (env: Readonly<Record<string, string>>): Promise<string[]> => {
      const { stdout } = await app.run(['start', 'data-service', '--print-config'], env)
      return stdout.split('\n').filter((line) => /^(MAX_PAGE_SIZE|LOG_LEVEL|MAX_EXPORT_ROWS)=/.test(line))
    }
    expect(await effective({})).to.have.members(['MAX_PAGE_SIZE=7', 'LOG_LEVEL=warn', 'MAX_EXPORT_ROWS=100000'])
    await app.write({ '.env': '# a comment\nMAX_PAGE_SIZE=8\nMAX_EXPORT_ROWS="9"\nLOG_LEVEL=\n' })
    expect(await effective({})).to.have.members(['MAX_PAGE_SIZE=8', 'LOG_LEVEL=warn', 'MAX_EXPORT_ROWS=9'])
    expect(await effective({ MAX_PAGE_SIZE: '10', LOG_LEVEL: ' ' })).to.have.members([
      'MAX_PAGE_SIZE=10',
      'LOG_LEVEL=warn',
      'MAX_EXPORT_ROWS=9'
    ])
    const gateway = await app.run(['start', 'gateway', '--print-config'])
    expect(gateway.stdout).to.match(/^LOG_LEVEL=warn$/m)
  })

  it('is told every mistake of its entities and settings at once', async () => {
    const children =
      "{ lines: { table: 'lines', foreignKey: 'noteId', store: 'second', fields: { id: readOnly(int()) } } }"
    await app.write({ 'notes.ts': NOTES('Notes', `children: ${children}`) })
    const { code, stdout, stderr } = await app.run(['check'], { MAX_PAGE_SIZE: '0', GATEWAY_PORT: 'x' })
    expect([code, stdout]).to.deep.equal([1, ''])
    for (const part of [
      'Notes (notes.ts:4): the name must be kebab-case',
      'children `lines` are in the second store, and the application states no `secondStore`',
      'MAX_PAGE_SIZE must be',
      'GATEWAY_PORT must be'
    ]) {
      expect(stderr).to.include(part)
    }
  })

  it('is told the word of an entity file that is wrong or missing, and the file, by every command', async () => {
    const told = async (command: readonly string[]): Promise<readonly [number, readonly string[]]> => {
      const { code, stderr } = await app.run(command)
      return [code, stderr.split('\n').filter((line) => line.startsWith('- '))]
    }
    const wrong = NOTES('notes')
      .replace("label: 'title'", "label: 'titel'")
      .replace('access: { read: everyone }', "access: { read: { kind: 'permission', permission: 'notes:read' } }")
    await app.write({ 'notes.ts': wrong })
    const mistakes = [
      '- notes (notes.ts:8): `label`: `titel` is not a field. Did you mean "title"?',
      '- notes (notes.ts:11): permission `notes:read` is given to no role. ' +
        "Give it to one in `roles` of the config, such as { Admin: ['notes:read'] }."
    ]
    for (const command of [['check'], ['start', 'data-service']]) {
      expect(await told(command), command.join(' ')).to.deep.equal([1, mistakes])
    }
    await app.write({ 'notes.ts': NOTES('notes').replace("description: 'Notes.',", '') })
    expect(await told(['check'])).to.deep.equal([1, ['- notes (notes.ts:4): defineEntity takes `description` too.']])
  })

  it('is told the file, the line, the word and what would be right, for each common mistake', async () => {
    const base = NOTES(
      'notes',
      `references: { parent: { to: 'notes', via: 'parentId' } },
  writes: ['create'],
  actions: (action) => ({
    close: action({
      description: 'Closes.',
      when: { state: ['open'] },
      effect: { set: { state: 'closed' } }
    })
  })`
    )
      .replace(
        '{ id: readOnly(int()), title }',
        "{ id: readOnly(int()), title, parentId: optional(int()), state: readOnly(oneOf(['open', 'closed'])) }"
      )
      .replace(
        'access: { read: everyone }',
        "access: { read: everyone, write: permission('notes:write') }, creates: { prepare: () => ({ values: { state: 'open' } }) }"
      )
      .replace('import { ', 'import { oneOf, optional, permission, ')
    const config = CONFIG.replace('entities:', "roles: { Admin: ['notes:write'] }, entities:")
    const told = async (
      given: string | RegExp,
      wanted: string,
      more: Readonly<Record<string, string>> = {}
    ): Promise<string> => {
      const wrong = base.replace(given, wanted)
      expect(wrong, String(given)).to.not.equal(base)
      await app.write({ 'uniform-rest.config.ts': config, 'notes.ts': wrong, ...more })
      const { code, stdout, stderr } = await app.run(['check'])
      expect([code, stdout], stderr).to.deep.equal([1, ''])
      return stderr.replace(/^Cannot start: .*\n/, '').trimEnd()
    }
    expect(await told("filterable: ['id'", "filtrable: ['id'")).to.equal(
      '- notes (notes.ts:9): there is no `filtrable`. Did you mean "filterable"?'
    )
    expect(await told(' via:', ' viaa:')).to.equal(
      '- notes (notes.ts:12): reference `parent`: there is no `viaa`. Did you mean "via"?'
    )
    expect(await told(", via: 'parentId'", '')).to.equal(
      '- notes (notes.ts:12): reference `parent` takes `to`, a resource, and `via`, the field with its id.'
    )
    expect(await told("via: 'parentId'", "via: 'parentID2'")).to.equal(
      '- notes (notes.ts:12): reference `parent`: `parentID2` is not a field. Did you mean "parentId"?'
    )
    expect(await told("state: ['open']", "state: ['opened']")).to.equal(
      '- notes (notes.ts:17): action `close`: `state` is enum and never "opened". Did you mean "open"? It holds "open", "closed".'
    )
    expect(await told("set: { state: 'closed'", "set: { state: 'close'")).to.equal(
      '- notes (notes.ts:18): action `close`: effect: `state` is enum and never "close". Did you mean "closed"? It holds "open", "closed".'
    )
    expect(await told("set: { state: 'closed'", "set: { stat: 'closed'")).to.equal(
      '- notes (notes.ts:18): action `close`: `stat` is not a field. Did you mean "state"?'
    )
    expect(await told('optional, ', '')).to.equal(
      'notes.ts:7: `optional` is not defined. Add it to what the file imports from uniform-rest.'
    )
    expect(await told('optional(int())', 'optoinal(int())')).to.equal(
      'notes.ts:7: `optoinal` is not defined. Did you mean "optional"? Import or declare it.'
    )
    expect(await told(/readOnly/g, 'readonly')).to.equal(
      'notes.ts:1: \'uniform-rest\' exports no value `readonly`. Did you mean "readOnly"?'
    )
    expect(await told('export const notes', 'export const note')).to.equal(
      'uniform-rest.config.ts:3: \'./notes.js\' exports no value `notes`. Did you mean "note"?'
    )
    expect(await told("label: 'title',", "label: 'title'")).to.equal(
      'notes.ts:9: Expected "}" but found "filterable". A comma or a bracket may be missing there, or in the line before.'
    )
    expect(await told("oneOf(['open', 'closed'])", "oneOf('open', 'closed')")).to.equal(
      "notes.ts:7: oneOf(…) takes a list of texts, such as oneOf(['open', 'closed'])."
    )
    const two = {
      'uniform-rest.config.ts': config
        .replace('[notes]', '[notes, more]')
        .replace('import', "import { more } from './more.js'\nimport"),
      'more.ts': NOTES('notes').replace('const notes', 'const more')
    }
    expect(await told('Closes.', 'Closes it.', two)).to.equal(
      '- notes (more.ts:4, notes.ts:4): there are two resources of this name, for one path. Give one of them another `name`.'
    )
  })

  it('is told what a file exports that is found as its folder, and shown an error that cannot be explained', async () => {
    await app.write({
      'uniform-rest.config.ts': CONFIG.replace('./notes.js', './entities'),
      'entities/index.ts': NOTES('notes').replace('const notes', 'const note')
    })
    expect((await app.run(['check'])).stderr).to.equal(
      'uniform-rest.config.ts:3: \'./entities\' exports no value `notes`. Did you mean "note"?\n'
    )
    const error = Object.assign(new Error('a defect'), {
      stack: 'Error: a defect\n    at a (file:///%E0%A4%A/a.ts:1:1)'
    })
    expect(await explainedLoadError(error, app.path)).to.equal(error)
  })

  it('is missed where there is none, and rejected without what defineApplication makes', async () => {
    await app.remove('uniform-rest.config.ts')
    const missing = await app.run(['check'])
    expect([missing.code, missing.stderr]).to.deep.equal([
      1,
      `There is no uniform-rest.config.ts in ${app.path}. Run this in the folder of an application, name the folder with ` +
        '--app, or make one with `uniform-rest init <folder>`.\n'
    ])
    await app.write({ 'uniform-rest.config.ts': 'export const application = {}\n' })
    const without = await app.run(['check'])
    expect(without.code).to.equal(1)
    expect(without.stderr).to.include('must have a default export')
    await app.write({
      'uniform-rest.config.ts':
        "import { defineApplication } from 'uniform-rest'\nexport default defineApplication({ entities: [] })\n"
    })
    expect((await app.run(['check'])).stdout, 'without migrations').to.match(/^0 entities, no mistakes/)
  })

  it('is told which file imports what is not there, and what package.json must say', async () => {
    await app.remove('notes.ts')
    const { code, stderr } = await app.run(['introspect'])
    expect([code, stderr]).to.deep.equal([
      1,
      `${join(app.path, 'uniform-rest.config.ts')} imports notes.js, and there is no such file. Put it back, or take out of uniform-rest.config.ts what names it.\n`
    ])
    await app.write({ 'package.json': '{ "type": "commonjs" }' })
    expect((await app.run(['check'])).stderr).to.equal(
      `The package.json of ${app.path} must say "type": "module": the files of an application are modules.\n`
    )
    await app.write({ 'package.json': '{ "type": "module" }', 'notes.ts': "import 'nowhere'\n" })
    expect((await app.run(['check'])).stderr).to.equal(
      `${join(app.path, 'notes.ts')} imports the package nowhere, which is not installed. Run \`npm install\` in ${app.path}.\n`
    )
  })

  it('has commands that say what there is', async () => {
    const help = await app.run(['--help'])
    expect([help.code, help.stdout.split('\n')[0]]).to.deep.equal([0, 'Usage: uniform-rest <command> [--app <folder>]'])
    const unknown = await app.run(['constructor'])
    expect([unknown.code, unknown.stderr.split('\n')[0]]).to.deep.equal([1, 'There is no command "constructor".'])
    const role = await app.run(['start', 'everything'])
    expect([role.code, role.stderr]).to.deep.equal([
      1,
      'There is nothing to start that is called "everything": gateway or data-service.\n'
    ])
    expect((await app.run(['start', '--print-config'])).stderr).to.include('uniform-rest start gateway --print-config')
    expect((await app.run(['sample'])).stderr).to.include('has no `sample`')
  })

  it('is told which of its resources need OWNER_BYPASS_ROLE', async () => {
    const owned = NOTES('notes').replace('read: everyone', "read: ownRows('id')").replace('everyone,', 'ownRows,')
    await app.write({ 'notes.ts': owned })
    const missing = await app.run(['check'])
    expect([missing.code, missing.stderr]).to.deep.equal([0, ''])
    expect(missing.stdout).to.match(/^OWNER_BYPASS_ROLE is not set, and without it requests for notes are answered 500/)
    expect((await app.run(['check'], { OWNER_BYPASS_ROLE: 'Admin' })).stdout).to.equal(
      `1 entity, no mistakes.\n${NO_DATABASE}`
    )
  })

  it('is told that both processes cannot have metrics at one port', async () => {
    const { code, stderr } = await app.run(['start'], { ADMIN_PORT: '9464', DATA_SERVICE_ADMIN_PORT: '9464' })
    expect([code, stderr]).to.deep.equal([
      1,
      'ADMIN_PORT and DATA_SERVICE_ADMIN_PORT must be two ports, not 9464 for both.\n'
    ])
  })

  // In `npm test` test/package/linked.test.ts does both with one start of an application that `init` has made.
  if (isSoak) {
    it('has metrics of both processes under one command, each at a port of its own', async () => {
      const [http, grpc, admin, dataAdmin] = [await freePort(), await freePort(), await freePort(), await freePort()]
      const env = {
        DATA_DIR: app.dataDir,
        GATEWAY_HOST: '[::1]',
        GATEWAY_PORT: String(http),
        DATA_SERVICE_ADDRESS: `127.0.0.1:${grpc}`,
        ADMIN_PORT: String(admin),
        DATA_SERVICE_ADMIN_PORT: String(dataAdmin),
        MIGRATE_AT_START: 'true',
        LOG_LEVEL: 'info'
      }
      const serving = startProcess(['start', '--app', app.path], env)
      try {
        await serving.logged(({ msg, name }) => msg === 'listening' && name === 'gateway')
        expect((await fetch(`http://[::1]:${http}/notes`)).status).to.equal(200)
        const namesAt = async (port: number): Promise<string[]> => [
          ...(await scrape(`http://127.0.0.1:${port}`)).keys()
        ]
        expect((await namesAt(admin)).some((one) => one.startsWith('http_requests_total'))).to.equal(true)
        expect((await namesAt(dataAdmin)).some((one) => one.startsWith('grpc_server_handled_total'))).to.equal(true)
      } finally {
        expect(await serving.stop()).to.equal(0)
      }
    })

    it('serves again after a change of a file, and waits for the next change after a mistake', async () => {
      const folder = app.path
      const [http, grpc] = [await freePort(), await freePort()]
      const serving = startProcess(['dev', '--app', folder], {
        DATA_DIR: app.dataDir,
        GATEWAY_PORT: String(http),
        DATA_SERVICE_ADDRESS: `127.0.0.1:${grpc}`,
        LOG_LEVEL: 'info'
      })
      const says = (text: string) => serving.logged((entry) => String(entry['text']).includes(text))
      try {
        await says('Ctrl-C ends everything.')
        // Of a process that serves, by an editor that writes into the file.
        await writeFile(join(folder, 'notes.ts'), NOTES('Mistaken'))
        await says('- Mistaken (notes.ts:4): the name must be kebab-case')
        await says(
          'The data-service ended with code 1: see its log above. It starts again after the next change of a file.'
        )
        // A migration is read first, and run by command.
        await writeFile(
          join(folder, 'uniform-rest.config.ts'),
          CONFIG.replace('[createNotes]', "[createNotes, { name: '002-nothing', steps: [] }]")
        )
        // As editors do that replace a file.
        await writeFile(join(folder, 'notes.ts.new'), NOTES('notes', "searchable: ['title']"))
        await rename(join(folder, 'notes.ts.new'), join(folder, 'notes.ts'))
        await says('waiting for migrations')
        expect((await runCommand(['migrate'], { directory: folder, env: { DATA_DIR: app.dataDir } })).code).to.equal(0)
        await says('catalogue changed')
        const answer = await fetch(`http://127.0.0.1:${http}/notes/paged?search=x`)
        expect([answer.status, answer.headers.get('x-ignored-parameters')]).to.deep.equal([200, null])
        // Whoever changes an application sees a mistyped parameter at once.
        expect((await fetch(`http://127.0.0.1:${http}/notes/paged?serch=x`)).status).to.equal(400)
      } finally {
        expect(await serving.stop()).to.equal(0)
      }
    })
  }
})
