import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Answer, call, json } from '../api/http-call.js'
import { runCommand } from '../harness/command.js'
import type { DatabaseKind } from '../harness/database.js'
import { dataServiceOf } from '../harness/stack.js'
import type { RawRow } from '../oracle/test-database.js'
import { outputRoot } from '../harness/package-root.js'
import { startDataServiceHere } from '../stack/in-process.js'
import type { Server } from '../stack/server-log.js'
import { listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { ROW_VERSION_SECRET } from '../stack/stack.js'
import { TokenMint } from '../stack/token-mint.js'
import { LibraryStore } from './describe-library.js'
import { FILE_SETTING, type Handled } from './parcels.js'

type Settings = Readonly<Record<string, string>>

const LIBRARY = 'test/library'
const LIBRARIAN = { sub: 'lena', role: 'Librarian' }
const TIMEOUT_MS = 40_000

/** The library with a handler that writes a line for each delivery, and any number of further data services. */
export class OutboxService {
  readonly #store = new LibraryStore()
  readonly #mint = new TokenMint()
  readonly #further: Server[] = []
  readonly #replicas: ServiceProcess[] = []
  /** Behind the gateway, where it has a process of its own. */
  #process: ServiceProcess | undefined
  #folder = ''
  #env: Settings = {}
  #parcels = 0

  /** Starts gateway and data service in this process. */
  async start(kind: DatabaseKind, env: Settings): Promise<void> {
    await this.#prepare(env)
    await this.#store.start(kind, this.#env)
    await this.#makeDepots()
  }

  /** Starts them in processes of their own. */
  async startProcesses(kind: DatabaseKind, env: Settings): Promise<void> {
    await this.#prepare(env)
    this.#process = (await this.#store.startProcesses(kind, this.#env)).dataService
    await this.#makeDepots()
  }

  async #prepare(env: Settings): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'outbox-'))
    const keys = await this.#mint.settings(this.#folder)
    this.#env = { ...keys, ROW_VERSION_SECRET, ...env, [FILE_SETTING]: this.#file }
    // What runs in this process reads it here.
    process.env[FILE_SETTING] = this.#file
  }

  async #makeDepots(): Promise<void> {
    for (const name of ['North', 'South']) await this.send('POST', '/depots', { name })
  }

  async stop(): Promise<void> {
    for (const one of this.#further.splice(0)) await one.stop()
    await this.#store.stop()
    Reflect.deleteProperty(process.env, FILE_SETTING)
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #file(): string {
    return join(this.#folder, 'handled')
  }

  /** All that the data service behind the gateway has logged so far, and will. */
  get dataService(): Server {
    return this.#process ?? this.#store.stack.dataService
  }

  /** The process behind the gateway. */
  get process(): ServiceProcess {
    if (this.#process === undefined) throw new Error('The data service has no process of its own')
    return this.#process
  }

  /** A further data service over the same database, with other settings besides, in this process. */
  async startBeside(more: Settings = {}, deps: Parameters<typeof startDataServiceHere>[2] = {}): Promise<void> {
    const settings = { ...this.#replicaSettings('127.0.0.1:0'), ...more }
    const { server } = await startDataServiceHere(join(outputRoot, LIBRARY), settings, deps)
    this.#further.push(server)
  }

  /** A further data service over the same database, in a process of its own. */
  async startReplica(): Promise<ServiceProcess> {
    const replica = await this.#startProcess('127.0.0.1:0')
    this.#replicas.push(replica)
    return replica
  }

  /** Starts a data service where one has ended. Resolves when the gateway has found it. */
  async startAgain(): Promise<void> {
    this.#process = await this.#startProcess(this.#store.stack.dataAddress)
    await this.until('an answer', async () => (await this.send('GET', '/depots/1')).status === 200)
  }

  async #startProcess(address: string): Promise<ServiceProcess> {
    const started = startProcess(dataServiceOf(LIBRARY), this.#replicaSettings(address))
    this.#further.push(started)
    await listening(started, 'address')
    return started
  }

  #replicaSettings(address: string): Settings {
    return {
      ...this.#env,
      DATA_DIR: join(this.#folder, `replica-${this.#further.length}`),
      DATABASE_URL: this.#store.databaseUrl,
      SAMPLE_DATA: 'false',
      OWNER_BYPASS_ROLE: 'Admin',
      DATA_SERVICE_ADDRESS: address
    }
  }

  /** What `uniform-rest` prints; its arguments are these and the application. Rejects with what went wrong. */
  async command(...args: readonly string[]): Promise<string> {
    const env = { DATABASE_URL: this.#store.databaseUrl, DATA_DIR: this.#folder }
    const { code, stdout, stderr } = await runCommand([...args, '--app', join(outputRoot, LIBRARY)], { env })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  async send(method: string, target: string, body?: object, headers: object = {}): Promise<Answer> {
    return call(this.#store.stack.url, target, {
      method,
      alone: true,
      token: this.#mint.sign(LIBRARIAN),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  }

  async create(note: string | null, headers: object = {}): Promise<{ readonly id: number; readonly etag: string }> {
    const body = { code: `O-${++this.#parcels}`, depotId: 1, note }
    const made = await this.send('POST', '/parcels', body, headers)
    expect(made.status, made.text).to.equal(201)
    return { id: (json(made) as { id: number }).id, etag: made.headers.etag ?? '' }
  }

  async callBack(id: number, note: string, etag: string): Promise<string> {
    const answer = await this.send('PUT', `/parcels/${id}/call-back`, { note }, { 'if-match': etag })
    expect(answer.status, answer.text).to.equal(200)
    return answer.headers.etag ?? ''
  }

  /** What the handlers told so far, in order, of one parcel or of all. */
  handled(id?: number): readonly Handled[] {
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1)
    // Only the handler writes them.
    const all = lines.map((line) => JSON.parse(line) as Handled)
    return id === undefined ? all : all.filter(({ rowId }) => rowId === String(id))
  }

  /** The process ids of the replicas that are not among those that still run. */
  killed(running: readonly ServiceProcess[]): number[] {
    return this.#replicas.filter((one) => !running.includes(one)).map(({ pid }) => pid)
  }

  /** Ends what processes have claimed, as the time does that their leases last. */
  async endLeases(): Promise<void> {
    await this.select('UPDATE ur_outbox SET due_at = 0 WHERE lease IS NOT NULL')
  }

  /** Ends `block <name>` of the handler. */
  unblock(name: string): void {
    writeFileSync(`${this.#file}.${name}`, '')
  }

  /** The rows of the outbox by hand-written SQL. */
  rows(where = '1 = 1'): Promise<RawRow[]> {
    return this.select(`SELECT * FROM ur_outbox WHERE ${where} ORDER BY id`)
  }

  select(sql: string): Promise<RawRow[]> {
    return this.#store.sql.run(sql)
  }

  async until(what: string, condition: () => boolean | Promise<boolean>, timeout = TIMEOUT_MS): Promise<void> {
    const end = performance.now() + timeout
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`Not within ${timeout} ms: ${what}`)
      await sleep(20)
    }
  }

  /** Waits until nothing waits in the outbox. */
  async settled(timeout = TIMEOUT_MS): Promise<void> {
    await this.until('an empty outbox', async () => (await this.rows('due_at IS NOT NULL')).length === 0, timeout)
  }
}

/**
 * Holds the lines of the handlers against what an outbox promises: the deliveries of one row never overlap, and each
 * delivery of a row is of its oldest event that has not ended yet. A handler of a process that was `killed` may have ended
 * without a line, or without that its event was marked as delivered.
 */
export function expectOrderPerRow(
  lines: readonly Handled[],
  ordered: readonly RawRow[],
  killed: ReadonlySet<number> = new Set()
): void {
  const waiting = new Map<string, string[]>()
  for (const row of ordered) {
    const of = waiting.get(String(row['row_id'])) ?? []
    waiting.set(String(row['row_id']), [...of, String(row['event_id'])])
  }
  const running = new Map<string, Handled>()
  const last = new Map<string, Handled>()
  for (const line of lines) {
    const { rowId, id, phase } = line
    const before = last.get(rowId)
    if (phase === 'begin') {
      const other = running.get(rowId)
      if (other !== undefined && !killed.has(other.pid)) expect.fail(`two handlers at once for ${rowId}`)
      const isRepeated = before?.id === id && killed.has(before.pid)
      if (!isRepeated) expect(id, `the order of ${rowId}`).to.equal(waiting.get(rowId)?.[0])
      running.set(rowId, line)
    } else {
      running.delete(rowId)
      if (phase === 'end' && waiting.get(rowId)?.[0] === id) waiting.get(rowId)?.shift()
    }
    last.set(rowId, line)
  }
}
