import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { request } from '../harness/http.js'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'

describe('npm start', function () {
  this.timeout(120_000)

  it('tells every fault in the settings of both processes at once, each once, and starts nothing', async () => {
    const { PATH, HOME } = process.env
    const start = spawn(process.execPath, ['tools/store.mjs', 'dev'], {
      cwd: packageRoot,
      env: { PATH, HOME, GATEWAY_PORT: '808O', DATABASE_URL: 'postgres://x/y', DATA_SERVICE_ADDRESS: '50094' },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    const [said, [code]] = await Promise.all([text(start.stderr), once(start, 'close') as Promise<[number | null]>])
    const violations = said.split('\n').filter((line) => line.startsWith('- '))
    expect([code, violations.map((line) => line.split(' ')[1] ?? '').toSorted()]).to.deep.equal([
      1,
      ['DATABASE_URL', 'DATA_SERVICE_ADDRESS', 'GATEWAY_PORT']
    ])
  })

  for (const settings of [{ LOG_LEVEL: 'warn' }, { LOG_LEVEL: 'silent', GATEWAY_HOST: '[::1]', GATEWAY_PORT: '0' }]) {
    it(`serves with ${JSON.stringify(settings)}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'start-'))
      const start = startIn(folder, {
        GATEWAY_PORT: String(await freePort()),
        DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`,
        SAMPLE_DATA: 'false',
        ...settings
      })
      try {
        const base = await new Promise<string>((resolve, reject) => {
          let seen = ''
          start.stdout?.on('data', (chunk: Buffer) => {
            seen += chunk.toString('utf8')
            const [, found] = seen.includes('Ctrl-C') ? (/API {4}(\S+)/.exec(seen) ?? []) : []
            if (found !== undefined) resolve(found)
          })
          start.once('close', () => reject(new Error(`npm start ended:\n${seen}`)))
        })
        expect(base).to.contain('GATEWAY_HOST' in settings ? 'http://[::1]:' : 'http://127.0.0.1:')
        expect((await request(`${base}/health`)).status).to.equal(200)
        // The shop answers behind the gateway.
        expect((await request(`${base}/`, { headers: { accept: 'text/html' } })).status).to.equal(200)
      } finally {
        start.kill('SIGINT')
        await once(start, 'close')
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  it('says that the data folder cannot be made, where making it would never end', async () => {
    const start = startIn('/proc/nowhere/data', {})
    const [said, [code]] = await Promise.all([
      start.stderr === null ? '' : text(start.stderr),
      once(start, 'close') as Promise<[number | null]>
    ])
    expect(code).to.equal(1)
    expect(said).to.match(/cannot be kept in \/proc\/nowhere\/data.+DATA_DIR/)
  })
})

function startIn(folder: string, settings: Readonly<Record<string, string>>): ChildProcess {
  const { PATH, HOME } = process.env
  return spawn(process.execPath, ['tools/store.mjs', 'dev'], {
    cwd: packageRoot,
    env: { PATH, HOME, DATA_DIR: folder, ...settings },
    stdio: ['ignore', 'pipe', 'pipe']
  })
}
