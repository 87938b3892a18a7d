import { expect } from 'chai'
import { eachDatabase, type DatabaseKind, type FreshDatabase } from '../../harness/database.js'
import { type Mesh, startMesh } from '../../harness/mesh.js'
import { storeDatabase } from '../../harness/store-database.js'
import { expectProblem, type ExpectedProblem } from '../expect-problem.js'
import { call, type Answer } from '../http-call.js'
import { sendTo, type Write } from './send.js'

interface Running {
  readonly database: FreshDatabase
  readonly mesh: Mesh
}

interface WritersOptions {
  /** Whether gateways and data services have processes of their own. Absent: they run in that of the test. */
  readonly processes?: boolean
}

/** Clients of two gateways, each with a data service of its own, over one database that holds the fixture's rows. */
export class Writers {
  readonly kind: DatabaseKind
  #running: Running | undefined

  constructor(kind: DatabaseKind) {
    this.kind = kind
  }

  get databaseUrl(): string {
    return this.#get().database.url
  }

  async start({ processes = false }: WritersOptions): Promise<void> {
    const database = await storeDatabase(this.kind, 'fixture')
    const mesh = await startMesh({ database, gateways: 2, services: 2, inPairs: true, processes })
    this.#running = { database, mesh }
  }

  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.mesh[Symbol.asyncDispose]()
    await running?.database.dispose()
  }

  /**
   * `ada POST /orders` by the n-th client: the gateways take turns. What a slow machine refuses because too many writes wait
   * is sent again, as clients do.
   */
  async send(n: number, line: string, write: Write = {}): Promise<Answer> {
    const [account = '', method = '', target = ''] = line.split(' ')
    const token = await this.#get().mesh.token(`${account}@example.com`)
    for (;;) {
      const answer = await sendTo(this.#url(n), { method, target, token }, write)
      if (answer.status !== 503 || !answer.text.includes('Too many writes')) return answer
    }
  }

  /** A public read. */
  read(n: number, target: string): Promise<Answer> {
    return call(this.#url(n), target, { alone: true })
  }

  /** One problem whichever gateway says it. */
  problem(answer: Answer, expected: Omit<ExpectedProblem, 'base'>): void {
    const base = this.#get().mesh.urls.find((url) => answer.text.includes(`"${url}/problems/`))
    expect(base, answer.text).to.be.a('string')
    expectProblem(answer, { ...expected, base: String(base) })
  }

  #url(n: number): string {
    const { urls } = this.#get().mesh
    return urls[n % urls.length] ?? ''
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error('The servers run within tests and hooks alone')
    return this.#running
  }
}

/** A suite on both databases. */
export function describeWriters(title: string, body: (writers: Writers) => void, options: WritersOptions = {}): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, () => {
      const writers = new Writers(kind)
      before(() => writers.start(options))
      after(() => writers.stop())
      body(writers)
    })
  })
}

/** `count` of them at the same time. */
export function together<Result>(count: number, one: (n: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => one(n)))
}
