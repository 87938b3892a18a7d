import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { withTestDatabase } from '../test/oracle/test-database.js'
import { startPrivateServer } from '../test/runner/database-server.js'
import { Failure } from '../test/runner/programs.js'

export type DatabaseKind = 'sqlite' | 'mariadb' | 'mariadb-newest' | 'mysql' | 'galera'

/** A database that runs; one node unless it is a cluster. */
export interface Database {
  /** For people: `MariaDB 10.11.9`. */
  readonly label: string
  /** None for SQLite. */
  readonly nodes: readonly { readonly name: string }[]
  /** For a data service that uses the node with this index. */
  urls(node: number): { readonly url: string; readonly reviewsUrl: string }
  /** Rows of the primary database by hand-written SQL, past the service. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** What can be done to it, by name. The result heals it. */
  readonly hurts: Readonly<Record<string, (random: () => number) => Promise<() => Promise<void>>>>
  dispose(): Promise<void>
}

/** Throws a Failure that says what cannot be had. */
export async function startDatabase(
  kind: DatabaseKind,
  { folder }: { readonly folder: string; readonly snapshotIsolation?: boolean }
): Promise<Database> {
  if (kind === 'sqlite') {
    const url = `sqlite:${join(folder, 'store.sqlite')}`
    return {
      label: 'SQLite',
      nodes: [],
      urls: () => ({ url, reviewsUrl: `sqlite:${join(folder, 'reviews.sqlite')}` }),
      query: (sql) => withTestDatabase(url, (database) => database.run(sql)),
      hurts: {},
      dispose: async () => {}
    }
  }
  if (kind !== 'mariadb') throw new Failure(`the campaign does not start ${kind} yet.`)
  const server = await startPrivateServer()
  const admin = await createConnection(server.url)
  for (const name of ['store', 'reviews']) await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  await admin.end()
  const url = `${server.url}/store`
  return {
    label: server.description,
    nodes: [{ name: 'node-1' }],
    urls: () => ({ url, reviewsUrl: `${server.url}/reviews` }),
    query: (sql) => withTestDatabase(url, (database) => database.run(sql)),
    hurts: {
      frozen: async () => {
        await server.freeze()
        return () => server.thaw()
      },
      killed: async () => {
        await server.kill()
        return () => server.restart()
      }
    },
    dispose: () => server.stop()
  }
}
