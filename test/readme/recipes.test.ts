import { expect } from 'chai'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { defineApplication } from '../../cli/public/application.js'
import { readConfig } from '../../data-service/config.js'
import { readGatewayConfig } from '../../gateway/config.js'
import { SETTING_NAMES } from '../../shared/settings.js'
import { spawnCommand } from '../harness/command.js'
import { accepts, closeLocally, listenLocally } from '../harness/local-server.js'
import { packageRoot } from '../harness/package-root.js'
import { ensurePackages } from '../runner/programs.js'
import { freePort } from '../runner/free-port.js'
import { freshDatabase } from '../stack/databases.js'
import { type Stack, startStack } from '../stack/stack.js'
import { comparable, examplesOf } from './readme-examples.js'

/** The pages in the order of their index, in which their calls run. */
const NAMES = Array.from(pageOf('README').matchAll(/^\| \[[^\]]+\]\((.+?)\.md\)/gm), ([, name = '']) => name)
const SEPARATOR = '\u0001'
const FILE = /^[^\n]*?`([\w./-]+\.(?:ts|js|mjs|sh))`[^\n]*:\n\n```(?:ts|js|sh)\n(.*?)^```$/gms
const PASSWORD = 'correct horse battery staple'
const ISSUER = 'https://login.example.com/realms/main'

const pages = NAMES.map((name) => {
  const page = pageOf(name)
  return {
    name,
    page,
    files: Array.from(page.matchAll(FILE), ([, path = '', content = '']) => ({ path, content })),
    calls: examplesOf(`docs/recipes/${name}.md`).filter(({ command }) => !command.startsWith('#!'))
  }
})
const withConfig = pages.filter(({ files }) => files.some(({ path }) => path === 'uniform-rest.config.ts'))

/** One application of all pages: what each config says, together. Ada signs in with a password, and one program exports. */
const TOGETHER = `import { defineApplication, migrationsIn } from 'uniform-rest'
${withConfig.map(({ name }, at) => `import page${at} from './${name}/uniform-rest.config.js'`).join('\n')}

const all = [${withConfig.map((_, at) => `page${at}`).join(', ')}]
const roles: Record<string, string[]> = {}
for (const page of all) for (const [role, of] of Object.entries(page.roles)) roles[role] = [...new Set([...(roles[role] ?? []), ...of])]

export default defineApplication({
  entities: all.flatMap(({ entities }) => entities),
  operations: all.flatMap(({ operations = [] }) => operations),
  outbox: all.flatMap(({ outbox = [] }) => outbox),
  owners: Object.assign({}, ...all.map(({ owners = {} }) => owners)),
  settings: Object.assign({}, ...all.map(({ settings }) => settings)),
  roles: roles as never,
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url)),
  sample: {
    password: '${PASSWORD}',
    accounts: [{ email: 'ada@example.com', name: 'Ada', roles: [], owner: null, claims: { member_id: 7 } }],
    machines: [{ clientId: 'nightly-quotes', name: 'Export', roles: ['Exporter'], owner: null, secret: 'a secret of this test' }]
  }
})
`

describe('docs/recipes', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'recipes-'))
  const children: ChildProcess[] = []
  const objects = new Map<string, string>()
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    const [path = '', query = ''] = url.split('?')
    if (path === '/keys') {
      const jwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }))
    } else if (!/&X-Amz-Signature=[0-9a-f]{64}$/.test(query)) {
      response.writeHead(403).end()
    } else if (method === 'PUT') {
      text(request).then(
        (body) => {
          objects.set(path, body)
          response.end()
        },
        () => response.destroy()
      )
    } else {
      response.writeHead(objects.has(path) ? 200 : 404).end(objects.get(path))
    }
  })
  let stack: Stack
  let dispose = (): Promise<void> => Promise.resolve()
  let printed: readonly string[] = []
  let delivered = ''

  before(async () => {
    await ensurePackages('jq')
    const [here, carrier, renderer] = [await listenLocally(server), await freePort(), await freePort()]
    process.env['S3_BUCKET_URL'] = `http://127.0.0.1:${here}/bucket`
    process.env['S3_REGION'] = 'eu-central-1'
    process.env['S3_ACCESS_KEY_ID'] = 'key'
    process.env['S3_SECRET_ACCESS_KEY'] = 'secret'
    mkdirSync(join(scratch, 'node_modules/@types'), { recursive: true })
    mkdirSync(join(scratch, 'migrations'))
    symlinkSync(packageRoot, join(scratch, 'node_modules/uniform-rest'))
    symlinkSync(join(packageRoot, 'node_modules/@types/node'), join(scratch, 'node_modules/@types/node'))
    const write = (path: string, content: string): void => {
      mkdirSync(dirname(join(scratch, path)), { recursive: true })
      writeFileSync(join(scratch, path), content)
    }
    write('package.json', '{ "type": "module" }')
    write('secret', 'a secret of this test')
    for (const { name, files } of pages) {
      for (const { path, content } of files) {
        write(`${name}/${path}`, content.replace('4000', String(carrier)))
        if (path.startsWith('migrations/')) copyFileSync(join(scratch, name, path), join(scratch, path))
      }
    }
    write('uniform-rest.config.ts', TOGETHER)
    const settings = {
      ...(await promisify(execFile)('bash', ['-c', `${commandWith('cat >> .env')}\ncat .env`], { cwd: scratch }).then(
        ({ stdout }) => variables(stdout.replace('4000', String(carrier)))
      )),
      ...variables(/^```ini\n(CORS.*?)^```$/ms.exec(pageOf('a-single-page-application'))?.[1] ?? ''),
      JWT_JWKS_URI: `http://127.0.0.1:${here}/keys`
    }
    rmSync(join(scratch, '.env'))
    const made = await spawnCommand(['migrate', 'create', 'recipes', '--app', scratch], { directory: scratch })
    expect(made.code, made.stderr).to.equal(0)

    const database = await freshDatabase('sqlite')
    ;({ dispose } = database)
    const env = { ...settings, SAMPLE_DATA: 'true', RENDERER_URL: `http://127.0.0.1:${renderer}` }
    stack = await startStack({ app: scratch, database, env })
    const run = (path: string, more: Readonly<Record<string, string>>): ChildProcess => {
      const child = spawn(process.execPath, [join(scratch, path)], { env: more, stdio: ['ignore', 'pipe', 'inherit'] })
      children.push(child)
      return child
    }
    run('a-webhook/receiver.mjs', settings).stdout?.on('data', (chunk: Buffer) => (delivered += chunk.toString('utf8')))
    run('a-server-rendered-page/pages/main.js', {
      PAGES_HOST: '127.0.0.1',
      PAGES_PORT: String(renderer),
      API_URL: stack.url
    })
    for (const port of [carrier, renderer]) while (!(await accepts(`127.0.0.1:${port}`))) await pause(20)
    printed = await outputs()
  })
  after(async () => {
    for (const child of children) {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    }
    await stack.stop()
    await dispose()
    await closeLocally(server)
    for (const name of Object.keys(process.env)) if (name.startsWith('S3_')) delete process.env[name]
    rmSync(scratch, { recursive: true, force: true })
  })

  /** What each block of calls prints, in one shell for all. `npx uniform-rest` is played: it takes a second and more each time. */
  async function outputs(): Promise<readonly string[]> {
    const tokens = pages.flatMap(({ page }) =>
      Array.from(
        page.matchAll(/account add (\w+)@example\.com(?: --role (\w+))?(?: --owner (?:(\w+)=)?(\d+))?/g),
        ([, who = '', role, kind, owner]) => {
          const claims = { ...(role && { role }), ...(owner && { [`${kind ?? 'customer'}_id`]: Number(owner) }) }
          return `[${who}@example.com]=${stack.token({ sub: `${who}@example.com`, ...claims })}`
        }
      )
    )
    const script = [
      `declare -A tokens=(${tokens.join(' ')})`,
      'npx() { [ "$2" != token ] || echo "${tokens[$3]}"; }',
      ...[
        { name: '.', calls: examplesOf('docs/recipes/README.md') },
        ...pages.filter(({ calls }) => calls.length > 0)
      ].flatMap(({ name, calls }) => [
        `cd ${join(scratch, name)}`,
        ...calls.map(({ command }) => `${command}\nprintf '${SEPARATOR}'`)
      ])
    ].join('\n')
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, TOKEN: outsideToken(), SECRET_FILE: join(scratch, 'secret'), API: stack.url }
    const shell = spawn('bash', ['-c', script.replaceAll('http://127.0.0.1:3000', stack.url)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit']
    })
    return (await text(shell.stdout)).split(SEPARATOR).slice(1)
  }

  function outsideToken(): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const exp = Math.floor(Date.now() / 1000) + 600
    const claims = { iss: ISSUER, aud: 'https://api.example.com', sub: 'mia', role: 'staff', exp }
    const input = `${part({ kid: 'one', alg: 'ES256' })}.${part(claims)}`
    return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }

  it('lists every page in its index', () => {
    const found = readdirSync(join(packageRoot, 'docs/recipes')).map((name) => name.replace(/\.md$/, ''))
    expect(found).to.have.members(['README', ...NAMES])
  })

  it('has code that compiles under the settings of a new application', async () => {
    const options = readFileSync(join(packageRoot, 'cli/template/tsconfig.json'), 'utf8').replace(', "mocha"', '')
    writeFileSync(join(scratch, 'tsconfig.json'), options)
    const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
    const ran = await promisify(execFile)(process.execPath, [compiler, '-p', scratch]).catch((error: unknown) => error)
    expect(ran).to.have.property('stdout', '')
  })

  const calls = pages.flatMap(({ name, calls: ofPage }) => ofPage.map((call) => ({ name, ...call })))
  for (const [at, { name, command, output = '' }] of calls.entries()) {
    it(`${name} prints what it says: ${command.split('\n', 1)[0]}`, () => {
      expect(comparable(printed[at] ?? 'nothing')).to.equal(comparable(output))
    })
  }

  it('has a receiver of webhooks that prints what its page says', async () => {
    while (!delivered.endsWith('\n')) await pause(20)
    expect(pageOf('a-webhook')).to.include(`\`${delivered.trim()}\``)
  })

  it('signs URLs as the example of Amazon does', async () => {
    process.env['S3_BUCKET_URL'] = 'https://examplebucket.s3.amazonaws.com'
    process.env['S3_REGION'] = 'us-east-1'
    process.env['S3_ACCESS_KEY_ID'] = 'AKIAIOSFODNN7EXAMPLE'
    process.env['S3_SECRET_ACCESS_KEY'] = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
    const file = pathToFileURL(join(scratch, 'files-in-an-object-store/signed-url.ts')).href
    const { signedUrl } = (await import(file)) as { signedUrl(method: string, link: object): string } // of the page
    const url = signedUrl('GET', { key: 'test.txt', now: '2013-05-24T00:00:00.000Z', seconds: 86_400 })
    expect(url).to.match(/&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/)
  })

  it('has a form that tells a conflict and the members that are wrong', async () => {
    const path = join(scratch, 'a-single-page-application/save.js')
    writeFileSync(path, readFileSync(path, 'utf8').replace('https://api.example.com', stack.url))
    const { save } = (await import(pathToFileURL(path).href)) as {
      save(
        path: string,
        changes: object,
        how: { etag: unknown; token: string }
      ): Promise<Readonly<Record<string, unknown>>>
    } // of the page
    const token = outsideToken()
    const { etag } = (await stack.call('/tickets/1', { token })).headers
    const saved = await save('/tickets/1', { subject: 'No light at all' }, { etag, token })
    expect(saved['saved']).to.include({ id: 1, subject: 'No light at all' })
    expect(await save('/tickets/1', { subject: 'Dark' }, { etag, token })).to.deep.equal({ conflict: 'stale' })
    const wrong = await save('/tickets/1', { subject: null }, { etag: saved['etag'], token })
    expect(wrong['errors']).to.have.nested.property('[0].pointer', '/subject')
  })

  it('has units and manifests whose settings both processes take', () => {
    const page = pageOf('systemd-and-kubernetes')
    const named =
      /^Environment=(?<unit>\w+)=(?<set>.*)$|- \{ name: (?<name>\w+), value: '?(?<value>[^'\s]+?)'? \}$|- name: (?<secret>[A-Z_]+)$/gm
    const settingsOf = (part: string): Readonly<Record<string, string>> => {
      const settings: Record<string, string> = {}
      for (const { groups: { unit, set, name, value, secret } = {} } of part.matchAll(named)) {
        const ofSecret = secret === 'DATABASE_URL' ? 'mariadb://app:a@db:3306/app' : 'f'.repeat(64)
        settings[unit ?? name ?? secret ?? ''] = set ?? value ?? ofSecret
      }
      delete settings['NODE_OPTIONS']
      return settings
    }
    const parts = page.split(/^(?=kind: Deployment|\[Unit\])/m).slice(1)
    expect(parts).to.have.length(4)
    for (const part of parts) {
      const settings = settingsOf(part)
      expect(SETTING_NAMES).to.include.members(Object.keys(settings))
      const [, process] = /start(?:,)? (data-service|gateway)\b/.exec(part) ?? []
      const all = { GATEWAY_SECRET: 'f'.repeat(64), ...settings }
      if (process === 'gateway') readGatewayConfig(all)
      else readConfig(all, defineApplication({ entities: [] }))
    }
  })
})

function pageOf(name: string): string {
  return readFileSync(join(packageRoot, `docs/recipes/${name}.md`), 'utf8')
}

/** The block of calls that begins so. */
function commandWith(beginning: string): string {
  return pages.flatMap(({ calls }) => calls).find(({ command }) => command.startsWith(beginning))?.command ?? ''
}

/** The lines `NAME=value` of a text. */
function variables(lines: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(lines.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]))
}
