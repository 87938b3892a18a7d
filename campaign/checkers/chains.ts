import type { Exchange } from '../history.js'
import type { Violation } from './checker.js'
import { objectOf, objectsOf } from './json.js'
import { type Forgotten, forgettableUntil } from './kills.js'
import { outcomeOf } from './writes/audit.js'

/** Resources with rows that count their updates, and the member that holds the count. */
export const COUNTERS: Readonly<Record<string, string>> = { venues: 'capacity', 'stock-items': 'onHand' }

/** The workloads that make such rows. */
const COUNTING: readonly string[] = ['counters', 'saves', 'agents']

/** A row as an answer shows it. */
export interface Shown {
  /** `venues/7`. */
  readonly row: string
  /** How many updates it had. */
  readonly value: number
  /** Absent where the answer tells no version. */
  readonly version?: string
  /** The whole row; absent where the answer shows a part of it. */
  readonly text?: string
}

/** The n-th update of a row. */
interface Step {
  version?: string
  text?: string
  /** When the first request was sent that may have made it: that was not rejected. Absent until such a request has ended. */
  sentAt?: number
  /** The first answer that showed it. */
  shown?: { readonly id: string; readonly endedAt: number }
  /** Who was told that it was done: the request, or the key under which it was sent several times. */
  acknowledged?: { readonly by: string; readonly id: string; readonly endedAt: number }
}

/** A row that counts: what is known of each of its versions. */
export interface Chain {
  readonly row: string
  readonly name: string
  /** It came into being between these. */
  readonly born: { readonly sentAt: number; readonly endedAt: number }
  /** By count. */
  readonly steps: Map<number, Step>
  readonly counts: Map<string, number>
  /** Acknowledged counts that were higher than all before, in the order in which their answers ended. */
  readonly floors: { readonly endedAt: number; readonly value: number }[]
  /** The last read of those that showed the highest count. */
  highest?: { readonly id: string; readonly sentAt: number; readonly endedAt: number; readonly value: number }
  /** When its first delete was sent, if any. */
  deleteSentAt?: number
  deleted?: { readonly id: string; readonly endedAt: number }
}

/** Facts of all rows of the workloads `counters`, `saves` and `agents`, from the exchanges alone. */
export class Chains {
  readonly rows = new Map<string, Chain>()
  /** What the exchanges say of one version that cannot both be true. */
  readonly contradictions: Violation[] = []
  readonly #firstSent = new Map<string, number>()

  /** Returns the row that the exchange tells of for the first time, if any. */
  see(exchange: Exchange): Chain | undefined {
    const { request, workload, answer, sentAt, endedAt, id } = exchange
    const [resource = '', rowId] = pathOf(exchange)
    if (COUNTERS[resource] === undefined) return undefined
    let begun: Chain | undefined
    const key = request.headers['idempotency-key']
    if (key !== undefined && !this.#firstSent.has(key)) this.#firstSent.set(key, sentAt)
    const first = this.#firstSent.get(key ?? '') ?? sentAt
    if (request.method === 'POST' && COUNTING.includes(workload)) {
      if (answer?.status === 201) begun = this.#begin(exchange, first)
    } else if (request.method === 'DELETE') {
      const chain = this.rows.get(`${resource}/${rowId}`)
      if (chain !== undefined) chain.deleteSentAt = Math.min(chain.deleteSentAt ?? Infinity, sentAt)
      if (chain !== undefined && answer?.status === 204) chain.deleted ??= { id, endedAt }
    } else if (request.method !== 'GET') {
      this.#update(exchange, first, key ?? id)
    }
    for (const shown of shownBy(exchange)) this.#show(shown, exchange)
    return begun
  }

  /** How many updates a row must have had, at least, for whoever asked at that moment. */
  static floorOf({ floors }: Pick<Chain, 'floors'>, time: number): number {
    let [low, high] = [0, floors.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((floors[middle]?.endedAt ?? 0) < time) low = middle + 1
      else high = middle
    }
    return floors[low - 1]?.value ?? 0
  }

  /** Counts that were shown before anybody had asked for them, but for what was rejected. To be asked in the end. */
  *unasked(): Generator<Violation> {
    for (const { row, steps } of this.rows.values()) {
      for (const [value, { sentAt = Infinity, shown }] of steps) {
        if (value === 0 || shown === undefined || sentAt < shown.endedAt) continue
        const what = `${shown.id} shows ${row} with the count ${value}, which no request had asked for that was not rejected.`
        yield { what, exchanges: [shown.id] }
      }
    }
  }

  /** What a read has shown is in the row in the end, which had so many updates. */
  static forgottenBy({ row, highest }: Chain, value: number): Forgotten | undefined {
    if (highest === undefined || value >= highest.value) return undefined
    const { id, sentAt, endedAt } = highest
    const what = `${row} ends with the count ${value}; ${id} had shown ${highest.value}.`
    return { what, exchanges: [id], from: sentAt, until: forgettableUntil({ endedAt }) }
  }

  #begin(exchange: Exchange, sentAt: number): Chain | undefined {
    const { request, endedAt } = exchange
    const [resource = ''] = request.target.slice(1).split('/')
    const { id, name = '' } = objectOf(exchange)
    const row = `${resource}/${String(id)}`
    if (this.rows.has(row)) return undefined
    const born = { sentAt, endedAt }
    const chain: Chain = { row, name: String(name), born, steps: new Map(), counts: new Map(), floors: [] }
    this.rows.set(row, chain)
    return chain
  }

  #update(exchange: Exchange, sentAt: number, by: string): void {
    const { request, answer, endedAt, id } = exchange
    const [resource, rowId] = pathOf(exchange)
    const chain = this.rows.get(`${resource}/${rowId}`)
    const from = chain?.counts.get(versionOf(request.headers['if-match']))
    if (chain === undefined) return
    if (from === undefined) {
      // A replay ignores the value of If-Match.
      if (answer?.status === 200 && !isReplay(exchange))
        this.#contradict(`The update ${id} of ${chain.row} was done on a version that it never had.`, id)
      return
    }
    if (outcomeOf(answer) === 'rejected') return
    const step = chain.steps.get(from + 1) ?? {}
    step.sentAt = Math.min(step.sentAt ?? Infinity, sentAt)
    chain.steps.set(from + 1, step)
    if (answer?.status !== 200) return
    const shown = shownBy(exchange)[0]
    if (shown?.value !== from + 1 || shown.version !== versionOf(answer.headers['etag'])) {
      this.#contradict(`The update ${id} of ${chain.row} led from count ${from} to ${answer.body}.`, id)
    }
    const { acknowledged } = step
    if (acknowledged !== undefined && acknowledged.by !== by) {
      this.#contradict(`Two updates left the version of ${chain.row} with count ${from}.`, acknowledged.id, id)
    }
    step.acknowledged ??= { by, id, endedAt }
    if (from + 1 > (chain.floors.at(-1)?.value ?? 0)) chain.floors.push({ endedAt, value: from + 1 })
  }

  #show({ row, value, version, text }: Shown, { id, request, sentAt, endedAt }: Exchange): void {
    const chain = this.rows.get(row)
    if (chain === undefined) return
    const step = chain.steps.get(value) ?? {}
    chain.steps.set(value, step)
    step.shown ??= { id, endedAt }
    if (request.method === 'GET' && value >= (chain.highest?.value ?? 0)) chain.highest = { id, sentAt, endedAt, value }
    if (version !== undefined) {
      const other = chain.counts.get(version)
      if ((step.version ?? version) !== version || (other ?? value) !== value) {
        this.#contradict(`The count ${value} of ${row} and the version ${version} do not always go together.`, id)
      }
      step.version ??= version
      chain.counts.set(version, value)
    }
    if (text !== undefined && (step.text ??= text) !== text) {
      this.#contradict(`One version of ${row} is shown as ${step.text} and as ${text}.`, id)
    }
  }

  #contradict(what: string, ...exchanges: readonly string[]): void {
    this.contradictions.push({ what, exchanges })
  }
}

/** An answer that was given before: it says nothing of the present. */
export function isReplay({ answer }: Exchange): boolean {
  return answer?.headers['idempotent-replayed'] === 'true'
}

/** The segments of the path. */
export function pathOf({ request }: Exchange): string[] {
  return request.target.slice(1).split('?', 1)[0]?.split('/') ?? []
}

/** Whether it is about sessions, tokens and accounts, and no rows: `campaign/checkers/callers/` judges those. */
export function isOfAccounts(exchange: Exchange): boolean {
  const [first] = pathOf(exchange)
  return first === 'auth' || first === 'accounts'
}

/** `AAAA` of `W/"AAAA"`. */
export function versionOf(etag: string | undefined): string {
  return /^(?:W\/)?"(.*)"$/.exec(etag ?? '')?.[1] ?? ''
}

const PARSED = new WeakMap<Exchange, readonly Shown[]>()

/** The counting rows that a successful answer shows. Several checkers ask, one after the other. */
export function shownBy(exchange: Exchange): readonly Shown[] {
  const known = PARSED.get(exchange)
  if (known !== undefined) return known
  const shown = [...readRows(exchange)]
  PARSED.set(exchange, shown)
  return shown
}

function* readRows(exchange: Exchange): Generator<Shown> {
  const { answer } = exchange
  const [resource = '', second] = pathOf(exchange)
  const counter = COUNTERS[resource]
  if (counter === undefined || (answer?.status !== 200 && answer?.status !== 201)) return
  if (second === 'export') {
    const [header, ...lines] = csvOf(answer.body)
    for (const cells of lines) {
      const row = Object.fromEntries(cells.map((cell, n) => [header?.[n] ?? '', cell]))
      if (cells[0]?.startsWith('# ') === false) yield { row: `${resource}/${row['id']}`, value: Number(row[counter]) }
    }
    return
  }
  for (const item of objectsOf(exchange)) {
    const row = `${resource}/${String(item['id'])}`
    if (second === 'lookup') {
      const count = /#(\d+)$/.exec(String(item['name']))?.[1]
      if (count !== undefined) yield { row, value: Number(count) }
    } else {
      const version = String(item['rowVersion'])
      yield { row, value: Number(item[counter]), version, text: JSON.stringify(item) }
    }
  }
}

/** A cell, in quotes or without, and what follows it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy

/** Rows of cells, by RFC 4180. From where a text is none, all of it is one cell. */
export function csvOf(text: string): string[][] {
  const plain = text.replace(/^\uFEFF/, '')
  if (!plain.includes('"')) {
    const lines = plain.split('\r\n')
    return lines.filter((line) => line !== '').map((line) => line.split(','))
  }
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < plain.length) {
    CELL.lastIndex = at
    const [whole = plain.slice(at), quoted, bare = whole, end = ''] = CELL.exec(plain) ?? []
    row.push(quoted?.replaceAll('""', '"') ?? bare)
    at += whole.length
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  // A text that ends with a comma has an empty cell behind it.
  return row.length === 0 ? rows : [...rows, [...row, '']]
}
