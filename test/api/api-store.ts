import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachDatabase, type DatabaseKind, type FreshDatabase } from '../harness/database.js'
import { type Stack, startProcesses, startStack } from '../harness/stack.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { storeDatabase, type StoreRows } from '../harness/store-database.js'
import type { Variants } from '../harness/variant.js'
import { expectProblem, type ExpectedProblem, type Problem } from './expect-problem.js'
import { call, type Answer, type CallOptions } from './http-call.js'

interface Running {
  readonly database: FreshDatabase
  readonly stack: Stack
  /** The stack, if it has processes of its own. */
  readonly processes: Stack<ServiceProcess> | undefined
  readonly dataDir: string
}

/** A running gateway and data service over a database of their own. */
export class ApiStore {
  readonly kind: DatabaseKind
  #running: Running | undefined

  constructor(kind: DatabaseKind) {
    this.kind = kind
  }

  get stack(): Stack {
    return this.#get().stack
  }

  /** The stack of a suite with `processes`. */
  get processes(): Stack<ServiceProcess> {
    const { processes } = this.#get()
    if (processes === undefined) throw new TypeError('The suite does not ask for processes')
    return processes
  }

  get database(): FreshDatabase {
    return this.#get().database
  }

  /** DATA_DIR of both processes. */
  get dataDir(): string {
    return this.#get().dataDir
  }

  get url(): string {
    return this.stack.url
  }

  get databaseUrl(): string {
    return this.database.url
  }

  async start(options: ApiOptions): Promise<void> {
    const { rows = 'fixture' } = options
    const database = await storeDatabase(this.kind, rows)
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const env = { DATA_DIR: dataDir, SAMPLE_DATA: String(rows === 'sample'), ...options.env?.(database) }
    const processes = options.processes === true ? await startProcesses({ database, env }) : undefined
    const stack = processes ?? (await startStack({ database, env }))
    this.#running = { database, stack, processes, dataDir }
  }

  async stop(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    await running.stack.stop()
    await running.database.dispose()
    await rm(running.dataDir, { recursive: true, force: true })
  }

  call(target: string, options: CallOptions = {}): Promise<Answer> {
    return call(this.url, target, options)
  }

  /** As one of the sample accounts: `ada`, `ben`, `clerk`, `keeper`, `admin`, `nobody`. */
  async as(account: string, target: string, options: CallOptions = {}): Promise<Answer> {
    return call(this.url, target, { ...options, token: await this.stack.token(`${account}@example.com`) })
  }

  problem(answer: Answer, expected: Omit<ExpectedProblem, 'base'>): Problem {
    return expectProblem(answer, { ...expected, base: this.url })
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error('The stack runs within tests and hooks alone')
    return this.#running
  }
}

interface ApiOptions extends Variants {
  /** Settings beside those of every test. */
  readonly env?: (database: FreshDatabase) => Readonly<Record<string, string>>
  /** Absent: the rows of fixture.ts. */
  readonly rows?: Exclude<StoreRows, 'fixture'>
  /** Whether gateway and data service have processes of their own. Absent: they run in that of the test. */
  readonly processes?: true
}

/** A suite with a stack for each database and variant that it runs with. */
export function describeApi(title: string, body: (store: ApiStore) => void, options: ApiOptions = {}): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, function () {
      // Those that read the server's log of statements wait for each other.
      this.timeout(600_000)
      const store = new ApiStore(kind)
      before(() => store.start(options))
      after(() => store.stop())
      body(store)
    })
  }, options)
}
