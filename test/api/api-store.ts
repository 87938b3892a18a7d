import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachDatabase, freshDatabase, type DatabaseKind, type FreshDatabase } from '../harness/database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { expectProblem, type ExpectedProblem, type Problem } from './expect-problem.js'
import { insertFixture } from './fixture.js'
import { call, type Answer, type CallOptions } from './http-call.js'

interface Running {
  readonly database: FreshDatabase
  readonly stack: Stack
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
    const database = await freshDatabase(this.kind)
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const stack = await startStack({
      database,
      env: { DATA_DIR: dataDir, SAMPLE_DATA: String(options.rows === 'sample'), ...options.env?.(database) }
    })
    this.#running = { database, stack, dataDir }
    if (options.rows === undefined) await insertFixture({ database: database.url, reviews: database.reviewsUrl })
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

  /** As one of the sample accounts: `ada`, `ben`, `clerk`, `admin`, `nobody`. */
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

interface ApiOptions {
  /** Settings beside those of every test. */
  readonly env?: (database: FreshDatabase) => Readonly<Record<string, string>>
  /** Absent: the rows of fixture.ts. */
  readonly rows?: 'sample' | 'none'
  /** Absent: both. For what no database has a part in, one is enough. */
  readonly on?: DatabaseKind
}

/** A suite on both databases, with one stack for each. */
export function describeApi(title: string, body: (store: ApiStore) => void, options: ApiOptions = {}): void {
  eachDatabase((kind) => {
    if (options.on !== undefined && options.on !== kind) return
    describe(`${title} on ${kind}`, function () {
      this.timeout(60_000)
      const store = new ApiStore(kind)
      before(() => store.start(options))
      after(() => store.stop())
      body(store)
    })
  })
}
