import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Answer } from '../api/http-call.js'
import { sendTo, type Write } from '../api/writes/send.js'
import { select } from '../api/writes/stored.js'
import { type DatabaseKind, eachDatabase, type FreshDatabase } from '../harness/database.js'
import { isSoak } from '../harness/in-soak.js'
import { outputRoot } from '../harness/package-root.js'
import { tokenMint } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import type { Listening, Server } from '../stack/server-log.js'
import { inProcesses, inThisProcess, type Launcher } from '../stack/pair.js'

/** Clients that read, and as many that create orders. */
const CLIENTS = isSoak ? 3 : 1
/** Milliseconds from an answer to the next request: clients that wait for none take a processor while a service starts. */
const PAUSE_MS = isSoak ? 0 : 10

const STORE = join(outputRoot, 'examples/store')
const here = inThisProcess(STORE)
const processes = inProcesses(STORE)

/** Two data services, which end one after the other while clients work, and the gateway in front of them. */
class Replicas<S extends Server> implements AsyncDisposable {
  readonly #database: FreshDatabase
  readonly #dataDir: string
  readonly #env: Readonly<Record<string, string>>
  readonly #launcher: Launcher<S>
  /** Those that run, by their addresses. */
  readonly #services = new Map<string, S>()
  readonly #token: (email: string) => Promise<string>
  #gateway: Listening | undefined

  private constructor(launcher: Launcher<S>, database: FreshDatabase, dataDir: string) {
    this.#launcher = launcher
    this.#database = database
    this.#dataDir = dataDir
    this.#env = {
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_DIR: dataDir,
      OWNER_BYPASS_ROLE: 'Admin',
      COOKIE_SECURE: 'false'
    }
    this.#token = tokenMint(this.#env)
  }

  /** Resolves when the gateway has reached both. */
  static async start<S extends Server>(kind: DatabaseKind, launcher: Launcher<S>): Promise<Replicas<S>> {
    const database = await storeDatabase(kind, 'fixture')
    const replicas = new Replicas(launcher, database, await mkdtemp(join(tmpdir(), 'data-')))
    try {
      for (let n = 0; n < 2; n++) await replicas.#start('127.0.0.1:0')
      const addresses = [...replicas.#services.keys()]
      replicas.#gateway = await here.gateway(
        { ...replicas.#env, GATEWAY_PORT: '0', DATA_SERVICE_ADDRESS: addresses.join() },
        replicas.#dataDir
      )
      for (const address of addresses) await replicas.#serves(address, 0)
      return replicas
    } catch (error) {
      await replicas[Symbol.asyncDispose]()
      throw error
    }
  }

  async send(line: string, write: Write = {}): Promise<Answer> {
    const [account = '', method = '', target = ''] = line.split(' ')
    const token = await this.#token(`${account}@example.com`)
    return sendTo(this.#gateway?.address ?? '', { method, target, token }, write)
  }

  /** Ends as many in turn and starts each again at its address. `meanwhile` is called before, between, and after all of it. */
  async inTurn(end: (service: S) => Promise<unknown>, meanwhile: () => Promise<void>, count = 2): Promise<void> {
    for (const [address, service] of [...this.#services].slice(0, count)) {
      await meanwhile()
      const before = this.#servings(address)
      await end(service)
      await meanwhile()
      await this.#start(address)
      await this.#serves(address, before)
    }
    await meanwhile()
  }

  /** How many orders have each tracking code. */
  async orders(): Promise<ReadonlyMap<string, number>> {
    const rows = await select(
      { databaseUrl: this.#database.url },
      'SELECT tracking_code, COUNT(*) AS n FROM orders GROUP BY tracking_code'
    )
    return new Map(rows.map((row) => [String(row['tracking_code']), Number(row['n'])]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.server.stop()
    for (const service of this.#services.values()) await service.stop()
    await this.#database.dispose()
    await rm(this.#dataDir, { recursive: true, force: true })
  }

  async #start(at: string): Promise<void> {
    const { server, address } = await this.#launcher.dataService(
      { ...this.#env, DATA_SERVICE_ADDRESS: at },
      this.#dataDir
    )
    this.#services.set(address, server)
  }

  /** How often the gateway has seen a data service begin to serve. */
  #servings(address: string): number {
    const lines = this.#gateway?.server.logs() ?? []
    return lines.filter((line) => line['address'] === address && line['health'] === 'serving').length
  }

  async #serves(address: string, before: number): Promise<void> {
    await this.#gateway?.server.logged(() => this.#servings(address) > before)
  }
}

/** Clients read and create until `work` is over. Resolves with the keys of what they have created. */
async function underLoad<S extends Server>(
  replicas: Replicas<S>,
  judge: (answer: Answer, kind: 'read' | 'create') => 'done' | 'again',
  work: (more: () => Promise<void>) => Promise<void>
): Promise<string[]> {
  const created: string[] = []
  let answers = 0
  let stopping = false
  const reading = async (): Promise<void> => {
    for (; !stopping; answers++) {
      judge(await replicas.send('clerk GET /products/1'), 'read')
      await sleep(PAUSE_MS)
    }
  }
  const creating = async (client: number): Promise<void> => {
    for (let n = 0; !stopping; n++) {
      const key = `${client}-${n}`
      const body = { lines: [{ productId: 1, quantity: 1 }], trackingCode: key }
      while (judge(await replicas.send('ada POST /orders', { body, key }), 'create') === 'again') await sleep(20)
      created.push(key)
      answers++
      await sleep(PAUSE_MS)
    }
  }
  const more = async (): Promise<void> => {
    const enough = answers + 12
    while (!stopping && answers < enough) await sleep(5)
  }
  const clients = Array.from({ length: CLIENTS }, (_, client) => [reading(), creating(client)]).flat()
  try {
    await Promise.race([Promise.all(clients), work(more)])
  } finally {
    stopping = true
  }
  await Promise.all(clients)
  return created
}

// What a data service is to the gateway depends on no database. So each of the two is tried over one of them, and that of
// processes in the soak alone: writes/killed-service.test.ts kills one at chosen moments, and even-spread.test.ts restarts one.
eachDatabase((kind) =>
  describe(`two data services behind one gateway on ${kind}`, () => {
    if (kind === 'sqlite') {
      it('restarted in turn cost no request', async () => {
        await using replicas = await Replicas.start(kind, here)
        const keys = await underLoad(
          replicas,
          ({ status, text }, request) => {
            expect(status, text).to.equal(request === 'read' ? 200 : 201)
            return 'done'
          },
          (more) => replicas.inTurn((service) => service.stop(), more)
        )
        const stored = await replicas.orders()
        expect(keys.filter((key) => stored.get(key) !== 1)).to.deep.equal([])
        expect(keys).not.to.be.empty
      })
    } else if (isSoak) {
      it('killed in turn cost no read, and a create with a key is done once', async () => {
        await using replicas = await Replicas.start(kind, processes)
        const keys = await underLoad(
          replicas,
          ({ status, text }, request) => {
            if (request === 'read') expect(status, text).to.equal(200)
            else if (status !== 201) {
              expect(JSON.parse(text), text)
                .property('code')
                .is.oneOf(['upstream.unavailable', 'idempotency.in-flight'])
              return 'again'
            }
            return 'done'
          },
          (more) => replicas.inTurn((service) => service.kill(), more)
        )
        const stored = await replicas.orders()
        expect(keys.filter((key) => stored.get(key) !== 1)).to.deep.equal([])
        expect(keys).not.to.be.empty
      })
    }
  })
)
