import { setTimeout as delay } from 'node:timers/promises'
import { randomNumbers } from '../runner/random.js'
import { type Answer, call, type CallOptions } from '../stack/http-call.js'
import { wayTo, type WayToServer } from './way-to-server.js'

type Request = CallOptions & { readonly target: string }

/**
 * What a cut may do to a request. To a read anything, since the gateway sends it again; to the first write under an
 * idempotency key anything, since its client sends it again. Of any other write nothing may have reached the data service:
 * nobody could tell afterwards whether it had taken effect. To what a client cannot send again, nothing.
 */
type Kind = 'read' | 'keyed' | 'write' | 'once'

/**
 * When the connection is cut: while the request is on its way, of which a part arrives at most; while the answer is on its
 * way, of which a part arrives at most; or whenever, at a random time.
 */
type Moment = 'request' | 'answer' | 'whenever'

/** For a write under a key it is the lost answer that matters. */
const MOMENTS: Readonly<Record<Kind, readonly Moment[]>> = {
  read: ['request', 'answer', 'whenever'],
  keyed: ['request', 'answer', 'answer', 'whenever'],
  write: ['request'],
  once: []
}

/** A request that is under way. */
interface Exchange {
  readonly kind: Kind
  /** Whether the connection was cut while it was under way. */
  isHit: boolean
  /** Whether it was seen on the connection before the cut, and did not arrive. */
  isDropped: boolean
  /** What the data service had answered, if the cut kept that, and nothing else, from the gateway. */
  lostAnswer: Buffer | undefined
  /** Milliseconds that the gateway then took to be ready again. */
  recoveryTook: number
}

/** Milliseconds from the end of a cut to the next one, at most. A stream of calls is opened again after 100. */
const LONGEST_PAUSE = 200
/** Milliseconds until a request, or an answer, must be on its way. */
const LONGEST_HOLD = 100
/** Milliseconds from the beginning of a request to a cut whenever, at most. */
const WHENEVER = 6
/** Milliseconds until a gateway must have connected again. A test may have stopped the data service. */
const LONGEST_RECOVERY = 3000
/** Milliseconds without a connection after which a gateway waits no longer, and answers 503 to reads too. */
const GIVES_UP_AFTER = 1000
/** Bytes of an answer. HTTP/2 and gRPC say less by themselves. */
const LEAST_ANSWER = 48
/** Bytes up to which an answer is in one piece on the connection. */
const ONE_FRAME = 8192
const MOST_ATTEMPTS = 20

/** Methods in frames of calls. */
const CALL = /\/(?:entity|auth)\.v1\.\w+Service\/[A-Z]/
const WRITE_CALL =
  /\/(?:entity\.v1\.EntityService\/(?:Create|CreateBatch|Update|Delete|Act)|auth\.v1\.AuthService\/(?:Login|SignIn|Refresh|Revoke|RevokeAll|ChangePassword|Token))(?!\w)/
/** What a gateway answers for a call whose connection was lost. */
const UNREACHABLE = '"detail":"The data service cannot be reached at the moment."'
const IN_FLIGHT = '"code":"idempotency.in-flight"'

/**
 * Cuts the connection between a gateway and its data service while requests are under way, and holds the gateway to what it
 * owes its clients: a read is answered as if nothing had happened; a write is sent once and answered 503, and an idempotent
 * one that the client sends again has one effect and the answer that was lost (docs/decisions/030).
 */
export class ConnectionCuts {
  static readonly #byGateway = new Map<string, ConnectionCuts>()
  /** Requests hit since there was no gateway. */
  static #requestsHit = 0

  /** Those behind the gateway at this URL. */
  static behind(gateway: string): ConnectionCuts | undefined {
    return ConnectionCuts.#byGateway.get(new URL(gateway).host)
  }

  readonly #random = randomNumbers(Number(process.env['TEST_SEED'] ?? 1))
  readonly #counts = {
    cuts: 0,
    request: 0,
    answer: 0,
    whenever: 0,
    requestsHit: 0,
    writesLost: 0,
    exportsLost: 0,
    replays: 0
  }
  readonly #underWay = new Set<Exchange>()
  readonly #keys = new Set<string>()
  #way: WayToServer | undefined
  #gateway = ''
  #nextCut = 0
  /** Until the cut that is being made is over. */
  #cutting: Promise<void> | undefined
  /** Until the gateway is ready again. */
  #recovery: Promise<void> | undefined
  /** Milliseconds that the last recovery took. */
  #recoveryTook = 0

  /** Makes the way that is cut, to the data service at `host:port`, and answers its own `host:port`. */
  async wayTo(dataAddress: string): Promise<string> {
    this.#way = await wayTo(`http://${dataAddress}`)
    return new URL(this.#way.url).host
  }

  /** The gateway that takes the way, by its URL. */
  serve(gateway: string): void {
    this.#gateway = new URL(gateway).host
    ConnectionCuts.#byGateway.set(this.#gateway, this)
  }

  /** Prints what was cut. Rejects if that was no request, since the tests have then shown nothing. */
  async end(): Promise<void> {
    if (!ConnectionCuts.#byGateway.delete(this.#gateway)) return
    await this.#way?.[Symbol.asyncDispose]()
    process.stdout.write(`      cuts: ${JSON.stringify(this.#counts)}\n`)
    ConnectionCuts.#requestsHit += this.#counts.requestsHit
    if (ConnectionCuts.#byGateway.size > 0) return
    if (ConnectionCuts.#requestsHit === 0) throw new Error('No cut of the connection hit a request.')
    ConnectionCuts.#requestsHit = 0
  }

  /**
   * Makes the attempt, and makes it again where a client may send the request again. Rejects as the attempt does, and when the
   * gateway does not do what it must.
   */
  async send(request: Request, attempt: () => Promise<Answer>): Promise<Answer> {
    const kind = this.#kindOf(request)
    let lost: Exchange | undefined
    for (let attempts = 1; ; attempts++) {
      await this.#allowed(kind)
      const exchange: Exchange = {
        kind,
        isHit: this.#recovery !== undefined,
        isDropped: false,
        lostAnswer: undefined,
        recoveryTook: 0
      }
      const cut = this.#prepareCut(exchange)
      this.#underWay.add(exchange)
      const answering = attempt()
      const cutting = cut?.(answering)
      const answer = await answering.catch((error: unknown) => new BrokenOff(error))
      this.#underWay.delete(exchange)
      await cutting

      const isAgain = attempts < MOST_ATTEMPTS && this.#isLost(request, exchange, { answer, before: lost })
      if (!isAgain) {
        if (answer instanceof BrokenOff) throw answer.cause
        return lost === undefined ? answer : this.#answerOfRetry(request, lost, answer)
      }
      if (exchange.isHit && !(answer instanceof BrokenOff)) lost = exchange
      await this.#recovery
      exchange.recoveryTook = this.#recoveryTook
      await delay(5)
    }
  }

  /** Resolves when there is no cut that would hit a request of this kind at the wrong moment. */
  async #allowed(kind: Kind): Promise<void> {
    const blocking = (): Promise<void> | undefined =>
      (isDelicate(kind) ? this.#cutting : undefined) ?? (kind === 'once' ? this.#recovery : undefined)
    while (blocking() !== undefined) await blocking()
  }

  /** Whether the cut cost the client its answer. Throws where it must not, and where it must. */
  #isLost(
    { method = 'GET', target }: Request,
    { kind, isHit, isDropped }: Exchange,
    { answer, before }: { readonly answer: Answer | BrokenOff; readonly before: Exchange | undefined }
  ): boolean {
    const what = `${method} ${target}`
    if (answer instanceof BrokenOff) {
      // What has begun cannot be begun again, so a client gets a part of an export and an error.
      const isLost = isHit && kind === 'read' && /\/export\b/.test(target)
      if (isLost) this.#counts.exportsLost += 1
      return isLost
    }
    if (before !== undefined && answer.status === 409 && answer.text.includes(IN_FLIGHT)) return true
    if (!isHit) return false
    const isLost = answer.status === 503 && (method === 'HEAD' || answer.text.includes(UNREACHABLE))
    if (kind === 'read') return isLost
    if (isLost) this.#counts.writesLost += 1
    else if (isDropped) throw new Error(`The gateway sent ${what} again: ${answer.status} ${answer.text.slice(0, 300)}`)
    else if (before === undefined && kind === 'keyed' && isReplayed(answer)) {
      throw new Error(`The gateway sent ${what} again: it was answered with a replay.`)
    }
    return isLost
  }

  /** What the client has got after a first attempt that was lost. */
  #answerOfRetry({ method = 'GET', target }: Request, lost: Exchange, answer: Answer): Answer {
    // A data service that the test itself has stopped cannot be reached by the second request either.
    const isOwed = lost.kind === 'read' && answer.status !== 503
    if (isOwed && lost.recoveryTook < GIVES_UP_AFTER) {
      throw new Error(`${method} ${target} was answered 503, although the connection was cut once.`)
    }
    if (lost.kind !== 'keyed' || !isReplayed(answer)) return answer
    this.#counts.replays += 1
    const { lostAnswer } = lost
    const isWhole = lostAnswer?.includes('{"') === true && lostAnswer.length < ONE_FRAME
    if (isWhole && !lostAnswer.includes(answer.bytes)) {
      throw new Error(`The replay of ${method} ${target} is not the answer that was lost: ${answer.text}`)
    }
    const { 'idempotent-replayed': _, ...headers } = answer.headers
    const at = answer.rawHeaders.findIndex((name, n) => n % 2 === 0 && name.toLowerCase() === 'idempotent-replayed')
    return { ...answer, headers, rawHeaders: answer.rawHeaders.toSpliced(at, 2) }
  }

  #kindOf({ method = 'GET', target, headers = {} }: Request): Kind {
    // The code that an OpenID provider has given out is good once.
    if (target.startsWith('/auth/callback')) return 'once'
    // The first page of a session begins with a refresh, and a renderer that shows whether that failed.
    if (method === 'GET' && String(headers['cookie']).includes('refresh=')) return 'once'
    if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'read'
    const [, key] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key') ?? []
    // A DELETE looks at no key.
    if (method === 'DELETE' || typeof key !== 'string' || key.trim() === '') return 'write'
    // The same key may be written in several ways (RFC 8941 section 3.3.3).
    const id = `${method} ${target} ${key.replaceAll(/[\s"\\]/g, '')}`
    if (this.#keys.has(id)) return 'write'
    this.#keys.add(id)
    return 'keyed'
  }

  /** Holds the connection before the request is sent. What it answers then cuts it; undefined if no cut is due, or allowed. */
  #prepareCut(exchange: Exchange): ((answering: Promise<unknown>) => Promise<void>) | undefined {
    const way = this.#way
    if (way?.isConnected !== true || this.#cutting !== undefined || this.#recovery !== undefined) return undefined
    if (performance.now() < this.#nextCut) return undefined
    if ([...this.#underWay].some(({ kind, isHit }) => isDelicate(kind) || isHit)) return undefined
    const moments = MOMENTS[exchange.kind]
    // At any time is too late for most requests, and a file of tests may hold few.
    const moment = moments[this.#below(this.#counts.cuts === 0 ? 1 : moments.length)]
    if (moment === undefined) return undefined
    let held: Buffer = Buffer.alloc(0)
    const isOnItsWay = new Promise<void>((resolve) => {
      if (moment === 'whenever') return
      way.hold(moment === 'request' ? 'client' : 'server', (bytes) => {
        held = bytes
        if (moment === 'request' ? CALL.test(bytes.toString('latin1')) : bytes.length >= LEAST_ANSWER) resolve()
      })
    })
    const cut = async (answering: Promise<unknown>): Promise<void> => {
      let isAnswered = false
      const answered = answering.then(
        () => (isAnswered = true),
        () => (isAnswered = true)
      )
      await Promise.race([answered, isOnItsWay, delay(moment === 'whenever' ? this.#below(WHENEVER) : LONGEST_HOLD)])
      this.#cutting = undefined
      if (isAnswered || (moment !== 'whenever' && held.length === 0)) way.open()
      else this.#cut(way, moment, { exchange, held })
    }
    return (answering) => (this.#cutting = cut(answering))
  }

  #cut(
    way: WayToServer,
    moment: Moment,
    { exchange, held }: { readonly exchange: Exchange; readonly held: Buffer }
  ): void {
    this.#counts.cuts += 1
    this.#counts[moment] += 1
    this.#counts.requestsHit += this.#underWay.size
    const writes = [...this.#underWay].filter(({ kind }) => kind !== 'read')
    for (const one of this.#underWay) one.isHit = true
    exchange.isDropped =
      moment === 'request' && writes.length === 1 && writes[0] === exchange && WRITE_CALL.test(held.toString('latin1'))
    if (moment === 'answer' && this.#underWay.size === 1 && held.length >= LEAST_ANSWER) exchange.lostAnswer = held
    this.#recovery = this.#recovered(way.connected())
    way.cut(exchange.kind === 'write' ? 0 : this.#below(held.length))
  }

  async #recovered(connected: Promise<void>): Promise<void> {
    const began = performance.now()
    const end = began + LONGEST_RECOVERY
    await Promise.race([connected, delay(LONGEST_RECOVERY, undefined, { ref: false })])
    const isReady = async (): Promise<boolean> =>
      (await call(`http://${this.#gateway}`, '/health/ready', { alone: true })).status !== 503
    while (performance.now() < end && !(await isReady().catch(() => false))) await delay(5)
    this.#recovery = undefined
    this.#recoveryTook = performance.now() - began
    this.#nextCut = performance.now() + this.#below(LONGEST_PAUSE)
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

/** An attempt without an answer, or without the end of it. */
class BrokenOff {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** Whether such a request must not be under way when a cut is begun for another one. */
function isDelicate(kind: Kind): boolean {
  return kind === 'write' || kind === 'once'
}

function isReplayed({ headers }: Answer): boolean {
  return headers['idempotent-replayed'] !== undefined
}
