import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { FreshDatabase } from '../harness/database.js'
import { packageRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import { ensurePackages } from '../runner/programs.js'
import { type NpmHere, startNpm } from './npm-here.js'
import { comparable, examplesOf } from './readme-examples.js'

/** Pages whose commands run here, each in a shell of its own. None of them shows a row that another one has changed. */
const PAGES = [
  'docs/queries.md',
  'docs/http.md',
  'docs/ownership.md',
  'docs/sessions.md',
  'docs/concurrency.md',
  'docs/trail.md',
  'docs/agents.md',
  'docs/history.md',
  'docs/machine-accounts.md'
]

/** Where the commands of all other pages run, or why they run nowhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'readme.test.ts beside this file',
  'docs/accounts.md':
    'they ask for passwords, and name a provider that there is none of; test/cli runs each subcommand',
  'docs/deploying.md': 'test/compose, with a Docker engine',
  'docs/first-calls.md': 'readme.test.ts beside this file',
  'docs/grpc.md': 'test/grpc-clients',
  'docs/introspect.md': 'they name a server of somebody else; test/introspect runs the same commands',
  'docs/migrations.md': 'they write into examples/store; test/cli and test/introspect run the same commands',
  'docs/one-time-links.md': 'test/accounts/accounts.test.ts, with the mail server of the page',
  'docs/operations.md': 'they name servers and keys of a deployment',
  'docs/procedures.md':
    'they name a database server; test/schema/introspect/procedures.test.ts runs the same on a fresh one',
  'docs/reliability.md': 'test/campaign runs the command, for a shorter time',
  'docs/testing.md': 'they install packages; test/package runs them in an application',
  'docs/tour.md': 'readme.test.ts beside this file',
  'docs/versions.md': 'test/package runs it, and test/fitness compares the numbers',
  'docs/webhooks.md': 'webhooks.test.ts beside this file',
  'docs/your-own-application.md': 'test/package runs the first block; the second one names machines of a deployment',
  'docs/your-own-database.md': 'it names an account of a server'
}

const SEPARATOR = '\u0001'

describe('pages of docs', () => {
  let database: FreshDatabase
  let stack: Stack
  let npm: NpmHere
  let environment: NodeJS.ProcessEnv
  const scratch = mkdtempSync(join(tmpdir(), 'pages-'))
  // Beside package.json, as the page has it: its packages and proto/ are found from there.
  const grpcExample = join(packageRoot, `grpc-page-${process.pid}.tmp.mjs`)
  before(async () => {
    await ensurePackages('jq')
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database, env: { MCP: 'read' } })
    const { DATABASE_URL, DATA_DIR } = stack.env
    environment = { HOME: process.env['HOME'], DATABASE_URL, DATA_DIR }
    npm = await startNpm(environment)
    mkdirSync(join(scratch, 'node_modules/@uniform-rest'), { recursive: true })
    symlinkSync(join(packageRoot, 'clients/typescript'), join(scratch, 'node_modules/@uniform-rest/client'))
  })
  after(async () => {
    rmSync(grpcExample, { force: true })
    rmSync(scratch, { recursive: true, force: true })
    await npm.stop()
    await stack.stop()
    await database.dispose()
  })

  it('have commands that run here or elsewhere, each page with its place', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(packageRoot, 'docs')).map((name) => `docs/${name}`)
    ]
    const withCommands = pages.filter((page) => page.endsWith('.md') && examplesOf(page).length > 0)
    expect(withCommands).to.have.members([...PAGES, ...Object.keys(ELSEWHERE)])
  })

  /** Runs the script that docs/clients.md says to save under the name. */
  const printsWhatItSays = async (name: string): Promise<void> => {
    const page = readFileSync(join(packageRoot, 'docs/clients.md'), 'utf8')
    const after = page.slice(page.indexOf(`\`${name}.js\``))
    const [, script = '', shown] = /^```js\n(.*?)^```\n\n```text\n(.*?)^```$/ms.exec(after) ?? []
    expect(await printedBy(name, script)).to.equal(shown)
  }
  const printedBy = (name: string, script: string): Promise<string> => {
    const file = join(scratch, `${name}.mjs`)
    writeFileSync(file, script.replace('http://127.0.0.1:3000', stack.url))
    return outputOf(file)
  }

  for (const page of PAGES) {
    describe(page, () => {
      const examples = examplesOf(page)
      let printed: readonly string[]

      // One shell for all, so that a variable or a function of one block is there in the next.
      before(async () => {
        const script = examples
          .map(({ command }) =>
            command.replaceAll('http://127.0.0.1:3000', stack.url).replaceAll('/tmp/', `${scratch}/`)
          )
          .join(`\nprintf '${SEPARATOR}'\n`)
        const shell = spawn('bash', ['-c', script], {
          cwd: packageRoot,
          env: { ...environment, PATH: npm.path },
          stdio: ['ignore', 'pipe', 'inherit']
        })
        const ended = once(shell, 'close')
        printed = (await text(shell.stdout)).split(SEPARATOR)
        await ended
      })

      for (const [index, { command, output }] of examples.entries()) {
        it(`prints what it says: ${command.split('\n', 1)[0]}`, () => {
          expect(comparable(printed[index] ?? 'nothing')).to.equal(comparable(output ?? ''))
        })
      }
    })
  }

  it('have an example of gRPC that runs', async () => {
    writeFileSync(grpcExample, scriptOf('docs/grpc.md').replace('127.0.0.1:50051', stack.dataAddress))
    expect(await outputOf(grpcExample)).to.equal(
      "66 [ { id: 1, status: 'delivered' }, { id: 26, status: 'delivered' } ]\nnot-found\n"
    )
  })

  it('have a first call of the typed client that prints what it says', () => printsWhatItSays('first-call'))

  const queries = readFileSync(join(packageRoot, 'docs/queries.md'), 'utf8')
  const scripts = Array.from(queries.matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)^```$/gms))
  it('of queries show what each of their scripts prints', () => {
    expect(scripts).to.have.length(queries.split('\n```js\n').length - 1)
  })
  for (const [at, [, script = '', shown]] of scripts.entries()) {
    it(`docs/queries.md: script ${at + 1} prints what it says`, async () => {
      expect(await printedBy(`query-${at}`, script)).to.equal(shown)
    })
  }

  for (const { who, cookie, status } of [
    { who: 'nobody', cookie: async () => '', status: 401 },
    { who: 'somebody', cookie: async () => `app_auth_access=${await stack.token('ada@example.com')}`, status: 200 }
  ]) {
    it(`have an example of sessions that asks as ${who}`, async () => {
      const file = join(scratch, `${who}.mjs`)
      // What a browser does with a path and with the cookies of the page.
      const browser = `const fetch = (path, { headers, ...init } = {}) => globalThis.fetch(${JSON.stringify(stack.url)} + path, {
        ...init, headers: { ...headers, ...(path.startsWith('/auth') && { cookie: ${JSON.stringify(await cookie())} }) }
      })\n`
      const shown = '\nconsole.log(orders.status, (await orders.json()).code)\n'
      writeFileSync(file, browser + scriptOf('docs/sessions.md') + shown)
      expect(await outputOf(file)).to.equal(status === 200 ? '200 undefined\n' : '401 auth.required\n')
    })
  }

  // After the pages, some of which show the ids of rows that they make.
  describe('docs/clients.md', () => {
    it('has a first write that prints what it says', () => printsWhatItSays('first-write'))
  })
})

/** The first block of JavaScript of a page. */
function scriptOf(page: string): string {
  const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(packageRoot, page), 'utf8')) ?? []
  return script
}

async function outputOf(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: packageRoot })
  return stdout
}
