import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { insertFixture } from '../api/fixture.js'
import type { Answer } from '../api/http-call.js'
import { sendTo, type Write } from '../api/writes/send.js'
import { select } from '../api/writes/stored.js'
import { eachDatabase, freshDatabase, type FreshDatabase } from '../harness/database.js'
import { listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { type Stack, startProcesses, STORE } from '../harness/stack.js'

/** Clients that read, and as many that create orders. */
const CLIENTS = 3

eachDatabase((kind) =>
  describe(`two data services behind one gateway on ${kind}`, function () {
    this.timeout(120_000)
    let database: FreshDatabase
    let dataDir: string
    let stack: Stack<ServiceProcess>
    const services = new Map<string, ServiceProcess>()
    const start = async (address: string): Promise<string> => {
      const service = startProcess(STORE, {
        DATABASE_URL: database.url,
        REVIEWS_DATABASE_URL: database.reviewsUrl,
        DATA_DIR: dataDir,
        DATA_SERVICE_ADDRESS: address,
        OWNER_BYPASS_ROLE: 'Admin',
        MIGRATE_AT_START: 'true'
      })
      const taken = await listening(service, 'address')
      services.set(taken, service)
      return taken
    }
    before(async () => {
      database = await freshDatabase(kind)
      dataDir = await mkdtemp(join(tmpdir(), 'data-'))
      const other = await start('127.0.0.1:0')
      await insertFixture({ database: database.url, reviews: database.reviewsUrl })
      stack = await startProcesses({ database, env: { DATA_DIR: dataDir, SAMPLE_DATA: 'false' }, also: [other] })
      services.set(stack.dataAddress, stack.dataService)
      await bothServe()
    })
    after(async () => {
      await stack?.stop()
      for (const service of services.values()) await service.stop()
      await database?.dispose()
      await rm(dataDir, { recursive: true, force: true })
    })

    const send = async (line: string, write: Write = {}): Promise<Answer> => {
      const [account = '', method = '', target = ''] = line.split(' ')
      return sendTo(stack.url, { method, target, token: await stack.token(`${account}@example.com`) }, write)
    }
    /** How often the gateway has seen a data service begin to serve. */
    const servings = (address: string): number =>
      stack.gateway.logs().filter((line) => line['address'] === address && line['health'] === 'serving').length
    const bothServe = async (before: ReadonlyMap<string, number> = new Map()): Promise<void> => {
      for (const address of services.keys()) {
        const known = before.get(address) ?? 0
        await stack.gateway.logged(() => servings(address) > known)
      }
    }

    /** Ends each in turn, and starts it again once both ways are open; readers and writers go on all the while. */
    async function inTurn(
      end: (service: ServiceProcess) => Promise<unknown>,
      judge: (answer: Answer, kind: 'read' | 'create') => 'done' | 'again',
      name: string
    ): Promise<string[]> {
      const created: string[] = []
      let answers = 0
      let stopping = false
      const reading = async (): Promise<void> => {
        for (; !stopping; answers++) judge(await send('clerk GET /products/1'), 'read')
      }
      const creating = async (client: number): Promise<void> => {
        for (let n = 0; !stopping; n++) {
          const key = `${name}-${client}-${n}`
          const body = { lines: [{ productId: 1, quantity: 1 }], trackingCode: key }
          while (judge(await send('ada POST /orders', { body, key }), 'create') === 'again') await sleep(20)
          created.push(key)
          answers++
        }
      }
      const more = async (): Promise<void> => {
        const enough = answers + 30
        while (!stopping && answers < enough) await sleep(5)
      }
      const ending = async (): Promise<void> => {
        for (const [address, service] of services) {
          await more()
          const before = new Map([[address, servings(address)]])
          await end(services.get(address) ?? service)
          await more()
          await start(address)
          await bothServe(before)
        }
        await more()
      }
      const clients = Array.from({ length: CLIENTS }, (_, client) => [reading(), creating(client)]).flat()
      try {
        await Promise.race([Promise.all(clients), ending()])
      } finally {
        stopping = true
      }
      await Promise.all(clients)
      return created
    }
    const storedOnce = async (keys: readonly string[]): Promise<void> => {
      const rows = await select(
        { databaseUrl: database.url },
        'SELECT tracking_code, COUNT(*) AS n FROM orders GROUP BY tracking_code'
      )
      const stored = new Map(rows.map((row) => [String(row['tracking_code']), Number(row['n'])]))
      expect(keys.filter((key) => stored.get(key) !== 1)).to.deep.equal([])
      expect(keys).not.to.be.empty
    }

    it('restarted in turn cost no request', async () => {
      const keys = await inTurn(
        (service) => service.stop(),
        ({ status, text }, request) => {
          expect(status, text).to.equal(request === 'read' ? 200 : 201)
          return 'done'
        },
        'restarted'
      )
      await storedOnce(keys)
    })

    it('killed in turn cost no read, and a create with a key is done once', async () => {
      const keys = await inTurn(
        (service) => service.kill(),
        ({ status, text }, request) => {
          if (request === 'read') expect(status, text).to.equal(200)
          else if (status !== 201) {
            expect(JSON.parse(text), text).property('code').is.oneOf(['upstream.unavailable', 'idempotency.in-flight'])
            return 'again'
          }
          return 'done'
        },
        'killed'
      )
      await storedOnce(keys)
    })
  })
)
