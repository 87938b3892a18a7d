import { STORE } from '../harness/stack.js'
import { createServer } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type ServiceProcess, startProcess } from '../stack/service-process.js'
import { runCommand } from '../harness/command.js'
import { storeDatabase } from '../harness/store-database.js'
import { listenLocally } from '../harness/local-server.js'

const ownFile = fileURLToPath(import.meta.url)

describe('the data service process', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'main-'))
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  const settings = (): Record<string, string> => ({
    DATA_DIR: dataDir,
    DATA_SERVICE_ADDRESS: '127.0.0.1:0',
    MIGRATE_AT_START: 'true'
  })
  const start = (environment: Record<string, string> = {}): ServiceProcess =>
    startProcess(STORE, { ...settings(), ...environment })
  const told = (service: ServiceProcess): string => JSON.stringify(service.logs())

  it('says where it listens, warns of sample accounts, and ends with 0 on SIGTERM', async () => {
    const database = await storeDatabase('sqlite', 'accounts')
    const service = start({
      SAMPLE_DATA: 'true',
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl
    })
    const { address } = await service.logged((entry) => entry['msg'] === 'listening')
    expect(address).to.match(/^127\.0\.0\.1:[1-9]\d*$/)
    expect(service.logs().some(({ level, msg }) => level === 'warn' && /sample accounts/.test(String(msg)))).to.equal(
      true
    )
    expect(await service.stop()).to.equal(0)
    await database.dispose()
  })

  it('does not start with a wrong setting or a taken port, and says why', async () => {
    const wrong = start({ MAX_PAGE_SIZE: '0', LOG_LEVEL: 'x' })
    expect(await wrong.ended).to.equal(1)
    expect(told(wrong)).to.contain('2 settings are wrong')
    const holder = createServer()
    const port = await listenLocally(holder)
    const late = start({ DATA_SERVICE_ADDRESS: `127.0.0.1:${port}` })
    expect(await late.ended).to.equal(1)
    expect(told(late)).to.contain('EADDRINUSE')
    await new Promise((resolve) => holder.close(resolve))
  })

  const failures: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    [
      'no server listens for its database',
      { DATABASE_URL: 'mysql://shop:secret@127.0.0.1:9/shop' },
      /^Cannot start: DATABASE_URL, mysql:\/\/shop:\*\*\*@127\.0\.0\.1:9\/shop, cannot be opened: no server answers there \(ECONNREFUSED\)\. Start it/
    ],
    [
      'its database would lie below a file',
      { DATABASE_URL: `sqlite:${ownFile}/x.sqlite` },
      /DATABASE_URL.+not a directory/
    ],
    ['its database is a directory', { DATABASE_URL: `sqlite:${dirname(ownFile)}` }, /DATABASE_URL.+opened for writing/],
    ['its database is another kind of file', { DATABASE_URL: `sqlite:${ownFile}` }, /DATABASE_URL.+no SQLite database/],
    ['DATA_DIR is a file', { DATA_DIR: ownFile }, /DATA_DIR/],
    // There Node's own `mkdir` of several steps never ends.
    ['DATA_DIR cannot be made', { DATA_DIR: '/proc/nowhere/data' }, /DATA_DIR \(\/proc\/nowhere\/data\)/],
    [
      'the directory of its database cannot be made',
      { DATABASE_URL: 'sqlite:/proc/nowhere/x.sqlite' },
      /DATABASE_URL, sqlite:\/proc\/nowhere\/x\.sqlite, cannot be opened: no directory can be made there/
    ]
  ]
  for (const [what, environment, sentence] of failures) {
    it(`says in one line that ${what}`, async () => {
      const { code, stdout, stderr } = await runCommand(STORE, {
        env: { ...settings(), LOG_LEVEL: 'silent', ...environment }
      })
      expect(code).to.equal(1)
      expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1)
      expect(stderr)
        .to.match(sentence)
        .and.match(/^Cannot start: /)
      expect(stdout + stderr).to.not.contain('secret')
    })
  }

  it('serves while the second store is down', async () => {
    const service = start({ REVIEWS_DATABASE_URL: 'mysql://nobody:unspoken@127.0.0.1:9/reviews' })
    await service.logged((entry) => entry['msg'] === 'listening')
    expect(told(service))
      .to.contain('second store not reached')
      .and.not.contain('unspoken')
      .and.not.contain('node_modules')
    expect(told(service)).to.contain('REVIEWS_DATABASE_URL')
    expect(await service.stop()).to.equal(0)
  })
})
