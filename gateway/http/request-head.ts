import { DomainError } from '../../shared/errors.js'
import { checkedTrace } from '../../shared/observe/tracing.js'
import { checkBodyLength } from '../../shared/transport/wire.js'
import { headerLines } from './header-fields.js'
import { pathOfTarget } from './query-string.js'

/** A request line with its headers as received. */
export interface RequestHead {
  readonly method: string
  readonly target: string
  /** `1.1` */
  readonly httpVersion: string
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
}

/** Bytes of the request line and the headers together (contract.md section 2). */
export const MAX_HEAD_BYTES = 64 * 1024

/** Header lines. Each takes a hundred bytes and more, however short it is. */
export const MAX_HEADER_LINES = 2000

/** RFC 3986 section 3.2: a registered name or an IP literal, and a port. An empty value is a valid Host. */
const HOST_FIELD = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=%]*|\[[0-9A-Za-z:.%]+\])(?::\d{0,5})?$/

/**
 * Checks what the parser accepts and RFC 9112 section 3.2 does not, and expectations (RFC 9110 section 10.1.1). Throws
 * `request.malformed`.
 */
export function checkRequestHead({ target, rawHeaders, httpVersion }: RequestHead): void {
  if (target.includes('#')) throw badHead('The request target must not hold a fragment: write a literal # as %23.')
  const hosts = headerLines(rawHeaders, 'host')
  if (hosts.length > 1) throw badHead('The header Host must be sent once.')
  if (hosts.length === 0 && httpVersion !== '1.0') throw badHead('The header Host is missing.')
  if (!HOST_FIELD.test(hosts[0] ?? '')) throw badHead('The header Host is not a host name with an optional port.')
  const expectations = httpVersion === '1.0' ? [] : headerLines(rawHeaders, 'expect')
  if (expectations.some((line) => line.toLowerCase() !== '100-continue')) {
    throw badHead('The header Expect may only say 100-continue.')
  }
}

function badHead(detail: string): DomainError {
  return new DomainError('request.malformed', detail)
}

/** Throws `uri.too-long` or `headers.too-large`. */
export function checkRequestHeadSize(head: RequestHead): void {
  if (head.target.length > MAX_HEAD_BYTES) {
    throw new DomainError('uri.too-long', 'The request target is longer than 64 KiB.')
  }
  if (headBytes(head) > MAX_HEAD_BYTES) {
    throw new DomainError('headers.too-large', 'The request line and headers are longer than 64 KiB together.')
  }
  if (head.rawHeaders.length > 2 * MAX_HEADER_LINES) {
    throw new DomainError('headers.too-large', `The request has more than ${MAX_HEADER_LINES} header lines.`)
  }
}

/** `METHOD SP target SP HTTP/1.1 CRLF`, `name: value CRLF` for each header, CRLF. */
function headBytes({ method, target, rawHeaders }: RequestHead): number {
  let bytes = method.length + target.length + ' '.length + ' HTTP/1.1\r\n'.length + '\r\n'.length
  for (const text of rawHeaders) bytes += text.length + 2
  return bytes
}

/** Throws `body.too-large` if `Content-Length` announces too much, before any of the body is read. */
export function checkBodySize(contentLength: string | undefined): void {
  if (contentLength !== undefined) checkBodyLength(Number(contentLength))
}

const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ ([\x21-\x7e]+) HTTP\/\d\.\d\r?\n/gm
const BLANK_LINE = /\n\r?\n/

/**
 * The path of the request in whose head the parser found an error; `/` if its request line cannot be read. `packet` is
 * the last piece of the connection that the parser received, which may begin with other requests, and `at` the offset of
 * the error in it.
 */
export function pathOfMalformedHead(packet: string, at: number): string {
  const lineEnd = packet.indexOf('\n', at)
  const seen = lineEnd === -1 ? packet : packet.slice(0, lineEnd + 1)
  const line = [...seen.matchAll(REQUEST_LINE)].at(-1)
  if (line === undefined) return '/'
  const [text, target = '/'] = line
  const headers = seen.slice(line.index + text.length - 1, at)
  return BLANK_LINE.test(headers) ? '/' : pathOfTarget(target)
}

/** `traceparent` for the next hop: the caller's trace id and flags with a new span id. undefined as of `checkedTrace`. */
export function continueTrace(header: string | undefined, newSpanId: () => string): string | undefined {
  const [version, trace, , flags] = checkedTrace(header)?.split('-') ?? []
  return trace && [version, trace, newSpanId(), flags].join('-')
}
