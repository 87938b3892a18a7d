import { expect } from 'chai'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from '../harness/http.js'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'

/** What a copy of this checkout does without. */
const LEFT_OUT = new Set(['node_modules', '.git', '.data'])

/** A change of one source by each process that uses it, but the gateway, and where the answer shows it. */
const CHANGES = [
  {
    file: 'examples/store/entities/products.ts',
    from: /description: '/,
    to: "description: 'Changed. ",
    shown: '/openapi.json'
  },
  { file: 'examples/store/storefront/layout.tsx', from: '<body', to: '<body title="Changed."', shown: '/' }
] as const

describe('npm run dev', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dev-'))
  let running: ChildProcess
  let base = ''
  let log = ''

  before(async () => {
    // A test beside this one may write a file here, and take it away.
    const names = readdirSync(packageRoot).filter((one) => !LEFT_OUT.has(one) && !one.includes('.tmp.'))
    // `cp` keeps times exactly, so that what is compiled counts as compiled from these sources.
    execFileSync('cp', ['-a', ...names.map((name) => join(packageRoot, name)), folder])
    symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
    const port = await freePort()
    base = `http://[::1]:${port}`
    const { PATH, HOME } = process.env
    running = spawn('npm', ['run', 'dev'], {
      cwd: folder,
      env: {
        PATH,
        HOME,
        DATA_DIR: join(folder, '.data'),
        GATEWAY_HOST: '[::1]',
        GATEWAY_PORT: String(port),
        LOG_LEVEL: 'silent',
        DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`,
        SAMPLE_DATA: 'false'
      },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    await new Promise<void>((resolve, reject) => {
      for (const stream of [running.stdout, running.stderr]) {
        stream?.on('data', (chunk: Buffer) => {
          log += chunk.toString('utf8')
          if (log.includes('Ctrl-C ends everything.')) resolve()
        })
      }
      running.once('close', () => reject(new Error(`npm run dev ended:\n${log}`)))
    })
  })
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  it('says where it serves, and answers there', async () => {
    expect(log).to.include(base)
    expect((await request(`${base}/health`)).status).to.equal(200)
    // Documents of all resources are for everybody who looks at the first start.
    expect((await request(`${base}/docs/resources/suppliers`)).status).to.equal(200)
  })

  const answer = async (path: string): Promise<string> => {
    const headers = { accept: path === '/' ? 'text/html' : '*/*' }
    const { status, text } = await request(`${base}${path}`, { headers })
    return status === 200 ? text : ''
  }

  for (const { file, from, to, shown } of CHANGES) {
    it(`shows a change of ${file}`, async () => {
      expect(await answer(shown)).to.not.be.empty.and.not.include('Changed.')
      const path = join(folder, file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, text.replace(from, to))
      expect(readFileSync(path, 'utf8')).to.not.equal(text)
      while (!(await answer(shown).catch(() => '')).includes('Changed.')) await pause(20)
    })
  }

  it('rejects a mistyped parameter', async () => {
    expect((await request(`${base}/products/paged?serch=x`)).status).to.equal(400)
  })

  it('tells where a source of the gateway is no code, goes on, and shows its next change', async () => {
    const path = join(folder, 'gateway/server/problem-pages.ts')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, `${text}\nconst = 1\n`)
    while (!log.includes('problem-pages.ts:')) await pause(20)
    expect(await answer('/problems')).to.include('<h1>Problems</h1>')
    writeFileSync(path, text.replace('<h1>Problems</h1>', '<h1>Mended.</h1>'))
    while (!(await answer('/problems').catch(() => '')).includes('Mended.')) await pause(20)
  })

  it('ends cleanly on Ctrl-C', async () => {
    running.kill('SIGINT')
    const [code] = (await once(running, 'close')) as [number | null]
    expect(code, log).to.equal(0)
  })
})
