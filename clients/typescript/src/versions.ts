/** What is remembered; the version that has not been used longest goes first. */
const MOST = 10_000

/** The versions of the rows that were read, as entity tags, by resource and id. */
export class Versions {
  readonly #tags = new Map<string, string>()

  get(resource: string, id: unknown): string | undefined {
    return this.#tags.get(keyOf(resource, id))
  }

  /** Takes the version of each row that has one and an id. */
  remember(resource: string, rows: readonly unknown[]): void {
    for (const row of rows) {
      const tag = tagOf(row)
      if (tag !== undefined) this.#set(resource, (row as { readonly id?: unknown }).id, tag)
    }
  }

  forget(resource: string, id: unknown): void {
    this.#tags.delete(keyOf(resource, id))
  }

  #set(resource: string, id: unknown, tag: string): void {
    if (id === undefined) return
    const key = keyOf(resource, id)
    this.#tags.delete(key)
    this.#tags.set(key, tag)
    const [oldest] = this.#tags.keys()
    if (this.#tags.size > MOST && oldest !== undefined) this.#tags.delete(oldest)
  }
}

/** The entity tag of a row; undefined for a row that was read without its version. */
export function tagOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null || !('rowVersion' in row)) return undefined
  const { rowVersion } = row
  return typeof rowVersion === 'string' && rowVersion !== '' ? `W/"${rowVersion}"` : undefined
}

/** The `rowVersion` of a weak entity tag. */
export function versionIn(tag: string): string {
  return tag.slice(3, -1)
}

function keyOf(resource: string, id: unknown): string {
  return `${resource}/${String(id)}`
}
