import type { Entity } from '../../entity/entity.js'
import type { PagePlan, Position, RowsPlan, SortKey } from '../../plan/model/plans.js'
import type { LoadedRow, PageResult } from '../../plan/model/stores.js'
import { boundValues, isCountedAlong, type RowCondition, type ScopedConditions } from './statements/conditions.js'
import type { CountShape } from './statements/select-text.js'
import { AnswerBytes } from '../engines/answer-bytes.js'
import type { ReadSession } from '../engines/sessions.js'
import type { BoundValues, FoundRow, ShownStatement } from '../engines/statement.js'
import {
  anyOfRanges,
  exactKeys,
  exactOrder,
  type Ranges,
  rangesBehind,
  reversed,
  sortKeyOf
} from './statements/keyset.js'
import { idText, isKeyed } from '../../entity/key.js'
import { IncludedRows, unlessTooLarge } from './included-rows.js'
import { keyPaths, keyReader, neededPaths, type Selection, selectionOf, type Source, valueAt } from './navigations.js'
import { RowNavigations } from './row-navigations.js'
import { SharedKey } from './shared-keys.js'

interface Cut {
  readonly conditions: ScopedConditions
  readonly sort: readonly SortKey[]
  /** Reads only the rows in these ranges (keyset.ts). */
  readonly ranges?: Ranges
  readonly limit?: number
  /** How many of the rows are beside the page: they only tell whether it has neighbours. */
  readonly beside?: number
  readonly offset?: number
  /** The statement also counts the rows that meet the conditions. */
  readonly total?: RowsCounted
  /** Rows that are read by their keys, each for an answer of its own: too many bytes of them reject with AnswerTooLarge. */
  readonly rows?: number
  /** The parameter by which a caller gets a smaller answer. Default: `pageSize`. */
  readonly parameter?: 'pageSize' | 'fields'
}

interface CountedRows {
  readonly rows: readonly FoundRow[]
  /** Whether each row is an answer of its own. */
  readonly isOfSeveral?: boolean
  /** Those of the whole answer; undefined where they are read for a write. */
  readonly bytes: AnswerBytes | undefined
}

/** The rows of a page. Their navigations are loaded one after another. */
export class LoadedPage {
  readonly #plan: RowsPlan
  readonly #selection: Selection
  readonly #rows: readonly FoundRow[]
  readonly #bytes: AnswerBytes | undefined
  readonly #navigations: RowNavigations

  private constructor(plan: RowsPlan, selection: Selection, { rows, bytes, isOfSeveral = false }: CountedRows) {
    this.#plan = plan
    this.#selection = selection
    this.#rows = rows
    this.#bytes = bytes
    this.#navigations = new RowNavigations(
      {
        entity: plan.entity,
        navigations: plan,
        rows,
        repeated: [],
        keyOf: (paths) => keyReader(selection, paths),
        shown: selection.shown
      },
      { included: new IncludedRows(bytes), isOfSeveral }
    )
  }

  static async load(session: ReadSession, source: Source, of: { plan: RowsPlan; cut: Cut }): Promise<LoadedPage> {
    const { plan, cut } = of
    const { sort, ranges = [], limit, beside = 0, offset, total } = cut
    // Cursors are made of the sort keys, and rows without a key have none.
    const needed = [...neededPaths(plan.references), ...(isKeyed(plan.entity) ? sort.map(({ path }) => path) : [])]
    const selection = selectionOf(plan.entity, plan.projection, needed)
    const { statements, dialect, memory } = source
    const values = boundValues([...cut.conditions, ...anyOfRanges(ranges)], dialect)
    if (limit !== undefined) values['limit'] = BigInt(limit)
    if (offset !== undefined) values['offset'] = BigInt(offset)
    if (total !== undefined) Object.assign(values, total.values)
    const shape = {
      entity: plan.entity,
      selected: selection.selected,
      selectedKey: selection.selectedKey,
      conditions: cut.conditions,
      sort,
      ranges,
      ...(total === undefined ? {} : { total: total.upTo }),
      byIndex: true,
      cut: limit === undefined ? 'whole' : offset === undefined ? 'limit' : 'limit and offset'
    } as const
    const bytes = memory && new AnswerBytes(memory)
    const readCounted = async (statement: ShownStatement, counted: AnswerBytes): Promise<readonly FoundRow[]> => {
      const found = await session.rows(statement, values, counted)
      // One row is answered whatever its size, and the row of a cursor may be read before it.
      if (limit !== undefined && found.length < limit && found.length > beside) counted.countLast()
      return found
    }
    const read = (): Promise<readonly FoundRow[]> => {
      const statement = statements.rows(shape)
      const counted = bytes?.ifNeeded(limit ?? cut.rows ?? 1, statement.width, beside)
      const found = counted === undefined ? session.rows(statement, values) : readCounted(statement, counted)
      return cut.rows === undefined ? unlessTooLarge(cut.parameter ?? 'pageSize', found) : found
    }
    const rows = await statements.byIndexes(read)
    return new LoadedPage(plan, selection, { rows, bytes, isOfSeveral: (cut.rows ?? 1) > 1 })
  }

  /** The number of rows that meet the conditions, as far as they were counted. undefined if it was not counted, or if the page has no row to show it. */
  get total(): number | undefined {
    const total = this.#rows[0]?.value(this.#selection.selected.length) ?? null
    return total === null ? undefined : Number(total)
  }

  get length(): number {
    return this.#rows.length
  }

  /** A page of some of the rows, without loaded navigations. */
  slice(from: number, to: number): LoadedPage {
    return new LoadedPage(this.#plan, this.#selection, { rows: this.#rows.slice(from, to), bytes: this.#bytes })
  }

  /** A page of the rows from the last to the first, without loaded navigations. */
  reversed(): LoadedPage {
    return new LoadedPage(this.#plan, this.#selection, { rows: this.#rows.toReversed(), bytes: this.#bytes })
  }

  /** The sort keys of one row; undefined for no such row. As with `at`, -1 is the last row. */
  keysAt(index: number, sort: readonly SortKey[]): Position['keys'] | undefined {
    const row = this.#rows.at(index)
    return row && sort.map(({ path }) => sortKeyOf(valueAt(this.#selection, path)(row)))
  }

  /** Throws a SharedKey if a row and the next one have the same key: no page can begin or end between them. */
  requireApart(index: number): void {
    const { entity } = this.#plan
    const [one, other] = [this.#rows[index], this.#rows[index + 1]]
    if (one === undefined || other === undefined || !isKeyed(entity)) return
    const keyOf = keyReader(this.#selection, keyPaths(entity))
    const [key, next] = [keyOf(one), keyOf(other)]
    if (key !== undefined && next !== undefined && idText(key) === idText(next)) throw new SharedKey(entity, key)
  }

  /** Loads the navigations that are in the first database. */
  loadNavigations(session: ReadSession, source: Source): Promise<void> {
    return this.#navigations.load(session, source)
  }

  /** Whether there are navigations to load from the second one, once the connection to the first was released. */
  get needsSecond(): boolean {
    return this.#navigations.needsSecond
  }

  loadSecond(session: ReadSession, source: Source): Promise<void> {
    return this.#navigations.loadSecond(session, source)
  }

  rows(): LoadedRow[] {
    return this.#rows.map((row) => this.#navigations.loaded(row))
  }

  /** By the text of their ids. */
  rowsById(): ReadonlyMap<string, LoadedRow> {
    const keyOf = keyReader(this.#selection, keyPaths(this.#plan.entity))
    const byId = new Map<string, LoadedRow>()
    for (const row of this.#rows) {
      const key = keyOf(row)
      if (key === undefined) continue
      const id = idText(key)
      if (byId.has(id)) throw new SharedKey(this.#plan.entity, key)
      byId.set(id, this.#navigations.loaded(row))
    }
    return byId
  }
}

/** The rows of a page, their total, and where to go on in both directions. */
type FoundPage = Omit<PageResult, 'rows'> & { readonly page: LoadedPage }

interface PageOf {
  readonly plan: PagePlan
  /** Those of the plan, in its scope. */
  readonly conditions: ScopedConditions
}

/**
 * Reads the rows of a page. Where it can be had for little, the total comes with them in one statement, so that both are of
 * one state of the database.
 */
export async function readPage(session: ReadSession, source: Source, { plan, conditions }: PageOf): Promise<FoundPage> {
  const { start, withTotal, totalLimit } = plan
  const counted = totalLimit === undefined ? ALL_ROWS : rowsUpTo(totalLimit + 1)
  const isAlong = withTotal && source.dialect.isServer && isCountedAlong(conditions)
  const mayShare = source.sharedKeys?.has(plan.entity.table) === true
  const read: ReadCut = ({ withTotal: isWanted, ...cut }) =>
    LoadedPage.load(session, source, {
      plan,
      cut: { ...cut, conditions, ...(isWanted === true && isAlong ? { total: counted } : {}) }
    })
  const order = exactOrder(plan.sort, plan.entity, source)
  const found =
    start.kind === 'offset'
      ? await readAtOffset(plan, { offset: start.offset, order, mayShare }, read)
      : await readAtCursor(plan, { start, order, mayShare }, read)
  if (!withTotal) return { ...found, total: undefined }
  if (found.total !== undefined) return { ...found, total: Math.min(found.total, (totalLimit ?? Infinity) + 1) }
  return { ...found, total: await countRows(session, source, { entity: plan.entity, conditions, counted }) }
}

/** The number of rows that meet the conditions. */
export async function countRows(
  session: ReadSession,
  { statements, dialect }: Source,
  { entity, conditions, counted = ALL_ROWS }: RowsToCount
): Promise<number> {
  const statement = statements.count(entity, conditions, counted.upTo)
  const [row] = await session.run(statement, { ...boundValues(conditions, dialect), ...counted.values })
  return Number(row?.[0])
}

interface RowsToCount {
  readonly entity: Entity
  readonly conditions: readonly RowCondition[]
  readonly counted?: RowsCounted
}

/** How many rows are counted, with what a statement binds for it. */
interface RowsCounted {
  readonly upTo: CountShape['upTo']
  readonly values: BoundValues
}

const ALL_ROWS: RowsCounted = { upTo: 'all', values: {} }

function rowsUpTo(count: number): RowsCounted {
  return { upTo: 'totalLimit', values: { totalLimit: BigInt(count) } }
}

type ReadCut = (cut: Omit<Cut, 'conditions' | 'total'> & { readonly withTotal?: boolean }) => Promise<LoadedPage>

async function readAtOffset(
  { entity, sort, limit }: PagePlan,
  { offset, order, mayShare }: Readonly<{ offset: number; order: readonly SortKey[]; mayShare: boolean }>,
  read: ReadCut
): Promise<FoundPage> {
  // One row more than the page has tells whether rows follow.
  // Where rows may share a key, pages begin and end between two keys: cursors go on behind all rows of one.
  const before = mayShare && offset > 0 ? 1 : 0
  const beside = 1 + before
  const all = await read({ sort: order, limit: limit + beside, beside, offset: offset - before, withTotal: true })
  if (before > 0) all.requireApart(0)
  const found = before > 0 ? all.slice(1, all.length) : all
  const placeAt = (rows: LoadedPage, index: number): Position | undefined =>
    isKeyed(entity) ? besides(rows.keysAt(index, sort)) : NO_PLACE
  const page = found.slice(0, limit)
  if (mayShare) found.requireApart(limit - 1)
  const isEnd = found.length <= limit && (found.length > 0 || offset === 0)
  return {
    page,
    total: all.total ?? (isEnd ? offset + found.length : undefined),
    next: found.length > limit ? placeAt(page, -1) : undefined,
    // A page past the end has no row whose place a cursor could hold.
    previous: offset === 0 || page.length === 0 ? undefined : placeAt(page, 0)
  }
}

/**
 * The rows that follow or precede a position. The row of the position is read with them: if it is still there, the page
 * has a neighbour in the direction from which it was reached, and only otherwise a further statement has to look for one.
 */
async function readAtCursor(
  { entity, sort, limit }: PagePlan,
  {
    start: { kind, position },
    order,
    mayShare
  }: {
    readonly start: Exclude<PagePlan['start'], { kind: 'offset' }>
    readonly order: readonly SortKey[]
    /** Whether two rows may have the same key. */
    readonly mayShare: boolean
  },
  read: ReadCut
): Promise<FoundPage> {
  const ahead = kind === 'after' ? order : reversed(order)
  const back = reversed(ahead)
  const through = (
    way: readonly SortKey[],
    at: Position['keys'],
    { isThrough = true, ...cut }: Pick<Cut, 'limit' | 'beside'> & Readonly<{ withTotal?: boolean; isThrough?: boolean }>
  ): Promise<LoadedPage> => {
    const ranges = rangesBehind(way, { keys: exactKeys(at, { sort, order }), through: isThrough })
    return read({ ...cut, sort: way, ranges })
  }
  // All rows with the key of the position were on its page.
  const isThrough = !mayShare || position.includesRow
  const found = await through(ahead, position.keys, { limit: limit + 2, beside: 2, withTotal: true, isThrough })
  const isOfKey = ({ path }: SortKey): boolean => path.through === null && entity.key.includes(path.column)
  const head = found.keysAt(0, sort)
  const isThere =
    !position.includesRow &&
    head !== undefined &&
    sort.every((one, at) => !isOfKey(one) || head[at] === position.keys[at])
  const others = isThere ? found.slice(1, found.length) : found
  const rows = others.slice(0, limit)
  if (mayShare) others.requireApart(limit - 1)
  const first = rows.keysAt(0, sort)
  const isBesideFirst = first !== undefined && !mayShare
  const behind = { limit: 2, beside: 2, isThrough: first === undefined || !mayShare }
  const hasBack = isThere || (await through(back, first ?? position.keys, behind)).length > (isBesideFirst ? 1 : 0)
  const onward = others.length > limit ? besides(rows.keysAt(-1, sort)) : undefined
  const backward = hasBack ? (besides(first) ?? { keys: position.keys, includesRow: true }) : undefined
  return kind === 'after'
    ? { page: rows, total: found.total, next: onward, previous: backward }
    : { page: rows.reversed(), total: found.total, next: backward, previous: onward }
}

/** Tells that there are further rows, of which none can be named. */
const NO_PLACE: Position = { keys: [], includesRow: false }

/** The position at a row that the page has shown already. */
function besides(keys: Position['keys'] | undefined): Position | undefined {
  return keys && { keys, includesRow: false }
}
