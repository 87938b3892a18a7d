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
  static readonly #byGateway = new Map<string, DocumentCheck>()

  /** That of the gateway at this URL; undefined for one whose exchanges are not checked. */
  static of(gateway: string): DocumentCheck | undefined {
    return DocumentCheck.#byGateway.get(gateway)
  }

  /** By their text: most callers see the same. */
  readonly #judges = new Map<string, JudgedDocument>()
  /** By gateway and access token. */
  readonly #seen = new Map<string, Known>()
  #counts = NOTHING
  #gateway = ''

  /** Rejects where the exchange is not as the document says. */
  async check(base: string, request: Request, answer: Answer): Promise<void> {
    const { authorization } = headersOf(request)
    const known = await this.#documentFor(base, authorization)
    if (known === undefined) return this.#count('withoutDocument')
    this.#count('exchanges')
    const sent = sentRequest(request, known.prefix)
    const found = this.#violations(known.judge, sent, answer)
    if (found.length === 0) return
    const shown = `${request.method ?? 'GET'} ${request.target} ${sent.body ?? ''}\n${answer.status} ${answer.text}`
    throw new Error(`The OpenAPI document and the service differ:\n${found.join('\n')}\n${shown.slice(0, MOST_SHOWN)}`)
  }

  /** The gateway whose exchanges are checked, by its URL. */
  serve(gateway: string): void {
    this.#gateway = gateway
    DocumentCheck.#byGateway.set(gateway, this)
  }

  /** Prints what was checked. Throws if a document was asked for and there was none. */
  end(): void {
    DocumentCheck.#byGateway.delete(this.#gateway)
    const counts = this.#counts
    process.stdout.write(`      against the document: ${JSON.stringify(counts)}\n`)
    if (counts.exchanges === 0 && counts.withoutDocument > 0) throw new Error('No gateway had a document.')
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

  async #documentFor(base: string, authorization: string | undefined): Promise<Known | undefined> {
    const key = `${base} ${authorization ?? ''}`
    const known = this.#seen.get(key)
    if (known !== undefined) return known
    const headers = authorization === undefined ? {} : { authorization }
    const ask = (prefix: string): Promise<Answer | undefined> =>
      call(base, `${prefix}/openapi.json?exact=true`, { headers }).catch(() => undefined)
    let prefix = ''
    let answer = await ask(prefix)
    if (answer?.status === 404 && answer.headers['content-type'] === 'application/problem+json') {
      prefix = prefixOf(answer)
      answer = await ask(prefix)
    }
    // A token that is not accepted shows nothing, and its requests are judged as those of anybody.
    if (answer?.status !== 200) return authorization === undefined ? undefined : this.#documentFor(base, undefined)
    const judge = this.#judges.get(answer.text) ?? new JudgedDocument(JSON.parse(answer.text) as Json)
    const found = { judge, prefix }
    this.#judges.set(answer.text, judge)
    this.#seen.set(key, found)
    return found
  }
}

/** A document and the path under which all routes are, as PUBLIC_BASE_URL says. */
interface Known {
  readonly judge: JudgedDocument
  readonly prefix: string
}

/** The path of the base URL, as the `type` of a problem document shows it. */
function prefixOf({ text }: Answer): string {
  const { type } = JSON.parse(text) as { readonly type: string } // of the gateway
  return new URL(type).pathname.replace(/\/problems\/.*$/, '')
}

/** The request with its path below the prefix of all routes. */
function sentRequest(request: Request, prefix: string): SentRequest {
  const { method = 'GET', target, body } = request
  return {
    method,
    target: target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target,
    headers: headersOf(request),
    body: body === undefined ? undefined : String(body)
  }
}

/** By names in lower case. */
function headersOf({ token, headers = {} }: Request): Readonly<Record<string, string>> {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    // White space around a value is none of it (RFC 9110 section 5.5).
    value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(', ').trim()] as const]
  )
  return { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...Object.fromEntries(lines) }
}
