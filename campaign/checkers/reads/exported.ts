import type { Exchange } from '../../history.js'
import { csvOf, pathOf } from '../chains.js'
import { faultOfOrder, sortingOf } from './ordered.js'

/** An export that was answered with 200, as far as the order of its rows and its end are concerned. */
export interface Exported {
  readonly id: string
  readonly resource: string
  /** What the names of its rows begin with. */
  readonly prefix: string
  /** What their counts are at least, where it asks for that. */
  readonly least: number | undefined
  readonly sentAt: number
  readonly endedAt: number
  /** In their order; none where they are not shown. */
  readonly ids: readonly number[]
  /** By id, ascending or descending; undefined: by another column. */
  readonly order: 1 | -1 | undefined
  /** Whether it says that it leaves rows out. */
  readonly isCut: boolean
}

/** The cells of an export, which are many: they are looked at once, and not kept. */
export interface Cells {
  /** The names of the columns. */
  readonly header: readonly string[]
  /** Without the marker of a cut. */
  readonly lines: readonly (readonly string[])[]
}

/** undefined for what is no export that was answered. */
export function exportOf(exchange: Exchange): { readonly exported: Exported; readonly cells: Cells } | undefined {
  const { id, request, answer, sentAt, endedAt } = exchange
  const [resource = '', second] = pathOf(exchange)
  if (request.method !== 'GET' || second !== 'export' || answer?.status !== 200) return undefined
  const query = new URL(request.target, 'http://gateway').searchParams
  const [header = [], ...lines] = csvOf(answer.body)
  const isCut = lines.at(-1)?.[0]?.startsWith('# export truncated') === true
  if (isCut) lines.pop()
  const column = header.indexOf('id')
  const isById = (query.get('sortColumn') ?? 'id') === 'id'
  const exported: Exported = {
    id,
    resource,
    prefix: query.get('filters[name].value') ?? '',
    least: query.has('filters[capacity].value') ? Number(query.get('filters[capacity].value')) : undefined,
    sentAt,
    endedAt,
    ids: column === -1 ? [] : lines.map((cells) => Number(cells[column])),
    order: isById ? (query.get('sortDirection') === 'desc' ? -1 : 1) : undefined,
    isCut
  }
  return { exported, cells: { header, lines } }
}

/** The rows of an export by the names of its columns. */
export function recordsOf({ header, lines }: Cells): Readonly<Record<string, string>>[] {
  return lines.map((cells) => Object.fromEntries(header.map((name, n) => [name, cells[n] ?? ''])))
}

/** Whether a row comes after those that a cut export shows; true where that cannot be told. */
export function isBeyond({ isCut, order, ids }: Exported, id: number): boolean {
  const last = ids.at(-1) ?? 0
  return isCut && (order === undefined || order * (id - last) > 0)
}

/** What is wrong with the end of an export and with the order of its rows; each completes `The export r-1 …`. */
export function* faultsOfForm(
  { isCut, prefix, least }: Exported,
  { header, lines }: Cells,
  { request, answer }: Exchange
): Generator<string> {
  const body = answer?.body ?? ''
  if (!body.endsWith('\r\n')) yield 'does not end with a line break'
  if (lines.at(-1)?.[0]?.startsWith('# export incomplete') === true) {
    yield 'says that it is incomplete, and its answer ends as a whole one does'
  }
  const limit = Number(answer?.headers['x-export-row-limit'] ?? Number.NaN)
  if (!(limit > 0)) {
    yield 'has no X-Export-Row-Limit'
    return
  }
  const marker = `# export truncated at ${limit} rows${','.repeat(header.length - 1)}\r\n`
  if (isCut && !body.endsWith(`\r\n${marker}`)) yield `is cut and does not end with ${JSON.stringify(marker)}`
  if (isCut ? lines.length !== limit : lines.length > limit) {
    yield `shows ${lines.length} rows where ${limit} are the most, and says ${isCut ? 'that it is' : 'nothing of being'} cut`
  }
  const columns = new Map(header.map((name, n) => [name, n]))
  const cellOf = (cells: readonly string[], name: string): string | undefined => cells[columns.get(name) ?? -1]
  const sorting = sortingOf(new URL(request.target, 'http://gateway').searchParams)
  const wrong = faultOfOrder(lines, sorting, cellOf)
  if (wrong !== undefined) yield wrong
  const torn = lines.find((cells) => cells.length !== header.length)
  if (torn !== undefined) yield `has a line of ${torn.length} cells below ${header.length} columns: ${torn.join()}`
  const stray = lines.find((cells) => {
    const name = cellOf(cells, 'name')?.toLowerCase().startsWith(prefix.toLowerCase()) ?? true
    return !name || (least !== undefined && Number(cellOf(cells, 'capacity')) < least)
  })
  if (stray !== undefined) yield `shows ${stray.join()}, unasked for`
}
