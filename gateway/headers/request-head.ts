import { DomainError } from '../../shared/domain-error.js'

/** A request line with its headers as they came. */
export interface RequestHead {
  readonly method: string
  readonly target: string
  /** `1.1` */
  readonly httpVersion: string
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
}

/** Bytes of the request line and the headers, contract.md section 2. */
export const MAX_HEAD_BYTES = 64 * 1024

/** RFC 3986 section 3.2: a registered name or address, or an IP literal, and a port. Empty is a valid Host. */
const HOST = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=%]*|\[[0-9A-Za-z:.%]+\])(?::\d{0,5})?$/

/** Throws `uri.too-long` or `headers.too-large`. */
export function checkRequestHeadSize(head: RequestHead): void {
  if (head.target.length > MAX_HEAD_BYTES) {
    throw new DomainError('uri.too-long', 'The request target is longer than 64 KiB.')
  }
  if (headBytes(head) > MAX_HEAD_BYTES) {
    throw new DomainError('headers.too-large', 'The request line and headers are longer than 64 KiB together.')
  }
}

/** Throws `request.malformed`. */
export function checkRequestHead({ target, rawHeaders, httpVersion }: RequestHead): void {
  if (target.includes('#')) throw malformed('The request target must not hold a fragment: write a literal # as %23.')
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isHost(rawHeaders[index - 1]))
  if (hosts.length > 1) throw malformed('The header Host must be sent once.')
  if (hosts.length === 0 && httpVersion !== '1.0') throw malformed('The header Host is missing.')
  if (!HOST.test(hosts[0] ?? '')) throw malformed('The header Host is not a host name with an optional port.')
}

/** `METHOD SP target SP HTTP/1.1 CRLF`, `name: value CRLF` each, CRLF. */
function headBytes({ method, target, rawHeaders }: RequestHead): number {
  let bytes = method.length + target.length + ' '.length + ' HTTP/1.1\r\n'.length + '\r\n'.length
  for (const text of rawHeaders) bytes += text.length + 2
  return bytes
}

function isHost(name: string | undefined): boolean {
  return name?.length === 4 && name.toLowerCase() === 'host'
}

function malformed(detail: string): DomainError {
  return new DomainError('request.malformed', detail)
}
