import { DATABASE_KINDS, type DatabaseKind, freshDatabase as freshOne } from '../stack/databases.js'
import { inVariant, type Variants, VARIANTS } from './variant.js'

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
 * MySQL server they fail: `npm test` starts one. `variants` says what runs besides, and what does not; where TEST_VARIANTS
 * is `all`, all of them run on both.
 */
export function eachDatabase(define: (kind: DatabaseKind) => void, variants?: Variants): void {
  const { on, also = [], never = [] } = variants ?? {}
  const isSoak = process.env['TEST_VARIANTS'] === 'all'
  const only = on ?? (also.length > 0 ? 'mysql' : undefined)
  for (const kind of isSoak || only === undefined ? DATABASE_KINDS : [only]) define(kind)
  const chosen = isSoak && variants !== undefined ? VARIANTS.filter((one) => !never.includes(one)) : also
  for (const variant of chosen) {
    inVariant(variant, () => {
      for (const kind of isSoak ? DATABASE_KINDS : (['sqlite'] as const)) define(kind)
    })
  }
}

/** Makes two empty databases. Throws for mysql if there is no TEST_MYSQL_URL, which `npm test` sets. */
export async function freshDatabase(kind: DatabaseKind): Promise<FreshDatabase> {
  return together(kind, [await freshOne(kind), await freshOne(kind)])
}

/** The two databases of a store as one. */
export function together(
  kind: DatabaseKind,
  [first, reviews]: readonly { readonly url: string; dispose(): Promise<void> }[]
): FreshDatabase {
  if (first === undefined || reviews === undefined) throw new TypeError('A store has two databases')
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
