import { DATABASE_KINDS, type DatabaseKind, freshDatabase as freshOne } from '../stack/databases.js'

export type { DatabaseKind } from '../stack/databases.js'

/** Two empty databases of the store that nobody else uses. */
export interface FreshDatabase {
  readonly kind: DatabaseKind
  /** For DATABASE_URL. */
  readonly url: string
  /** For REVIEWS_DATABASE_URL. */
  readonly reviewsUrl: string
  /** Removes both. */
  dispose(): Promise<void>
}

/**
 * Declares the same tests for each kind of database: `eachDatabase((kind) => describe(`export on ${kind}`, …))`. Without a
 * MySQL server they fail: `npm test` starts one. TEST_DATABASE names the only kind of a run that makes do with one.
 */
export function eachDatabase(define: (kind: DatabaseKind) => void): void {
  const only = process.env['TEST_DATABASE']
  for (const kind of DATABASE_KINDS) if (only === undefined || kind === only) define(kind)
}

/** Makes two empty databases. Throws for mysql if there is no TEST_MYSQL_URL, which `npm test` sets. */
export async function freshDatabase(kind: DatabaseKind): Promise<FreshDatabase> {
  const [first, reviews] = [await freshOne(kind), await freshOne(kind)]
  return {
    kind,
    url: first.url,
    reviewsUrl: reviews.url,
    dispose: async () => {
      await first.dispose()
      await reviews.dispose()
    }
  }
}
