import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Http2ServerRequest } from 'node:http2'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import { isWithinBounds } from '../../shared/transport/json-bounds.js'
import { checkBodyLength } from '../../shared/transport/wire.js'

const JSON_MEDIA_TYPE = 'application/json'
/** The format of patches (RFC 7396). It is JSON as well. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json'
/** The one body that is no JSON: of a request for a machine's token (RFC 6749 section 4.4.2). */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Splits the media type from its parameters. */
const MEDIA_TYPE = /^([^;\t ]*)[\t ]*(?:;|$)/
/** JSON is always UTF-8 (RFC 8259 section 8.1), so a charset may only repeat that. */
const OTHER_CHARSET = /;[\t ]*charset=(?!"?utf-8"?[\t ]*(?:;|$))/i

/**
 * Throws `media-type.unsupported` unless the body is announced as the media type, plain JSON by default. A request without
 * a body needs no type.
 */
export function checkMediaType(
  headers: IncomingHttpHeaders,
  mediaType: typeof JSON_MEDIA_TYPE | typeof MERGE_PATCH_TYPE | typeof FORM_TYPE = JSON_MEDIA_TYPE
): void {
  mediaTypeAmong(headers, [mediaType])
}

/** The same for several media types. Returns which of them it is; undefined without a body. */
export function mediaTypeAmong<Type extends string>(
  headers: IncomingHttpHeaders,
  mediaTypes: readonly Type[]
): Type | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers
  if (coding !== undefined && coding !== '' && coding.toLowerCase() !== 'identity') {
    const place = { in: 'header', name: 'Content-Encoding' } as const
    throw rejectionAt('media-type.unsupported', 'The body must be sent without a Content-Encoding.', { place })
  }
  const sent = MEDIA_TYPE.exec(type ?? '')?.[1]?.toLowerCase()
  const found = OTHER_CHARSET.test(type ?? '') ? undefined : mediaTypes.find((one) => one === sent)
  if (type === undefined ? announcesBody(headers) : found === undefined) {
    const detail = `The body must be sent with Content-Type: ${mediaTypes.join(' or ')}, in UTF-8.`
    throw rejectionAt('media-type.unsupported', detail, { place: { in: 'header', name: 'Content-Type' } })
  }
  return found
}

/** Whether the head announces a body (RFC 9112 section 6). */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Throws `body.malformed` unless the bytes are JSON (RFC 8259) in UTF-8 without a byte order mark. Throws `body.too-large` if
 * it holds too many values, and `body.invalid` if it is nested too deeply; both are checked before JSON.parse builds
 * anything. Returns the parsed value. The routes of entities do not use it and forward the bytes, because JSON.parse rounds
 * numbers.
 */
export function checkJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw malformedBody('The body is empty: send a JSON object.')
  if (!isUtf8(body)) throw malformedBody('The body is not UTF-8.')
  if (!isWithinBounds(body)) throw malformedBody('The body is not well-formed JSON.')
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw malformedBody('The body is not well-formed JSON.', cause)
  }
}

function malformedBody(detail: string, cause?: unknown): DomainError {
  return rejectionAt('body.malformed', detail, { place: { in: 'pointer', name: '' }, cause })
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Calls `begin` when a large request has its turn: those of a client begin one in a turn of the event loop. */
    beginLarge(request: FastifyRequest, begin: () => void): void
  }
}

/** Bytes of a body from which it has a turn: to parse 64 KiB of JSON may take 3 ms. */
const LARGE_BODY_BYTES = 8 * 1024

/** Makes the routes of this scope receive a body of any type as a Buffer. What has come of it counts for its client. */
export function keepBodiesAsBuffers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', wholeBody)
}

/** Rejects with `body.too-large`, `request.malformed` for a body that breaks off, or `upstream.unavailable`. */
function wholeBody(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> {
  const { unsent, headers, server } = request
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    const stop = (error: unknown): void => {
      pieces.length = 0
      payload.off('data', take)
      reject(error)
    }
    const take = (piece: Buffer): void => {
      pieces.push(piece)
      length += piece.length
      try {
        checkBodyLength(length)
        unsent?.receive(length)
      } catch (error) {
        stop(error)
      }
    }
    payload.on('data', take)
    payload.once('error', (cause) => stop(new DomainError('request.malformed', 'The body broke off.', { cause })))
    payload.once('end', () => {
      if (isReset(payload)) return stop(new DomainError('request.malformed', 'The body broke off.'))
      const announced = Number(headers['content-length'] ?? length)
      if (announced !== length) {
        const detail = 'The body does not have the length that Content-Length announced.'
        return stop(new DomainError('request.malformed', detail))
      }
      const begin = (): void => resolve(Buffer.concat(pieces, length))
      if (length < LARGE_BODY_BYTES) begin()
      else server.beginLarge(request, begin)
    })
  })
}

/**
 * Whether a body ended because its HTTP/2 stream was reset, when Node emits `end` too. A stream whose request has come to its
 * end is closed after its answer only.
 */
export function isReset(request: unknown): boolean {
  return request instanceof Http2ServerRequest && request.stream.closed
}

/** The bytes of a body that keepBodiesAsBuffers has kept; empty if there was no body. */
export function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** checkMediaType as a `preParsing` hook, which runs before any of the body is read. */
export function requireJsonMediaType(
  request: FastifyRequest,
  _reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  checkMediaType(request.headers)
  rest[1]()
}

/** The same for patches. The error names the format that is taken in `Accept-Patch` (RFC 5789 section 2.2). */
export function requireMergePatchType(
  request: FastifyRequest,
  reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  try {
    checkMediaType(request.headers, MERGE_PATCH_TYPE)
  } catch (error) {
    reply.header('accept-patch', MERGE_PATCH_TYPE)
    throw error
  }
  rest[1]()
}

/** checkJsonBody as a `preValidation` hook. */
export function requireJsonBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  checkJsonBody(bodyOf(request))
  done()
}

/** The same for routes whose body may be left out. */
export function requireJsonBodyIfAny(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const body = bodyOf(request)
  if (body.length > 0) checkJsonBody(body)
  done()
}
