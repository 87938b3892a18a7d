import { call, type Answer, type CallOptions } from '../api/http-call.js'
import { ADMIN, type Caller } from '../every-entity/caller.js'
import { TokenMint } from '../stack/token-mint.js'
import { type DatabaseKind, eachDatabase, type FreshDatabase, freshDatabase } from '../harness/database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'

type Claims = Readonly<Record<string, unknown>>

/** A gateway and a data service that serves the library, over a database of their own. */
export class LibraryStore {
  readonly #mint = new TokenMint()
  readonly #callers = new Map<Claims, Caller>()
  #running: { readonly database: FreshDatabase; readonly stack: Stack; readonly sql: TestDatabase } | undefined

  /** Past the service. */
  get sql(): TestDatabase {
    return this.#get().sql
  }

  get stack(): Stack {
    return this.#get().stack
  }

  get databaseUrl(): string {
    return this.#get().database.url
  }

  async start(kind: DatabaseKind, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const database = await freshDatabase(kind)
    const app = 'test/library'
    const settings = { SAMPLE_DATA: 'false', ...(await this.#mint.settings()), ...env }
    const stack = await startStack({ database, app, env: settings })
    this.#running = { database, stack, sql: await openTestDatabase(database.url) }
  }

  async stop(): Promise<void> {
    await using _mint = this.#mint
    if (this.#running === undefined) return
    const { database, stack, sql } = this.#running
    await sql.close()
    await stack.stop()
    await database.dispose()
  }

  /** With a token of these claims, or without any. */
  as(claims: Claims | undefined, target: string, options: CallOptions = {}): Promise<Answer> {
    return call(this.stack.url, target, { ...options, token: claims && this.#mint.of(this.#callerOf(claims)) })
  }

  /** An access token of these claims. */
  tokenOf(claims: Claims): string {
    const token = this.#mint.of(this.#callerOf(claims))
    if (token === undefined) throw new Error('These claims are nobody')
    return token
  }

  /** Claims that come again are the same caller, whose token is signed once. */
  #callerOf(claims: Claims): Caller {
    const caller = this.#callers.get(claims) ?? { ...ADMIN, claims }
    this.#callers.set(claims, caller)
    return caller
  }

  #get() {
    if (this.#running === undefined) throw new Error('The stack runs within tests and hooks alone')
    return this.#running
  }
}

/** A suite over the library on both databases. */
export function describeLibrary(title: string, body: (store: LibraryStore, kind: DatabaseKind) => void): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, function () {
      this.timeout(60_000)
      const store = new LibraryStore()
      before(() => store.start(kind))
      after(() => store.stop())
      body(store, kind)
    })
  })
}
