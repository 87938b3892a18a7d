import type { Entity } from '../../data-service/entity/entity.js'
import type { Column } from '../../data-service/entity/fields/columns.js'
import type { LiveColumn, LiveIndex, LiveTable } from './live-schema.js'

// Full-text indexes of live tables. One that a migration made is of a generated column with the texts of all columns.

/** The columns that `searchable: fullText(…)` names, in its order. */
export function searchedColumns({ searchable, columns }: Entity): readonly Column[] {
  return searchable.flatMap((name) => columns.find((one) => one.name === name) ?? [])
}

/** What a full-text index is of, and the names of the columns whose words are in it. */
interface IndexedTexts {
  readonly of: readonly LiveColumn[]
  readonly texts: readonly string[]
  /** The generated column of a migration, if it is of one. */
  readonly copy?: LiveColumn
}

/**
 * `concat_ws(' ',…)` without the names of columns, as a migration writes it and a server shows it. The server converts texts of
 * several character sets.
 */
const ALL_TEXTS = /^concat_ws\((?:_\w+)?' '(?:, *(?:convert\( using \w+\))?)*\)$/i

export function indexedTexts({ columns }: LiveTable, { fullText, keys }: LiveIndex): IndexedTexts | undefined {
  if (fullText !== true) return undefined
  const of = keys.flatMap(({ column }) => columns.find(({ name }) => name === column) ?? [])
  const [copy] = of
  const expression = copy?.generated?.expression
  if (of.length > 1 || expression === undefined || !ALL_TEXTS.test(expression.replaceAll(/`[^`]*`/g, ''))) {
    return { of, texts: of.map(({ name }) => name) }
  }
  const texts = (expression.match(/`[^`]*`/g) ?? []).map((name) => name.slice(1, -1))
  return { of, texts, ...(copy === undefined ? {} : { copy }) }
}

/**
 * The columns of a full-text index that finds every word of these columns. In a collation that tells accents apart it would
 * not find all words with a beginning, and only InnoDB leaves out no more words than statements expect.
 */
export function fullTextIndex(table: LiveTable, searched: readonly Column[]): readonly string[] | undefined {
  if (table.withoutTransactions !== undefined) return undefined
  const inOrder = (names: readonly string[]): string =>
    names
      .map((name) => name.toLowerCase())
      .toSorted()
      .join('`')
  const wanted = inOrder(searched.map(({ column }) => column))
  return table.indexes
    .flatMap((index) => indexedTexts(table, index) ?? [])
    .find(
      ({ of, texts }) =>
        inOrder(texts) === wanted && of.every(({ collation = '' }) => !/_(?:[ac]s|bin)(?:_|$)/.test(collation))
    )
    ?.of.map(({ name }) => name)
}
