import { join } from 'node:path'
import { call, type Answer, type CallOptions } from '../api/http-call.js'
import { type DatabaseKind, eachDatabase } from '../harness/database.js'
import { type Variants, VARIANTS } from '../harness/variant.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { copiedDatabases } from '../harness/copied-database.js'
import type { FreshDatabase } from '../stack/databases.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { type Stack, type StackOptions, startProcesses, startStack } from '../stack/stack.js'

type Settings = Readonly<Record<string, string>>
type Claims = Readonly<Record<string, unknown>>

export const LIBRARIAN: Claims = { role: 'Librarian', sub: 'x' }

function optionsOver(database: { readonly url: string }, env: Settings): StackOptions {
  return {
    app: join(outputRoot, 'test/library'),
    database,
    env: { OWNER_BYPASS_ROLE: 'Admin', DOCS_PUBLIC: 'true', ...env }
  }
}

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

  async start(kind: DatabaseKind, env: Settings = {}): Promise<void> {
    await this.#start(kind, (database) => startStack(optionsOver(database, env)))
  }

  /** Starts gateway and data service in processes of their own, and answers them. */
  startProcesses(kind: DatabaseKind, env: Settings): Promise<Stack<ServiceProcess>> {
    return this.#start(kind, (database) => startProcesses(optionsOver(database, env)))
  }

  async #start<S extends Stack>(kind: DatabaseKind, begin: (database: FreshDatabase) => Promise<S>): Promise<S> {
    const [database] = await copiedDatabases(kind, { name: 'library' }, async ([url = '']) => {
      const empty = await startStack(optionsOver({ url }, {}))
      await empty.stop()
    })
    if (database === undefined) throw new TypeError('One database was asked for')
    const stack = await begin(database)
    this.#running = { database, stack, sql: await openTestDatabase(database.url) }
    return stack
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

  /** A write of a librarian: a merge patch with PATCH. `tag` is its If-Match. */
  write(method: string, target: string, body: unknown, tag?: string | null): Promise<Answer> {
    return this.as(LIBRARIAN, target, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(typeof tag === 'string' ? { 'if-match': tag } : {})
      },
      body: JSON.stringify(body)
    })
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
export function describeLibrary(
  title: string,
  body: (store: LibraryStore, kind: DatabaseKind) => void,
  { on }: Pick<Variants, 'on'> = {}
): void {
  // Stacks of the library have no variants.
  const variants: Variants = { ...(on === undefined ? {} : { on }), never: VARIANTS }
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, () => {
      const store = new LibraryStore()
      before(() => store.start(kind))
      after(() => store.stop())
      body(store, kind)
    })
  }, variants)
}
