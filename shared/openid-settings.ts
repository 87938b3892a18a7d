import { isLoopback } from './ip-address.js'
import type { SettingsReader } from './settings.js'

/** A client of one OpenID provider, as both processes must know it. */
export interface OpenIdClient {
  /** The issuer identifier (OpenID Connect Discovery section 3), exactly as the provider writes it. */
  readonly issuer: string
  /** The client id that the provider gave to this service. ID tokens have it as `aud`. */
  readonly clientId: string
}

/**
 * Reads OIDC_ISSUER and OIDC_CLIENT_ID, which must be set together; undefined if neither is set. `others` are settings of
 * the calling process that have no effect without the two: a problem is added for each one that is set.
 */
export function readOpenIdClient(
  reader: SettingsReader,
  others: readonly (readonly [name: string, isSet: boolean])[]
): OpenIdClient | undefined {
  const issuer = reader.parsed('OIDC_ISSUER', { fallback: '', parse: parseIssuer })
  const clientId = reader.optionalText('OIDC_CLIENT_ID')
  if (issuer === '' && clientId === undefined) {
    for (const [name, isSet] of others) {
      if (isSet) reader.addProblem(`${name} is of use only with OIDC_ISSUER, which names the provider.`)
    }
    return undefined
  }
  if (issuer === '' || clientId === undefined) {
    reader.addProblem('OIDC_ISSUER and OIDC_CLIENT_ID must be set together, or none of them.')
    return undefined
  }
  return { issuer, clientId }
}

/** Characters of an issuer. The database stores it beside each linked account. */
export const MAX_ISSUER_LENGTH = 512

/**
 * An issuer without TLS could be replaced on the way, so http is accepted for this machine only. Returned unchanged: the
 * provider's tokens have exactly this text.
 */
function parseIssuer(text: string): string | Error {
  if (text === '') return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isSecureUrl(url)) return new Error('must be an https: URL (http: only for this machine)')
  if (text.length > MAX_ISSUER_LENGTH) return new Error(`must have at most ${MAX_ISSUER_LENGTH} characters`)
  // OpenID Connect Discovery section 3: an issuer has neither query nor fragment.
  return /[?#]/.test(text) || url.username !== '' || url.password !== ''
    ? new Error('must have neither query nor fragment, user name nor password')
    : text
}

/** Whether nobody on the way can read or replace what the URL leads to: https, or http on this machine. */
export function isSecureUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** Logs each setting whose URL leads over a network on which anybody in between can read. */
export function warnOfClearText(
  urls: Readonly<Record<string, string | undefined>>,
  log: { readonly warn: (setting: object, text: string) => void }
): void {
  for (const [setting, url] of Object.entries(urls)) {
    if (url === undefined || isSecureUrl(new URL(url))) continue
    log.warn(
      { setting },
      'the URL of this setting leads over a network in clear text: anybody on the way can read it. Use https'
    )
  }
}

/** Where the provider's metadata is (OpenID Connect Discovery section 4). */
export function metadataUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}
