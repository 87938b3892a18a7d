import { join } from 'node:path'
import { call, type Answer, type CallOptions } from '../api/http-call.js'
import { type DatabaseKind, eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, startStack } from '../stack/stack.js'

type Claims = Readonly<Record<string, unknown>>

/** A gateway and a data service that serves the library, over a database of their own. */
export class LibraryStore {
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
    const stack = await startStack({
      app: join(outputRoot, 'test/library'),
      database,
      env: { OWNER_BYPASS_ROLE: 'Admin', ...env }
    })
    this.#running = { database, stack, sql: await openTestDatabase(database.url) }
  }

  async stop(): Promise<void> {
    if (this.#running === undefined) return
    const { database, stack, sql } = this.#running
    await sql.close()
    await stack.stop()
    await database.dispose()
  }

  /** With a token of these claims, or without any. */
  as(claims: Claims | undefined, target: string, options: CallOptions = {}): Promise<Answer> {
    return call(this.stack.url, target, { ...options, token: claims && this.stack.token(claims) })
  }

  /** An access token of these claims. */
  tokenOf(claims: Claims): string {
    return this.stack.token(claims)
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
