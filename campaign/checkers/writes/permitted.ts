import type { Exchange } from '../../history.js'
import type { AuditEntry } from './audit.js'
import { ADMIN, denialOf, NUMBERS, OWNED } from '../callers/ownership.js'
import { pathOf } from '../chains.js'
import type { Violation } from '../checker.js'

/** The accounts of customers, by their numbers. */
const ACCOUNTS: ReadonlyMap<string, string> = new Map(
  Object.entries(NUMBERS).map(([account, number]) => [number, account])
)

/** Who has sent each write, and whether it had to be denied, whatever was answered. */
export class Senders {
  /** By request, for whom nobody's row would be another answer. */
  readonly #denied = new Map<string, string>()
  /** By request: the customer who has sent it, or for whom it makes a row. */
  readonly #customers = new Map<string, string>()
  readonly #owners = new Map<string, string>()
  readonly #written: AuditEntry[] = []

  see(exchange: Exchange): void {
    const { id, account = 'an unknown caller', request } = exchange
    if (request.method === 'GET') return
    const denial = denialOf(exchange, undefined)
    if (denial === 'unjudged') return
    if (denial !== undefined) this.#denied.set(id, `${account} must get ${denial.status} ${denial.code}`)
    else this.#customers.set(id, account === ADMIN ? namedBy(exchange) : account)
  }

  /** An audit entry of any row, in any order. */
  *entry(entry: AuditEntry): Generator<Violation> {
    const { requestId, row, action } = entry
    const denial = this.#denied.get(requestId)
    if (denial !== undefined) {
      const what = `${requestId} has written ${row}, and ${denial}.`
      yield { what, exchanges: [requestId] }
    } else if (OWNED[row.slice(0, row.indexOf('/'))] !== undefined) {
      const customer = this.#customers.get(requestId) ?? ''
      if (action !== 'create') this.#written.push(entry)
      else if (NUMBERS[customer] !== undefined) this.#owners.set(row, customer)
    }
  }

  /** Writes of the rows of another. To be asked when all entries were seen. */
  *trespasses(): Generator<Violation> {
    for (const { requestId, row } of this.#written.splice(0)) {
      const [owner, customer] = [this.#owners.get(row), this.#customers.get(requestId)]
      if (owner === undefined || customer === undefined || customer === '' || customer === owner) continue
      yield { what: `${requestId} of ${customer} has written ${row}, which is of ${owner}.`, exchanges: [requestId] }
    }
  }
}

/** The customer for whom the administrator asks for a row; the empty text where there is none. */
function namedBy(exchange: Exchange): string {
  const { request } = exchange
  const member = OWNED[pathOf(exchange)[0] ?? '']
  if (request.method !== 'POST' || member === undefined) return ''
  const { [member]: number } = JSON.parse(request.body ?? '{}') as Readonly<Record<string, unknown>>
  return ACCOUNTS.get(String(number)) ?? ''
}
