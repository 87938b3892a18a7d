import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ran, runCommand } from '../harness/command.js'
import { request } from '../harness/http.js'
import { isSoak } from '../harness/in-soak.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'

describe('npm start', () => {
  /** What it does, in this process: nothing else is started where it rejects the settings. */
  const rejected = (env: Readonly<Record<string, string>>): Promise<Ran> =>
    runCommand(['dev', '--app', join(outputRoot, 'examples/store')], { env })

  it('tells every fault in the settings of both processes at once, each once, and starts nothing', async () => {
    const wrong = { GATEWAY_PORT: '808O', DATABASE_URL: 'postgres://x/y', DATA_SERVICE_ADDRESS: '50094' }
    const { code, stderr } = await rejected(wrong)
    const violations = stderr.split('\n').filter((line) => line.startsWith('- '))
    expect([code, violations.map((line) => line.split(' ')[1] ?? '').toSorted()]).to.deep.equal([
      1,
      ['DATABASE_URL', 'DATA_SERVICE_ADDRESS', 'GATEWAY_PORT']
    ])
  })

  it('says that the data folder cannot be made, where making it would never end', async () => {
    const { code, stderr } = await rejected({ DATA_DIR: '/proc/nowhere/data' })
    expect(code).to.equal(1)
    expect(stderr).to.match(/cannot be kept in \/proc\/nowhere\/data.+DATA_DIR/)
  })

  // In `npm test` test/package/linked.test.ts serves on an address of IPv6, on a port that is given, and commands of
  // test/cli/ run without a log.
  if (isSoak)
    it('serves without a log, on an address of IPv6, and on a port that the system chooses', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'start-'))
      const { PATH, HOME } = process.env
      const start = spawn(process.execPath, ['tools/store.mjs', 'dev'], {
        cwd: packageRoot,
        env: {
          PATH,
          HOME,
          DATA_DIR: folder,
          DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`,
          SAMPLE_DATA: 'false',
          LOG_LEVEL: 'silent',
          GATEWAY_HOST: '[::1]',
          GATEWAY_PORT: '0'
        },
        stdio: ['ignore', 'pipe', 'pipe']
      })
      try {
        const base = await new Promise<string>((resolve, reject) => {
          let seen = ''
          start.stdout.on('data', (chunk: Buffer) => {
            seen += chunk.toString('utf8')
            const [, found] = seen.includes('Ctrl-C') ? (/API {4}(\S+)/.exec(seen) ?? []) : []
            if (found !== undefined) resolve(found)
          })
          start.once('close', () => reject(new Error(`npm start ended:\n${seen}`)))
        })
        expect(base).to.contain('http://[::1]:')
        expect((await request(`${base}/health`)).status).to.equal(200)
        // Documents of all resources are for everybody who looks at the first start.
        expect((await request(`${base}/docs/resources/suppliers`)).status).to.equal(200)
        // The shop answers behind the gateway.
        expect((await request(`${base}/`, { headers: { accept: 'text/html' } })).status).to.equal(200)
      } finally {
        start.kill('SIGINT')
        await once(start, 'close')
        await rm(folder, { recursive: true, force: true })
      }
    })
})
