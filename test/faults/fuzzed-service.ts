import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import { STORE } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import { randomNumbers } from '../runner/random.js'
import { listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { descriptors, holdsNoMore } from './fuzz.js'
import { sendSequence } from './grpc-fuzzer.js'

/** Milliseconds for a call, which must have a deadline. The timeout of the test is shorter. */
const NEVER_LATE = 3_600_000
/** Exports that open what stays open. */
const EXPORTS = 32
/**
 * Connections to a database file that are kept for the next exports and long reads, of which nobody knows when they are opened:
 * those of 8 exports of anonymous callers, and of two threads. After a thread has ended, SQLite keeps its descriptor for
 * the next one while another connection to the file is open.
 */
const KEPT_CONNECTIONS = 10

/** A data service, what it answered before anything was sent to it, and what it held open then. */
export class FuzzedService implements AsyncDisposable {
  readonly #service: ServiceProcess
  readonly #port: number
  readonly #dispose: () => Promise<void>
  #answer = ''
  #held: ReadonlyMap<string, number> = new Map()

  private constructor(service: ServiceProcess, port: number, dispose: () => Promise<void>) {
    this.#service = service
    this.#port = port
    this.#dispose = dispose
  }

  static async start(): Promise<FuzzedService> {
    const database = await storeDatabase('sqlite', 'fixture')
    const dataDir = await mkdtemp(join(tmpdir(), 'fuzz-'))
    const service = startProcess(STORE, {
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      SAMPLE_DATA: 'false',
      OWNER_BYPASS_ROLE: 'Admin'
    })
    const port = Number((await listening(service, 'address')).split(':')[1])
    const fuzzed = new FuzzedService(service, port, async () => {
      await service.stop()
      await database.dispose()
      await rm(dataDir, { recursive: true, force: true })
    })
    fuzzed.#answer = await fuzzed.#called()
    const before = descriptors(service.pid)
    await fuzzed.#exported()
    const file = database.url.replace(/^sqlite:/, '')
    const kept = [file, `${file}-wal`].map((one) => [one, (before.get(one) ?? 0) + KEPT_CONNECTIONS] as const)
    fuzzed.#held = new Map([...descriptors(service.pid), ...kept])
    return fuzzed
  }

  get pid(): number {
    return this.#service.pid
  }

  /** One sequence of a kind, which the seed decides alone. */
  send(kind: string, seed: number): Promise<void> {
    return sendSequence(this.#port, kind, randomNumbers(seed))
  }

  /** It answers as before, has logged nothing unforeseen, and holds nothing of clients that have gone. */
  async expectAsBefore(): Promise<void> {
    expect(await this.#called()).to.equal(this.#answer)
    // Calls end within their deadline, sessions that broke the protocol with the next ping.
    await holdsNoMore(this.#service.pid, this.#held)
    const unforeseen = this.#service.logs().filter(({ level, text }) => level === 'error' || text !== undefined)
    expect(unforeseen.slice(0, 5)).to.deep.equal([])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose()
  }

  /** A call as any client makes it, on a connection of its own. It waits its turn behind what was sent before. */
  #called(): Promise<string> {
    const client = this.#client()
    return new Promise((resolve, reject) => {
      client.get({ resource: 'products', id: '1' }, { deadline: Date.now() + NEVER_LATE }, (error, answer) => {
        client.close()
        if (error !== null) reject(error)
        else resolve(String(answer?.record?.json))
      })
    })
  }

  /** Opens what stays open. */
  async #exported(): Promise<void> {
    const client = this.#client()
    const one = (): Promise<void> =>
      new Promise((resolve) => {
        client
          .export({ resource: 'products', idleTimeoutMs: 5000 })
          .on('error', () => {})
          .on('status', () => resolve())
          .resume()
      })
    await Promise.all(Array.from({ length: EXPORTS }, one))
    client.close()
  }

  #client() {
    // The definition loaded here is what the generated types describe.
    const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    return new entity.v1.EntityService(`127.0.0.1:${this.#port}`, credentials.createInsecure())
  }
}
