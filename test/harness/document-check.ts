import { type Answer, call, type CallOptions } from '../stack/http-call.js'
import { JudgedDocument, type SentRequest } from './judged-document.js'
import type { Json } from './openapi-document.js'

type Request = CallOptions & { readonly target: string }

const MOST_SHOWN = 1000

const NOTHING = { exchanges: 0, refused: 0, withoutDocument: 0 }

/**
 * Holds each exchange of a test with a gateway against `/openapi.json`, as it is for the caller: a request that the document
 * does not accept must be rejected, and every response must be one that the document describes.
 */
export class DocumentCheck {
  /** undefined unless this is a run with this check, by TEST_DOCUMENT. */
  static readonly ofThisRun = process.env['TEST_DOCUMENT'] === undefined ? undefined : new DocumentCheck()

  /** By their text: most callers see the same. */
  readonly #judges = new Map<string, JudgedDocument>()
  /** By gateway and access token. */
  readonly #seen = new Map<string, JudgedDocument>()
  #counts = NOTHING

  /** Rejects where the exchange is not as the document says. */
  async check(base: string, request: Request, answer: Answer): Promise<void> {
    const { origin, pathname } = new URL(base)
    const sent = sentRequest(request, pathname.replace(/\/$/, ''))
    const known = await this.#documentFor(origin + pathname, sent.headers['authorization'])
    if (known === undefined) {
      this.#count('withoutDocument')
      return
    }
    this.#count('exchanges')
    const found = this.#violations(known, sent, answer)
    if (found.length === 0) return
    const shown = `${request.method ?? 'GET'} ${request.target} ${sent.body ?? ''}\n${answer.status} ${answer.text}`
    throw new Error(`The OpenAPI document and the service differ:\n${found.join('\n')}\n${shown.slice(0, MOST_SHOWN)}`)
  }

  /** Prints what was checked since the last end. Throws if that was nothing. */
  end(): void {
    const counts = this.#counts
    this.#counts = NOTHING
    process.stdout.write(`      against the document: ${JSON.stringify(counts)}\n`)
    if (counts.exchanges === 0) throw new Error('No exchange was held against the document.')
  }

  #count(what: keyof typeof NOTHING): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 }
  }

  #violations(judge: JudgedDocument, sent: SentRequest, answer: Answer): string[] {
    const { status } = answer
    if (sent.method === 'OPTIONS' && status < 400) {
      return judge.differencesOfAllow(sent.target, answer.headers.allow)
    }
    const refusals = judge.refusals(sent)
    if (refusals.length > 0) this.#count('refused')
    return [
      ...(status < 400 ? refusals.map((one) => `The service accepts what the document does not: ${one}`) : []),
      ...judge.differences(sent, answer)
    ]
  }

  async #documentFor(base: string, authorization: string | undefined): Promise<JudgedDocument | undefined> {
    const key = `${base} ${authorization ?? ''}`
    const known = this.#seen.get(key)
    if (known !== undefined) return known
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await call(base, `${new URL(base).pathname.replace(/\/$/, '')}/openapi.json`, { headers }).catch(
      () => undefined
    )
    if (answer?.status !== 200) return authorization === undefined ? undefined : this.#documentFor(base, undefined)
    const judge = this.#judges.get(answer.text) ?? new JudgedDocument(JSON.parse(answer.text) as Json)
    this.#judges.set(answer.text, judge)
    this.#seen.set(key, judge)
    return judge
  }
}

/** The request with its path below the prefix of all routes. */
function sentRequest({ method = 'GET', target, headers = {}, token, body }: Request, prefix: string): SentRequest {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(', ')] as const]
  )
  return {
    method,
    target: target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...Object.fromEntries(lines) },
    body: body === undefined ? undefined : String(body)
  }
}
