import type { Exchange, Injury } from '../../history.js'
import { csvOf, pathOf } from '../chains.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { FAILURES } from '../answers/allowed.js'
import { pathOfLocation } from '../answers/shapes.js'
import { isObject, jsonOf, type JsonObject, objectOf, objectsOf } from '../json.js'
import { type Forgotten, forgettableUntil, Kills } from '../kills.js'
import { ADMIN, denialOf, NUMBERS, OWNED } from './ownership.js'

const TAG = /of-(ada|ben)\.[\w.-]+/g
const NUMBER = /"(?:customerId|userId|customer":\{"id)":"?(-?\d+)/g
/** Of orders and invoices. */
const CODE = /\b[OI]-[0-9A-Z]{7,}\b/g

/** Rows of one kind that a customer has before the run, at most: there are 1,500 orders of 200 customers, and fewer of all else. */
const SAMPLE_ROWS = 100
/** Rows that come between a page and its count. */
const MEANWHILE = 10
/** Ids that no row has. */
const ABSENT = 2_000_000_000
/** Headers of a connection, of a moment, and of what else was asked. */
const PASSING: readonly string[] = [
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
  'x-ignored-parameters'
]

/** Whoever was given something first. */
interface Owner {
  readonly account: string
  /** By the answer to a create, so that it is not forgotten. */
  readonly isTold: boolean
  readonly sentAt: number
  readonly endedAt: number
}

/** Rows that say in every text whose they are, and rows that do not. */
export class OwnRowsOnly implements Checker {
  readonly title = 'No row of another owner'
  readonly contract = '6. Ownership and permissions'
  readonly how =
    "`owners` makes rows of two customers, each with a text that names its owner. Both, an account without rows and an unknown caller ask for them in every way that there is, several at the same moment, and write to them, with the right version and without. The texts are looked for in all answers of all workloads, and so are the numbers of orders and invoices; no row is shown to both; and every request for another's row is rejected as the contract says."
  readonly promise =
    'No answer shows a caller the row of another owner, in whichever list, page, count, export, lookup, include, replay, header or problem document, or tells that there is one, and nobody is denied their own.'
  readonly #violations: Violation[] = []
  /** Who has created what is at a path, or was shown it. */
  readonly #owners = new Map<string, Owner>()
  readonly #codes = new Map<string, Owner>()
  readonly #kills = new Kills()
  readonly #forgotten: Forgotten[] = []
  /** Who has asked for bookmarks of these sessions. */
  readonly #sessions = new Map<string, Set<string>>()
  /** How many rows a customer has asked for, by number and resource. */
  readonly #asked = new Map<string, number>()
  /** What is said of a row that there is not, by kind of request, and of one that is somebody else's. */
  readonly #absent = new Map<string, { readonly text: string; readonly id: string }>()
  readonly #hidden = new Map<string, Map<string, string>>()
  #answers = 0
  #made = 0

  see(exchange: Exchange): void {
    const { id, account = 'an unknown caller', request, answer } = exchange
    if (pathOf(exchange)[0] === 'auth') return
    this.#ask(exchange)
    if (answer === undefined || account === ADMIN) return
    const sent = `${request.target} ${request.body ?? ''}`
    const shown = `${JSON.stringify(answer.headers)} ${answer.body}`
    for (const [tag, owner] of shown.matchAll(TAG)) {
      if (account.startsWith(`${owner}@`) || sent.includes(tag)) continue
      this.#violate(`${account} is shown ${tag}.`, id)
    }
    const own = NUMBERS[account]
    for (const number of numbersIn(exchange)) {
      if (number !== own) this.#violate(`${account} is shown a row of customer ${number}.`, id)
    }
    for (const [code] of shown.matchAll(CODE)) {
      if (!sent.includes(code)) this.#note(this.#codes, code, exchange)
    }
    this.#deny(exchange)
    for (const session of sessionsIn(exchange)) {
      const askers = this.#sessions.get(session)
      if (askers !== undefined && !askers.has(String(own)))
        this.#violate(`${account} is shown the bookmark of session ${session} of customer ${[...askers].join()}.`, id)
    }
    if (own === undefined) return
    for (const row of rowsIn(exchange)) this.#note(this.#owners, row, exchange)
    const made = answer.status === 201 ? pathOfLocation(answer.headers['location']) : undefined
    if (made !== undefined) {
      this.#made++
      this.#note(this.#owners, made, exchange)
    }
    this.#count(exchange, own)
  }

  hurt(injury: Injury): void {
    this.#kills.hurt(injury)
  }

  judge(): Promise<Verdict> {
    this.#violations.push(...this.#kills.unexcused(this.#forgotten))
    for (const [kind, texts] of this.#hidden) {
      const absent = this.#absent.get(kind)
      for (const [text, id] of texts) {
        if (absent !== undefined && absent.text !== text)
          this.#violate(`${kind} says ${text} of another's row, and ${absent.text} of none.`, id, absent.id)
      }
    }
    const of = 'answers about rows of customers, and denials'
    return Promise.resolve({ tried: this.#made === 0 ? 0 : this.#answers, of, violations: this.#violations })
  }

  /** Whose rows were asked for. */
  #ask(exchange: Exchange): void {
    const { account = '', request } = exchange
    const [resource = '', rowId, action] = pathOf(exchange)
    if (request.method === 'GET' || request.body === undefined) return
    const made = action === 'checkout' ? 'orders' : rowId === undefined || rowId === 'batch' ? resource : ''
    const member = OWNED[made]
    if (member === undefined) return
    for (const one of [JSON.parse(request.body) as Readonly<Record<string, unknown>>].flat()) {
      const named = one[member]
      const owner = typeof named === 'number' ? String(named) : (NUMBERS[account] ?? '')
      const name = `${made} of ${owner}`
      this.#asked.set(name, (this.#asked.get(name) ?? 0) + 1)
      if (made !== 'bookmarks') continue
      const session = String(one['sessionId'])
      this.#sessions.set(session, (this.#sessions.get(session) ?? new Set()).add(owner))
    }
  }

  /** Whether the request was rejected as it has to be, and the answer tells nothing besides. */
  #deny(exchange: Exchange): void {
    const { id, account = 'an unknown caller', request, answer } = exchange
    const { status = 0, headers = {}, body = '' } = answer ?? {}
    const [resource = '', rowId = '', action = ''] = pathOf(exchange)
    const owner = this.#owners.get(`/${resource}/${rowId}`)?.account
    const denial = denialOf(exchange, owner)
    if (denial === 'unjudged' || FAILURES[status] !== undefined) return
    if (denial !== undefined || OWNED[resource] !== undefined) this.#answers++
    const what = `${request.method} ${request.target}${owner === undefined ? '' : `, which is of ${owner},`}`
    if (denial === undefined) {
      if (status === 401 || status === 403) this.#violate(`${account} is denied ${what} with ${status}: ${body}`, id)
    } else if (status !== denial.status || objectOf(exchange)['code'] !== denial.code) {
      this.#violate(
        `${account} has got ${status} for ${what} and not ${denial.status} ${denial.code}: ${body.slice(0, 200)}`,
        id
      )
      return
    } else if (status === 401 && headers['www-authenticate']?.startsWith('Bearer') !== true) {
      this.#violate(`${account} has got 401 without WWW-Authenticate for ${what}.`, id)
    }
    if (status === 401 || status === 403 || status === 404) this.#tell(exchange)
    if (status !== 404 || NUMBERS[account] === undefined) return
    const kind = `${request.method} ${resource} ${action}`.trim()
    const text = textOf(exchange)
    if (denial !== undefined) {
      const texts = this.#hidden.get(kind) ?? new Map<string, string>()
      if (!texts.has(text)) this.#hidden.set(kind, texts.set(text, id))
    } else if (Number(rowId) > ABSENT && !this.#absent.has(kind)) this.#absent.set(kind, { text, id })
  }

  /** A rejection names no number that the caller has not sent, and no version. */
  #tell(exchange: Exchange): void {
    const { id, account = 'an unknown caller', request, answer } = exchange
    const { detail, title } = objectOf(exchange)
    const sent = `${request.target} ${request.body ?? ''}`
    for (const [number] of `${String(title)} ${String(detail)}`.matchAll(/\d+/g)) {
      if (!sent.includes(number)) this.#violate(`${account} is told ${number}: ${String(detail)}`, id)
    }
    const { etag, location } = answer?.headers ?? {}
    if (etag !== undefined || location !== undefined)
      this.#violate(`${account} has got ${answer?.status} with ${etag ?? location}.`, id)
  }

  /** No more are counted than the caller may have. */
  #count(exchange: Exchange, own: string): void {
    const { id, account = '', request, answer } = exchange
    const [resource = '', second] = pathOf(exchange)
    const counted = Number(answer?.headers['x-total-count'] ?? 0)
    const { totalCount = 0, pageSize } = parsed(answer?.headers['x-pagination'])
    const total = Math.max(counted, Number(totalCount))
    if (answer?.status !== 200 || second !== 'paged' || OWNED[resource] === undefined) return
    const most = SAMPLE_ROWS + (this.#asked.get(`${resource} of ${own}`) ?? 0)
    if (total > most) this.#violate(`${account} is told of ${total} ${resource} by ${id}, and has ${most} at most.`, id)
    const { length } = objectsOf(exchange)
    const isFirst = !/[?&](?:page|pageNumber|after|before)=/.test(request.target)
    if (isFirst && length < Number(pageSize) && total > length + MEANWHILE)
      this.#violate(`${account} is told of ${total} ${resource} by ${id}, and shown ${length}.`, id)
  }

  /** The id of a row that reads alone have shown, and that a database has forgotten then, may be another's later. */
  #note(known: Map<string, Owner>, what: string, exchange: Exchange): void {
    const { id, account = 'an unknown caller', answer, sentAt, endedAt } = exchange
    const isTold = answer?.status === 201
    const owner = known.get(what)
    if (NUMBERS[account] !== undefined && (owner === undefined || (isTold && !owner.isTold)))
      known.set(what, { account, isTold, sentAt, endedAt })
    if (owner === undefined || owner.account === account) return
    const violation = `${account} has been given ${what}, which is of ${owner.account}.`
    if (owner.isTold) this.#violate(violation, id)
    else
      this.#forgotten.push({
        what: violation,
        exchanges: [id],
        from: owner.sentAt,
        until: forgettableUntil(owner, endedAt)
      })
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** What `GET /bookmarks/session-ids` answers. */
function sessionsIn(exchange: Exchange): string[] {
  const [resource, second] = pathOf(exchange)
  if (resource !== 'bookmarks' || second !== 'session-ids' || exchange.answer?.status !== 200) return []
  return [jsonOf(exchange)].flat().map(String)
}

/** The paths of the rows of customers that an answer shows, in whichever shape. Tickets may change hands. */
function rowsIn(exchange: Exchange): string[] {
  const { answer } = exchange
  const [resource = '', second] = pathOf(exchange)
  if (answer === undefined || answer.status >= 300 || OWNED[resource] === undefined || resource === 'tickets') return []
  if (second === 'session-ids') return []
  // A cart has `items` of its own, which are no rows of that resource.
  const shown = second === 'lookup' ? objectsOf(exchange) : ([jsonOf(exchange)].flat() as readonly JsonObject[])
  const ids = second === 'export' ? columnOf(exchange, ['id']) : shown.map((row) => row?.['id'])
  return ids.filter((id) => typeof id === 'number' || typeof id === 'string').map((id) => `/${resource}/${id}`)
}

/** The owners that an answer names, by their numbers. */
function numbersIn(exchange: Exchange): string[] {
  const { answer } = exchange
  if (answer === undefined) return []
  const [resource, second] = pathOf(exchange)
  if (second === 'export') return columnOf(exchange, ['customerId', 'userId'])
  const ids = resource === 'customers' ? [...answer.body.matchAll(/^\{"id":(\d+)/g)] : []
  return [...answer.body.matchAll(NUMBER), ...ids].map(([, number]) => number ?? '')
}

/** The cells of one of these columns; none where an export has no such column. */
function columnOf({ answer }: Exchange, names: readonly string[]): string[] {
  if (answer?.status !== 200) return []
  const [header = [], ...rows] = csvOf(answer.body)
  const column = header.findIndex((name) => names.includes(name))
  // The row that says that an export is cut is of nobody.
  const shown = rows.filter((cells) => cells[0]?.startsWith('# ') !== true)
  return column === -1 ? [] : shown.map((cells) => cells[column] ?? '')
}

/** All of an answer that does not tell which request it answers, or when. */
function textOf(exchange: Exchange): string {
  const { type: _type, instance: _instance, requestId: _id, ...said } = objectOf(exchange)
  const names = Object.keys(exchange.answer?.headers ?? {}).filter((name) => !PASSING.includes(name))
  return `${JSON.stringify(said)} with ${names.toSorted().join(' ')}`
}

function parsed(pagination: string | undefined): JsonObject {
  try {
    const told: unknown = JSON.parse(pagination ?? '{}')
    return isObject(told) ? told : {}
  } catch {
    return {}
  }
}
