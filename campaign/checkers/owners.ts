import type { Exchange } from '../history.js'
import { csvOf, pathOf } from './chains.js'
import type { Checker, Verdict, Violation } from './checker.js'
import { objectsOf } from './json.js'

/** The customer numbers of the accounts that own rows. Accounts that are not here own none, and may see none. */
const NUMBERS: Readonly<Record<string, string>> = { 'ada@example.com': '1', 'ben@example.com': '2' }
/** Sees everybody's. */
const ADMIN = 'admin@example.com'

const TAG = /of-(ada|ben)\.[\w.-]+/g
const NUMBER = /"(?:customerId|userId)":"?(-?\d+)/g

/** Rows that say in every text whose they are. */
export class OwnRowsOnly implements Checker {
  readonly title = 'No row of another owner'
  readonly contract = '6. Ownership and permissions'
  readonly how =
    '`owners` makes rows of two customers, each with a text that names its owner. Both, an account without rows and an unknown caller ask for them in every way that there is, several at the same moment. The texts are looked for in all answers of all workloads.'
  readonly promise =
    'No answer shows a caller the row of another owner, in whichever list, page, export, lookup, include, replay or problem document.'
  readonly #violations: Violation[] = []
  /** Who has created what is at a path. */
  readonly #owners = new Map<string, string>()
  #answers = 0

  see(exchange: Exchange): void {
    const { id, account = 'an unknown caller', request, answer } = exchange
    if (answer === undefined || account === ADMIN || pathOf(exchange)[0] === 'auth') return
    const own = NUMBERS[account]
    this.#answers++
    const sent = `${request.target} ${request.body ?? ''}`
    const shown = `${JSON.stringify(answer.headers)} ${answer.body}`
    for (const [tag, owner] of shown.matchAll(TAG)) {
      if (account.startsWith(`${owner}@`) || sent.includes(tag)) continue
      this.#violate(`${account} is shown ${tag}.`, id)
    }
    for (const number of numbersIn(exchange)) {
      if (number !== own) this.#violate(`${account} is shown a row of customer ${number}.`, id)
    }
    for (const row of lookedUp(exchange)) {
      const owner = this.#owners.get(row)
      if (owner !== undefined && owner !== account)
        this.#violate(`${account} is shown ${row}, which is of ${owner}.`, id)
    }
    const path = `/${pathOf(exchange).slice(0, 2).join('/')}`
    const owner = this.#owners.get(path)
    if (owner !== undefined && owner !== account && answer.status < 300) {
      this.#violate(`${account} has got ${answer.status} for ${path}, which is of ${owner}.`, id)
    }
    if (answer.status !== 201 || own === undefined) return
    const location = answer.headers['location']
    if (location !== undefined) this.#note(new URL(location).pathname, account, id)
  }

  judge(): Promise<Verdict> {
    const of = 'answers to customers and to unknown callers'
    return Promise.resolve({ tried: this.#owners.size === 0 ? 0 : this.#answers, of, violations: this.#violations })
  }

  #note(path: string, account: string, id: string): void {
    const known = this.#owners.get(path) ?? account
    this.#owners.set(path, known)
    if (known !== account) this.#violate(`${account} has been given ${path}, which is of ${known}.`, id)
  }

  #violate(what: string, id: string): void {
    this.#violations.push({ what, exchanges: [id] })
  }
}

/** The paths of the rows of a lookup, which says nothing of them but their ids and names. */
function lookedUp(exchange: Exchange): string[] {
  const [resource, second] = pathOf(exchange)
  if (second !== 'lookup' || exchange.answer?.status !== 200) return []
  return objectsOf(exchange).map(({ id }) => `/${resource}/${String(id)}`)
}

/** The owners that an answer names, by their numbers. */
function numbersIn(exchange: Exchange): string[] {
  const { answer } = exchange
  if (answer === undefined || answer.status >= 300) return []
  const [resource, second] = pathOf(exchange)
  if (second !== 'export') {
    const ids = resource === 'customers' ? [...answer.body.matchAll(/^\{"id":(\d+)/g)] : []
    return [...answer.body.matchAll(NUMBER), ...ids].map(([, number]) => number ?? '')
  }
  const [header = [], ...rows] = csvOf(answer.body)
  const column = header.findIndex((name) => name === 'customerId' || name === 'userId')
  // The row that says that an export is cut is of nobody.
  const shown = rows.filter((cells) => cells[0]?.startsWith('# ') !== true)
  return column === -1 ? [] : shown.map((cells) => cells[column] ?? '')
}
