import { expect } from 'chai'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { isSoak } from '../harness/in-soak.js'
import { packageRoot } from '../harness/package-root.js'
import { scrape } from '../harness/metrics.js'
import { freePort } from '../runner/free-port.js'
import { EmptyFolder, packInto, signalGroup } from './empty-folder.js'

/** `uniform-rest/testing` needs the chai of the project. */
const ENTRY_POINTS = ['uniform-rest', 'uniform-rest/session-cookie']
const TYPED = [...ENTRY_POINTS, 'uniform-rest/testing']
const PROJECTS = 'entities/projects.ts'
/** What `npx uniform-rest` runs, without the time that npx takes. */
const COMMAND = './node_modules/.bin/uniform-rest'

/**
 * Pages about the repository, which link to its sources and to the figures of its benchmark. npm packs the README whatever
 * `files` says.
 */
const ABOUT_THE_REPOSITORY = [
  'README.md',
  'docs/tour.md',
  'docs/store-rules.md',
  'docs/performance.md',
  'docs/scaling.md'
]

/** The second entity of the application, by the steps of its README. */
const PROJECT_ENTITY = `import { defineEntity, everyone, int, optional, permission, readOnly, text, unique } from 'uniform-rest'

export const projects = defineEntity({
  name: 'projects',
  description: 'What tasks belong to.',
  fields: { id: readOnly(int()), code: unique(text(20)), title: text(200), note: optional(text(500)) },
  label: 'title',
  filterable: ['id', 'code', 'title'],
  sortable: ['id', 'code', 'title'],
  access: { read: everyone, write: permission('tasks:manage') },
  writes: ['create', 'update', 'delete']
})
`

const PASSWORD = 'correct horse battery staple'

/** The files of the packed packages: that of the service, and that of the pages. */
export interface PackedFiles {
  readonly service: string
  readonly pages: string
}

/** How the packed packages come into an empty folder, and with their dependencies into the new application of `my-app`. */
export interface Installer {
  /** As the title of the tests says it. */
  readonly how: string
  package(folder: EmptyFolder, files: PackedFiles): Promise<void>
  application(folder: EmptyFolder, files: PackedFiles): Promise<void>
  /** Whether the new application runs its own tests, which are long, and whose files those of examples/one-entity are. */
  readonly runsItsTests: boolean
}

/** Declares the tests of what somebody does who has the package: they make an application, extend it, and run it. */
export function describePackage({ how, runsItsTests, ...installer }: Installer): void {
  describe(`the package, packed and ${how} an empty folder`, () => {
    let folder: EmptyFolder
    let packed: Awaited<ReturnType<typeof packInto>>
    let packedPages: Awaited<ReturnType<typeof packInto>>
    let files: PackedFiles
    const inApp = (path: string): string => join(folder.path, 'my-app', path)

    before(async () => {
      folder = await EmptyFolder.make()
      packed = await packInto(folder)
      packedPages = await packInto(folder, join(packageRoot, 'clients/pages'))
      files = { service: packed.file, pages: packedPages.file }
      await installer.package(folder, files)
    })
    after(async () => folder[Symbol.asyncDispose]())

    it('holds the build and what it reads, and nothing else', () => {
      const paths = packed.files.map(({ path }) => path)
      const folders = new Set(
        paths.map((path) =>
          path
            .split('/')
            .slice(0, path.startsWith('dist/') ? 2 : 1)
            .join('/')
        )
      )
      expect([...folders].toSorted()).to.deep.equal([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'cli',
        'dist/cli',
        'dist/data-service',
        'dist/gateway',
        'dist/schema',
        'dist/shared',
        'dist/test',
        'docs',
        'package.json',
        'proto'
      ])
      expect(paths.filter((path) => path.startsWith('cli/') && !path.startsWith('cli/template/'))).to.deep.equal([])
      const foreign = (path: string): boolean =>
        path.endsWith('.map') || (path.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(path))
      expect(paths.filter(foreign)).to.deep.equal([])
      // Of the tests what `uniform-rest/testing` is made of.
      expect(paths.filter((path) => /\.test\.|\/test\/(?!every-entity|oracle|public|stack)/.test(path))).to.deep.equal([
        'cli/template/bare/test/every-entity.test.ts',
        'cli/template/test/every-entity.test.ts',
        'cli/template/test/tasks.test.ts'
      ])
      // test/package/release.test.ts has the bound of what is published.
      expect(packed.size, 'bytes of the file').to.be.lessThan(1_900_000)
    })

    it('leaves the scripts of the pages to a package of their own, which holds their licenses too', () => {
      const paths = packedPages.files.map(({ path }) => path.replace(/main-[A-Z0-9]+/, 'main-<digest>'))
      expect(paths).to.have.members([
        'LICENSE',
        'README.md',
        'dist/admin/licenses.txt',
        'dist/admin/main-<digest>.js.br',
        'dist/try-out/LICENSE',
        'dist/try-out/NOTICE',
        'dist/try-out/swagger-ui-bundle.js.LICENSE.txt',
        'dist/try-out/swagger-ui-bundle.js.br',
        'dist/try-out/swagger-ui.css.br',
        'package.json'
      ])
      expect(packedPages.size, 'bytes of the file').to.be.lessThan(850_000)
    })

    it('holds documentation whose links lead to what it holds', () => {
      const root = join(folder.path, 'node_modules/uniform-rest')
      const pages = packed.files
        .map(({ path }) => path)
        .filter((path) => path.endsWith('.md') && !path.startsWith('cli/') && !ABOUT_THE_REPOSITORY.includes(path))
      expect(pages).to.include.members(['docs/README.md', 'docs/http.md', 'docs/decisions/005-row-versions.md'])
      expect(brokenLinks(root, pages)).to.deep.equal([])
    })

    it('says what it can do', async () => {
      const { stdout } = await folder.run('npx', ['uniform-rest', '--help'])
      expect(stdout).to.match(/^Usage: uniform-rest <command>/)
      const { version } = JSON.parse(
        readFileSync(join(folder.path, 'node_modules/uniform-rest/package.json'), 'utf8')
      ) as {
        readonly version: string
      } // ours
      expect((await folder.run(COMMAND, ['--version'])).stdout).to.match(
        new RegExp(`^uniform-rest ${version.replaceAll('.', String.raw`\.`)}\ncontract 1\\.`)
      )
      const { code, stderr } = await folder.end(folder.start(COMMAND, ['strat']))
      expect(code).to.equal(1)
      expect(stderr).to.match(/^There is no command "strat"\. Did you mean "start"\?\n/)
    })

    it('opens its entry points alone', async () => {
      const inner = [
        'dist/cli/main.js',
        'dist/data-service/data-service.js',
        'package.json',
        'proto/entity/v1/entity_service.proto'
      ].map((path) => `uniform-rest/${path}`)
      const script = `for (const name of ${JSON.stringify([...ENTRY_POINTS, ...inner])})
        console.log(name, await import(name).then(() => 'opens', (error) => error.code))`
      const { stdout } = await folder.run('node', ['--input-type=module', '--eval', script])
      expect(stdout.trim().split('\n')).to.deep.equal([
        ...ENTRY_POINTS.map((name) => `${name} opens`),
        ...inner.map((name) => `${name} ERR_PACKAGE_PATH_NOT_EXPORTED`)
      ])
    })

    it('makes an application', async () => {
      await folder.run(COMMAND, ['init', 'my-app'])
      expect(readdirSync(inApp('.'))).to.include.members(['.env.example', '.github', '.gitignore', 'README.md'])
      const { dependencies } = JSON.parse(readFileSync(inApp('package.json'), 'utf8')) as { dependencies: object } // ours
      expect(dependencies).to.have.all.keys('@uniform-rest/pages', 'uniform-rest')
      await installer.application(folder, files)
      expect(brokenLinks(inApp('.'), ['README.md'])).to.deep.equal([])
    })

    it('takes a second entity, written by the steps of its README', async () => {
      writeFileSync(inApp(PROJECTS), PROJECT_ENTITY)
      const config = readFileSync(inApp('uniform-rest.config.ts'), 'utf8')
        .replace(/^import \{ tasks \}.*$/m, "import { projects } from './entities/projects.js'\n$&")
        .replace('entities: [tasks]', 'entities: [tasks, projects]')
      writeFileSync(inApp('uniform-rest.config.ts'), config)
      await folder.run(COMMAND, ['migrate', 'create', 'projects'], { in: 'my-app' })
      expect(readdirSync(inApp('migrations'))).to.deep.equal(['001-tasks.ts', '002-projects.ts'])
      if (isSoak) await folder.run('npm', ['run', 'check'], { in: 'my-app' })
      // What the compiler finds fails the check, and hides nothing of what comes after it.
      writeFileSync(inApp(PROJECTS), `${PROJECT_ENTITY}\nexport const wrong: string = 1\n`)
      const mistaken = await folder.end(folder.start('npm', ['run', 'check'], { in: 'my-app' }))
      writeFileSync(inApp(PROJECTS), PROJECT_ENTITY)
      expect(mistaken.code).to.equal(1)
      expect(mistaken.stdout).to.include("Type 'number' is not assignable to type 'string'")
      expect(mistaken.stdout).to.include('2 entities, no mistakes.')
    })

    // The compiler takes twice as long for it. In `npm test` the check of the new application reads the same types.
    if (isSoak)
      it('has types that resolve under a strict compiler that checks libraries too', async () => {
        const names = TYPED.map((name, index) => `import * as entry${index} from '${name}'\n`).join('')
        const uses = TYPED.map((_, index) => `void entry${index}\n`).join('')
        writeFileSync(inApp('entry-points.ts'), names + uses)
        const options = readFileSync(inApp('tsconfig.json'), 'utf8')
        const strictest = '"skipLibCheck": false, "exactOptionalPropertyTypes": true'
        expect(options).to.include('"skipLibCheck": true')
        writeFileSync(inApp('tsconfig.json'), options.replace('"skipLibCheck": true', strictest))
        const { stdout } = await folder.end(folder.start('npx', ['tsc'], { in: 'my-app' }))
        writeFileSync(inApp('tsconfig.json'), options)
        expect(stdout.split('\n').filter((line) => line.startsWith('node_modules/uniform-rest/'))).to.deep.equal([])
        expect(stdout).to.not.include('entry-points.ts')
      })

    if (runsItsTests) {
      it('passes its own tests', async () => {
        const { stdout } = await folder.run('npm', ['test'], { in: 'my-app' })
        expect(stdout).to.match(/tasks on sqlite\s+✔ are completed once/)
        expect(stdout).to.match(/every entity on sqlite[\s\S]*\btasks\n[\s\S]*\bprojects\n/)
        expect(stdout).to.match(/\d+ passing/)
      })
    }

    describe('with npm start', () => {
      let running: ChildProcess
      let base: string
      let admin: readonly string[]
      let log = ''

      const send = (path: string, how: { token?: string; method?: string; etag?: string; body: object }) =>
        fetch(`${base}${path}`, {
          method: how.method ?? 'POST',
          headers: {
            'content-type': 'application/json',
            ...(how.token === undefined ? {} : { authorization: `Bearer ${how.token}` }),
            ...(how.etag === undefined ? {} : { 'if-match': how.etag })
          },
          body: JSON.stringify(how.body)
        })

      before(async () => {
        base = `http://[::1]:${await freePort()}`
        const env = {
          GATEWAY_HOST: '[::1]',
          GATEWAY_PORT: new URL(base).port,
          DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`,
          ADMIN_PORT: String(await freePort()),
          DATA_SERVICE_ADMIN_PORT: String(await freePort())
        }
        admin = [env.ADMIN_PORT, env.DATA_SERVICE_ADMIN_PORT].map((port) => `http://127.0.0.1:${port}`)
        running = folder.start('npm', ['start'], { in: 'my-app', env, ownGroup: true })
        running.stdin?.end()
        await new Promise<void>((resolve, reject) => {
          for (const stream of [running.stdout, running.stderr]) {
            stream?.on('data', (chunk: Buffer) => {
              log += chunk.toString('utf8')
              if (log.includes('Ctrl-C ends everything.')) resolve()
            })
          }
          running.once('close', () => reject(new Error(`npm start ended:\n${log}`)))
        })
      })
      after(() => {
        if (running.exitCode === null && running.signalCode === null) signalGroup(running, 'SIGTERM')
      })

      it('serves its own entities, and nothing of the store', async () => {
        const answer = await fetch(`${base}/projects`)
        expect([answer.status, await answer.json()]).to.deep.equal([200, []])
        expect((await fetch(`${base}/tasks`)).status, 'the first entity is not public').to.equal(401)
        expect((await fetch(`${base}/projects?colour=red`)).status, 'handling is strict').to.equal(400)
        const document = (await (await fetch(`${base}/openapi.json`)).json()) as { readonly paths: object }
        const first = new Set(Object.keys(document.paths).map((path) => path.split('/')[1] ?? ''))
        expect([...first].sort()).to.deep.equal([
          '.well-known',
          'admin',
          'auth',
          'docs',
          'health',
          'openapi.json',
          'problems',
          'projects',
          'tasks'
        ])
        expect((await fetch(`${base}/products`)).status).to.equal(404)
        // No shop: a page is answered by nobody.
        expect((await fetch(base, { headers: { accept: 'text/html' } })).status).to.equal(404)
        expect(log).to.not.match(/renderer|second store|sample/i)
      })

      it('serves the admin and the page to try requests out', async () => {
        expect(log).to.include(`Admin  ${base}/admin`)
        for (const path of ['/admin/', '/docs/try']) {
          const page = await fetch(base + path)
          const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? []
          const loaded = await fetch(new URL(script, base + path))
          expect([page.status, loaded.status, (await loaded.text()).length > 100_000], path).to.deep.equal([
            200,
            200,
            true
          ])
        }
        expect(await (await fetch(`${base}/docs`)).text()).to.include('/docs/try')
      })

      it('takes writes of an account that was made by command', async () => {
        const add = ['account', 'add', 'ada@example.com', '--name', 'Ada', '--role', 'Editor']
        const added = await folder.end(folder.start(COMMAND, add, { in: 'my-app' }), `${PASSWORD}\n`)
        expect(added.code, added.stderr).to.equal(0)
        const login = await send('/auth/login', { body: { email: 'ada@example.com', password: PASSWORD } })
        expect(login.status).to.equal(200)
        const { accessToken: token } = (await login.json()) as { readonly accessToken: string }

        expect((await send('/projects', { body: { code: 'A', title: 'House' } })).status).to.equal(401)
        const created = await send('/projects', { token, body: { code: 'A', title: 'House' } })
        expect(created.status).to.equal(201)
        const etag = created.headers.get('etag') ?? ''
        const change = { token, method: 'PUT', etag, body: { code: 'A', title: 'Boat', note: 'with a sail' } }
        const updated = await send('/projects/1', change)
        expect([updated.status, await updated.json()]).to.deep.equal([
          200,
          { id: 1, code: 'A', title: 'Boat', note: 'with a sail', rowVersion: versionOf(updated) }
        ])
        expect((await send('/projects/1', change)).status).to.equal(412)

        const task = await send('/tasks', { token, body: { title: 'Paint it' } })
        expect(task.status).to.equal(201)
        const done = { token, method: 'PUT', etag: task.headers.get('etag') ?? '', body: {} }
        expect(await (await send('/tasks/1/complete', done)).json()).to.deep.include({
          title: 'Paint it',
          isDone: true
        })
      })

      it('keeps one database, with its own tables and those of the engine', () => {
        const databases = readdirSync(inApp('.data')).filter((name) => name.endsWith('.sqlite'))
        expect(databases).to.have.length(1)
        const database = new DatabaseSync(inApp(`.data/${databases[0]}`), { readOnly: true })
        try {
          const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
          const names = tables.map((row) => String((row as { readonly name: unknown }).name))
          expect(names).to.include.members(['tasks', 'projects', 'ur_accounts'])
          expect(names.filter((name) => /product|order|customer|review|categor/.test(name))).to.deep.equal([])
          expect(database.prepare('SELECT count(*) AS n FROM ur_accounts').get()).to.deep.include({ n: 1 })
        } finally {
          database.close()
        }
      })

      it('has metrics of both processes under one command, each at a port of its own', async () => {
        const [gateway, dataService] = await Promise.all(admin.map(async (one) => [...(await scrape(one)).keys()]))
        expect(gateway?.some((one) => one.startsWith('http_requests_total'))).to.equal(true)
        expect(dataService?.some((one) => one.startsWith('grpc_server_handled_total'))).to.equal(true)
      })

      it('serves again after a change of a file, and waits for the next change after a mistake', async () => {
        const says = async (text: string): Promise<void> => {
          while (!log.includes(text)) {
            if (running.exitCode !== null) throw new Error(`npm start ended:\n${log}`)
            await pause(20)
          }
        }
        // Of a process that serves, by an editor that writes into the file.
        writeFileSync(inApp(PROJECTS), PROJECT_ENTITY.replace("'projects'", "'Mistaken'"))
        await says('- Mistaken (entities/projects.ts:3): the name must be kebab-case')
        await says(
          'The data-service ended with code 1: see its log above. It starts again after the next change of a file.'
        )
        log = ''
        // A migration is read first, and run by command. Each is a start more.
        if (isSoak)
          writeFileSync(inApp('migrations/003-nothing.ts'), "export default { name: '003-nothing', steps: [] }\n")
        // As editors do that replace a file.
        writeFileSync(inApp('projects.new'), PROJECT_ENTITY.replace('label:', "searchable: ['title'],\n  label:"))
        renameSync(inApp('projects.new'), inApp(PROJECTS))
        if (isSoak) {
          await says('waiting for migrations')
          await folder.run(COMMAND, ['migrate'], { in: 'my-app' })
        }
        await says('\n  projects: searchable of title changed')
        await says(`Ready at ${base}`)
        const answer = await fetch(`${base}/projects/paged?search=x`)
        expect([answer.status, answer.headers.get('x-ignored-parameters')]).to.deep.equal([200, null])
      })

      it('ends cleanly on Ctrl-C', async () => {
        const ended = once(running, 'close')
        signalGroup(running, 'SIGINT')
        await ended
        // npm ends by the signal itself, after what it has started.
        expect(running.exitCode === 0 || running.signalCode === 'SIGINT', log).to.equal(true)
        expect(log).to.not.match(/npm err/i)
        expect(log, log).to.match(/gateway +info +stopped[\s\S]*data-service +info +stopped/)
      })
    })
  })
}

/** Links and pictures of pages below a folder that lead to no file of it. */
export function brokenLinks(root: string, pages: readonly string[]): readonly string[] {
  return pages.flatMap((page) =>
    Array.from(readFileSync(join(root, page), 'utf8').matchAll(/\]\(((?!https?:|#)[^)\s#]+)(?:#[^)]*)?\)/g))
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`)
  )
}

/** The row version that the entity tag of an answer carries. */
function versionOf(answer: Response): string | undefined {
  return /^W\/"(.+)"$/.exec(answer.headers.get('etag') ?? '')?.[1]
}
