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

/** What proxies say of where a request comes from and what it was. A client's own are forged. */
const ASSERTED =
  /^(?:forwarded|via|(?:x-)?(?:true-|cluster-)?client-ip|x-cluster-client-ip|cf-connecting-ip|x-(?:forwarded|original|rewrite|real|envoy)(?:-.*)?|x-http-method(?:-override)?|x-method-override)$/

/**
 * Words by which proxies and identity providers tell who the user is, `X-Remote-User`, `X-Auth-Request-Email`,
 * `X-MS-CLIENT-PRINCIPAL-ID` and the like: no list of names is ever whole, and a browser sends none with these words.
 */
const IDENTITY =
  /^(?:account|anonymous|assertions?|auth|authelia|authentik|authenticated|cert|claims?|consumer|credentials?|customer|emails?|groups?|identity|impersonate|jwt|login|member|oauth2?|oidc|owner|permissions?|pomerium|principals?|roles?|saml|scopes?|sso|sub|subject|tailscale|tenant|token|uid|users?|userid|userinfo|username|webauth)$/

/** They hold the words and are no identities. */
const HARMLESS: ReadonlySet<string> = new Set(['user-agent', 'sec-fetch-user', 'x-csrf-token', 'x-xsrf-token'])

function isAsserted(name: string): boolean {
  const plain = name.replaceAll('_', '-')
  if (HARMLESS.has(plain)) return false
  return ASSERTED.test(plain) || plain.split('-').some((word) => IDENTITY.test(word))
}

/** A client's headers as the renderer gets them: nothing of the connection, nothing that only the gateway may say. */
export function upstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  vouched: Vouched,
  hasBody: boolean
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP_BY_HOP.has(name) && !isAsserted(name) && (hasBody || name !== 'content-length')
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
