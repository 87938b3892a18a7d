import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { DomainError, rejection } from '../../shared/errors.js'
import { BODY_TOO_DEEP, MAX_BODY_DEPTH } from '../../shared/wire.js'

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i
/** JSON is UTF-8 (RFC 8259 section 8.1): a charset may say so, or be left out. */
const OTHER_CHARSET = /;[\t ]*charset=(?!"?utf-8"?[\t ]*(?:;|$))/i

/** Throws `media-type.unsupported` unless the body is announced as plain JSON. Where there is none, nothing need be. */
export function checkJsonMediaType(headers: IncomingHttpHeaders): void {
  const { 'content-type': type, 'content-encoding': coding } = headers
  if (coding !== undefined && coding !== '' && coding.toLowerCase() !== 'identity') {
    throw new DomainError('media-type.unsupported', 'The body must be sent without a Content-Encoding.')
  }
  if (type === undefined ? announcesBody(headers) : !JSON_MEDIA_TYPE.test(type) || OTHER_CHARSET.test(type)) {
    throw new DomainError(
      'media-type.unsupported',
      'The body must be sent with Content-Type: application/json, in UTF-8.'
    )
  }
}

function announcesBody({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  return coding !== undefined || Number(length ?? 0) > 0
}

const QUOTATION_MARK = 0x22
const BACKSLASH = 0x5c
/** `[` and `{`, and `]` and `}`, differ in this bit alone. */
const BRACE = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/**
 * Throws `body.malformed` unless the bytes are JSON (RFC 8259), which is UTF-8 without a byte order mark, and
 * `body.invalid` where it is nested too deeply, which is told before the parser builds any of it. What they say is
 * dropped: a number would not keep its digits, so the bytes themselves go on.
 */
export function checkJsonBody(body: Buffer): void {
  if (body.length === 0) throw malformed('The body is empty: send a JSON object.')
  if (!isUtf8(body)) throw malformed('The body is not UTF-8.')
  const { deepest, balanced } = nesting(body)
  if (!balanced) throw malformed('The body is not well-formed JSON.')
  if (deepest > MAX_BODY_DEPTH) {
    throw rejection([{ code: 'body.invalid', detail: BODY_TOO_DEEP, place: { in: 'pointer', name: '' } }])
  }
  try {
    JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw malformed('The body is not well-formed JSON.', cause)
  }
}

/** How many arrays and objects are open at once at most, and whether as many end as begin and every string ends. */
function nesting(body: Buffer): { readonly deepest: number; readonly balanced: boolean } {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (byte === QUOTATION_MARK) inString = !inString
    else if (inString) {
      if (byte === BACKSLASH) at++
    } else if ((byte | BRACE) === OPENING) deepest = Math.max(deepest, ++depth)
    else if ((byte | BRACE) === CLOSING && --depth < 0) break
  }
  return { deepest, balanced: depth === 0 && !inString }
}

function malformed(detail: string, cause?: unknown): DomainError {
  return new DomainError('body.malformed', detail, cause === undefined ? {} : { cause })
}
