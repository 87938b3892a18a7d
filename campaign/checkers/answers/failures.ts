import { BROKEN_OFF, type Exchange, type Injury, type Touch } from '../../history.js'
import { pathOf } from '../chains.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { Load } from './load.js'

/** What an injury may have brought about that the history does not say more of. */
const ANYTHING: readonly Touch[] = [{ brings: ['lost', 'failed'], settles: 10_000 }]
/** Overload may explain so many of a hundred requests, and so many of few. */
const MOST_OVERLOADED = 0.05
const FEW_OVERLOADED = 10
/** Ids that a note names. */
const NAMED = 5

/** How a request came to nothing. What is cut or late may be a lost connection or a failure behind the gateway. */
type Failure = 'lost' | 'failed' | 'either'

/** What decides which injuries may touch a request. */
interface Asked {
  readonly gateway: number
  readonly readsSecondStore: boolean
  /** A read that is answered at once: gateways send it again, to another data service. */
  readonly isSentAgain: boolean
}

interface Time {
  readonly from: number
  until: number
}

interface Trouble {
  readonly id: string
  readonly what: string
  readonly failure: Failure
  readonly request: number
  readonly mayBeOverload: boolean
}

/** Every request of every workload: whether something explains that it came to nothing. */
export class FailuresHaveCauses implements Checker {
  readonly title = 'Failures have a cause'
  readonly contract = '1. Processes and settings'
  readonly how =
    'all workloads: each 502, 503 and 504, and each answer that did not arrive. A hurt gateway, or its connections to clients, excuse what that gateway was asked; its connections to data services excuse 5xx of that gateway; a second store excuses reads of it; data services and databases excuse 5xx, and one data service of several that dies excuses no read. A renderer, a blob store and a key vault excuse nothing. Counted are requests that nothing excused. In between nothing breaks for a while.'
  readonly promise =
    'A request comes to nothing only where something that it needs is broken, or was two seconds before (a gateway), five (a data service) or ten (a database).'
  readonly #violations: Violation[] = []
  readonly #troubles: Trouble[] = []
  readonly #injuries: Injury[] = []
  /** Of each request, in the order in which they ended. */
  readonly #sentAt: number[] = []
  readonly #endedAt: number[] = []
  readonly #asked: string[] = []
  readonly #kinds = new Map<string, Asked>()
  readonly #load = new Load()

  see(exchange: Exchange): void {
    const { id, sentAt, endedAt, answer, lost = 'unknown' } = exchange
    // Its status is what is asked for there, and it is judged with the recovery.
    if (pathOf(exchange)[0] === 'health') return
    // Its client did that.
    if (lost === BROKEN_OFF && answer === undefined) return
    this.#asked.push(this.#kindOf(exchange))
    this.#sentAt.push(sentAt)
    this.#endedAt.push(endedAt)
    this.#load.see(exchange)
    const failure = failureOf(exchange)
    if (failure === undefined) return
    const what = answer === undefined ? `no answer (${lost})` : String(answer.status)
    const mayBeOverload = answer?.status === 503 || answer?.status === 504 || isLate(exchange)
    this.#troubles.push({ id, what, failure, request: this.#sentAt.length - 1, mayBeOverload })
  }

  hurt(injury: Injury): void {
    this.#injuries.push(injury)
  }

  judge(): Promise<Verdict> {
    const excuses = new Excuses(this.#injuries)
    const isExcused = (request: number, failure: Failure): boolean => {
      const asked = this.#kinds.get(this.#asked[request] ?? '')
      const [sentAt = 0, endedAt = 0] = [this.#sentAt[request], this.#endedAt[request]]
      return asked !== undefined && excuses.has(asked, failure, { from: sentAt, until: endedAt })
    }
    let tried = 0
    for (let request = 0; request < this.#sentAt.length; request++) if (!isExcused(request, 'either')) tried++
    const left = this.#troubles
      .filter(({ request, failure }) => !isExcused(request, failure))
      .map((one) => ({ ...one, isOfOverload: one.mayBeOverload && this.#wasOverloaded(one) }))
    const excused = this.#troubles.length - left.length
    const ofOverload = left.filter((one) => one.isOfOverload)
    const isRare = ofOverload.length <= Math.max(FEW_OVERLOADED, MOST_OVERLOADED * tried)
    for (const { id, what, isOfOverload } of left) {
      if (isOfOverload && isRare) continue
      const violation = `${id}: ${what}, and nothing was broken that it needs${isOfOverload ? '. The machine was overloaded, but that is too often' : ''}.`
      this.#violations.push({ what: violation, exchanges: [id] })
    }
    const named = ofOverload.slice(0, NAMED).map(({ id, what }) => `${id}: ${what}`)
    const note = `The machine was overloaded: ${ofOverload.length} of the requests that nothing excused came to nothing after seconds in which a tenth of all answers took longer than a second (${named.join(', ')}${ofOverload.length > NAMED ? ', …' : ''}).`
    const noteOfExcused = `${excused} requests failed, or had no answer, while something was broken that they need, or in the seconds after: ${((100 * excused) / Math.max(1, this.#sentAt.length)).toFixed(1)} % of all.`
    return Promise.resolve({
      tried,
      of: 'requests that nothing excused',
      violations: this.#violations,
      notes: [...(excused > 0 ? [noteOfExcused] : []), ...(ofOverload.length > 0 && isRare ? [note] : [])]
    })
  }

  #wasOverloaded({ request }: Trouble): boolean {
    const [sentAt = 0, endedAt = 0] = [this.#sentAt[request], this.#endedAt[request]]
    return this.#load.wasHigh({ sentAt, endedAt })
  }

  #kindOf(exchange: Exchange): string {
    const { gateway, request } = exchange
    const [resource, second] = pathOf(exchange)
    const isRead = request.method === 'GET'
    const withChildren = resource === 'products' && /[?&]includeChildren=true(?:&|$)/.test(request.target)
    const asked: Asked = {
      gateway,
      readsSecondStore: resource === 'reviews' || (isRead && withChildren),
      isSentAgain: isRead && second !== 'export'
    }
    const kind = `${gateway} ${asked.readsSecondStore} ${asked.isSentAgain}`
    if (!this.#kinds.has(kind)) this.#kinds.set(kind, asked)
    return kind
  }
}

/** When injuries may be felt by which requests. */
class Excuses {
  readonly #touches: readonly (Touch & Time)[]
  readonly #times = new Map<string, readonly Time[]>()

  constructor(injuries: readonly Injury[]) {
    const felt = injuries.flatMap(({ from, until = Infinity, touches = ANYTHING }) =>
      touches.map((touch) => ({ ...touch, from, until: until + touch.settles }))
    )
    this.#touches = [...felt, ...withoutAnother(felt)]
  }

  has(asked: Asked, failure: Failure, at: Time): boolean {
    const times = this.#timesOf(asked, failure)
    // The last that began before its end is also the one that ended last of these.
    let [low, high] = [0, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((times[middle]?.from ?? 0) <= at.until) low = middle + 1
      else high = middle
    }
    return (times[low - 1]?.until ?? -Infinity) >= at.from
  }

  #timesOf(asked: Asked, failure: Failure): readonly Time[] {
    const key = JSON.stringify([asked, failure])
    const known = this.#times.get(key)
    if (known !== undefined) return known
    const times = together(
      this.#touches.filter(
        ({ gateway = asked.gateway, brings, of }) =>
          gateway === asked.gateway &&
          (failure === 'either' || brings.includes(failure)) &&
          (of !== 'second store' || asked.readsSecondStore) &&
          (of !== 'not sent again' || !asked.isSentAgain)
      )
    )
    this.#times.set(key, times)
    return times
  }
}

/** Times in which two data services were gone, so that nothing could be sent again. */
function withoutAnother(touches: readonly (Touch & Time)[]): (Touch & Time)[] {
  const gone = touches.filter(({ of }) => of === 'not sent again').toSorted((one, other) => one.from - other.from)
  return gone.flatMap((one, n) =>
    gone
      .slice(n + 1)
      .filter(({ service, from }) => service !== one.service && from <= one.until)
      .map(({ from, until }) => ({
        brings: one.brings,
        settles: one.settles,
        from,
        until: Math.min(one.until, until)
      }))
  )
}

/** The times in order, and apart from each other. */
function together(all: readonly Time[]): readonly Time[] {
  const times: Time[] = []
  for (const { from, until } of all.toSorted((one, other) => one.from - other.from)) {
    const before = times.at(-1)
    if (before !== undefined && from <= before.until) before.until = Math.max(before.until, until)
    else times.push({ from, until })
  }
  return times
}

function failureOf(exchange: Exchange): Failure | undefined {
  const { answer } = exchange
  if (answer !== undefined) return answer.status > 500 ? 'failed' : undefined
  return isLate(exchange) || pathOf(exchange)[1] === 'export' ? 'either' : 'lost'
}

/** Whether the client has given up. */
function isLate({ lost }: Exchange): boolean {
  return lost === 'timeout'
}
