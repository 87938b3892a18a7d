import type { Exchange } from '../../history.js'
import { type Cells, type Exported, isBeyond } from './exported.js'
import { pathOf } from '../chains.js'
import type { Rows, Violation } from '../checker.js'
import { cellOf, objectsOf } from '../json.js'
import { type Forgotten, forgettableUntil, type Kills } from '../kills.js'

/** Rows that came by one request: all of them between its first attempt and its first answer. */
interface Birth {
  readonly sentAt: number
  readonly endedAt: number
  readonly ids: readonly number[]
}

/** Columns of a speaker that exports show, besides its id. */
const COLUMNS = ['name', 'bio', 'eventId'] as const
type Column = (typeof COLUMNS)[number]

/** Marks of the cells of some rows, by column; in place of the cells, which are many. */
export type Marks = ReadonlyMap<Column, readonly number[]>

/** Of an export of speakers, in the order of its rows. */
export function marksOf({ header, lines }: Cells): Marks {
  const shown = COLUMNS.filter((name) => header.includes(name))
  return new Map(shown.map((name) => [name, lines.map((cells) => markOf(cells[header.indexOf(name)]))]))
}

/** A number of 32 bits, by FNV-1a. */
function markOf(text = ''): number {
  let mark = 0x811c9dc5
  for (let n = 0; n < text.length; n++) mark = Math.imul(mark ^ text.charCodeAt(n), 0x01000193)
  return mark
}

/** What the workload `exports` gives the names of some rows to begin with, by which they are exported. */
const SERIES = /^exports-s\d+\./

/** The first export that has shown a row that nobody had acknowledged yet. */
type Sight = Pick<Exported, 'id' | 'sentAt' | 'endedAt'>

/** Speakers, which come alone and in batches, are never written again, and stay. */
export class Births {
  readonly #byId = new Map<number, Birth>()
  readonly #marks = new Map<number, Readonly<Record<Column, number>>>()
  readonly #bySeries = new Map<string, number[]>()
  /** When requests were first sent that nobody has acknowledged yet. */
  readonly #sent = new Map<string, number>()
  readonly #shown = new Map<number, Sight>()
  readonly #forgotten: Forgotten[] = []
  #highest = 0

  see(exchange: Exchange): void {
    const { account, request, answer, sentAt, endedAt } = exchange
    if (request.method !== 'POST' || pathOf(exchange)[0] !== 'speakers') return
    const unit = `${account} ${request.target} ${request.headers['idempotency-key']}`
    const first = this.#sent.get(unit) ?? sentAt
    if (answer?.status !== 201) {
      this.#sent.set(unit, first)
      return
    }
    this.#sent.delete(unit)
    const shown = objectsOf(exchange)
    const rows = shown.map(({ id, name }) => ({ id: Number(id), name: String(name) }))
    for (const row of shown) {
      const [name, bio, eventId] = COLUMNS.map((column) => markOf(cellOf(row[column])))
      this.#marks.set(Number(row['id']), { name: name ?? 0, bio: bio ?? 0, eventId: eventId ?? 0 })
    }
    const birth: Birth = { sentAt: first, endedAt, ids: rows.map(({ id }) => id) }
    for (const { id, name } of rows) {
      if (this.#byId.has(id)) continue
      this.#byId.set(id, birth)
      if (!this.#shown.has(id)) this.#enter(id, name)
    }
  }

  /** Rows that an export shows are there from then on, acknowledged or not. */
  show({ id: by, sentAt, endedAt, ids }: Exported, { header, lines }: Cells): void {
    const name = header.indexOf('name')
    for (const [n, id] of ids.entries()) {
      if (this.#byId.has(id) || this.#shown.has(id)) continue
      this.#shown.set(id, { id: by, sentAt, endedAt })
      this.#enter(id, lines[n]?.[name] ?? '')
    }
  }

  #enter(id: number, name: string): void {
    this.#highest = Math.max(this.#highest, id)
    const series = SERIES.exec(name)?.[0]
    if (series !== undefined) this.#bySeries.set(series, [...(this.#bySeries.get(series) ?? []), id])
  }

  /** Rows that exports have shown and that later ones, or the table in the end, lack. To be asked once, in the end. */
  async *takenBack(rows: Rows, kills: Kills): AsyncGenerator<Violation> {
    if (this.#shown.size > 0) {
      const left = new Set((await rows('SELECT id FROM speakers')).map(({ id }) => Number(id)))
      for (const [row, { id, sentAt, endedAt }] of this.#shown) {
        if (left.has(row)) continue
        const what = `The export ${id} shows the row ${row}, which is not there in the end.`
        this.#forgotten.push({ what, exchanges: [id], from: sentAt, until: forgettableUntil({ endedAt }) })
      }
    }
    yield* kills.unexcused(this.#forgotten)
  }

  /** The first cell of an export that is another than its row was created with. To be asked when `faultsOf` is. */
  cellFault({ ids }: Exported, marks: Marks): string | undefined {
    for (const [column, shown] of marks) {
      const id = ids.find((one, n) => {
        const known = this.#marks.get(one)
        return known !== undefined && known[column] !== shown[n]
      })
      if (id !== undefined) return `shows the row ${id} with another ${column} than it was created with`
    }
    return undefined
  }

  /** What is wrong with the rows of an export, cut or whole; each completes `The export r-1 …`. To be asked when every request that was sent before its end has ended. */
  *faultsOf(exported: Exported): Generator<string> {
    const { ids } = exported
    const shown = new Set(ids)
    let [from, newest] = [exported.sentAt, 0]
    for (const id of ids) {
      const birth = this.#byId.get(id)
      if (birth === undefined) continue
      if (birth.sentAt > from) [from, newest] = [birth.sentAt, id]
      const torn = birth.ids.find((other) => !shown.has(other) && !isBeyond(exported, other))
      if (torn !== undefined && birth.ids.length > 1) {
        yield `shows the row ${id} and not ${torn}, which came together`
        return
      }
    }
    for (const id of this.#candidates(exported)) {
      if (shown.has(id) || isBeyond(exported, id)) continue
      const birth = this.#byId.get(id)
      const first = this.#shown.get(id)
      if (birth === undefined || birth.endedAt >= from) {
        if (first !== undefined && first.endedAt < exported.sentAt) this.#takeBack(exported, id, first)
        continue
      }
      yield newest === 0
        ? `leaves out the row ${id}, which was there before`
        : `leaves out the row ${id}, which was there before ${newest}, which it shows`
      return
    }
  }

  #takeBack({ id, endedAt }: Exported, row: number, first: Sight): void {
    const what = `The export ${id} leaves out the row ${row}, which ${first.id} had shown.`
    this.#forgotten.push({
      what,
      exchanges: [first.id, id],
      from: first.sentAt,
      until: forgettableUntil(first, endedAt)
    })
  }

  /** Ids that it may have to show. */
  *#candidates({ prefix, isCut, order, ids }: Exported): Generator<number> {
    if (prefix !== '') {
      yield* this.#bySeries.get(prefix) ?? []
      return
    }
    if (isCut && order === undefined) return
    const last = ids.at(-1) ?? 0
    const [low, high] = [isCut && order === -1 ? last : 1, isCut && order === 1 ? last : this.#highest]
    for (let id = low; id <= high; id++) yield id
  }
}
