import type { IncomingHttpHeaders } from 'node:http'

/** What the gateway itself vouches for towards the renderer. */
export interface Vouched {
  readonly requestId: string
  readonly traceparent: string | undefined
  /** The cookies as they are now, refreshed ones in place of expired ones; undefined for none. */
  readonly cookie: string | undefined
  /** Of the public base URL. */
  readonly host: string
  readonly proto: string
  /** Addresses from the client inwards, the last one being who connected to the gateway. */
  readonly forwardedFor: string
}

/** Of one connection only (RFC 9110 section 7.6.1); what `Connection` names besides is gone already. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // undici does not send it, and Node has answered it already.
  'expect'
])

/** Headers by which proxies tell who the user is, or where a request comes from: a client's own are forged. */
const ASSERTED =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|(?:x-)?remote-user|x-user(?:-.*)?|x-auth-request-.*|x-auth(?:enticated)?(?:-.*)?|x-ms-client-principal(?:-.*)?|x-goog-(?:iap-.*|authenticated-user-.*)|x-amzn-oidc-.*|x-(?:ssl-)?client-(?:cert|verify|dn|s-dn|i-dn)(?:-.*)?|ssl-client-.*|x-identity(?:-.*)?|x-principal(?:-.*)?|x-roles?|x-permissions?|x-customer-id|x-owner-id)$/

/** A client's headers as the renderer gets them: nothing of the connection, nothing that only the gateway may say. */
export function upstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  vouched: Vouched,
  hasBody: boolean
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) =>
      !HOP_BY_HOP.has(name) && !ASSERTED.test(name.replaceAll('_', '-')) && (hasBody || name !== 'content-length')
  )
  const { requestId, traceparent, cookie, host, proto, forwardedFor } = vouched
  const sent: IncomingHttpHeaders = {
    ...Object.fromEntries(kept),
    'x-request-id': requestId,
    'x-forwarded-for': forwardedFor,
    'x-forwarded-host': host,
    'x-forwarded-proto': proto,
    ...(traceparent === undefined ? {} : { traceparent })
  }
  delete sent.cookie
  if (cookie !== undefined) sent.cookie = cookie
  return sent
}
