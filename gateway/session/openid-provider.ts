import type * as openIdClient from 'openid-client'
import { boundedText } from '../../shared/bounded-text.js'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { loadOptional } from '../../shared/optional-package.js'
import type { OpenIdClient } from '../../shared/openid-settings.js'
import { SingleFlight } from '../../shared/single-flight.js'
import { messageOf } from '../../shared/start-error.js'

/** The settings OIDC_… of the gateway. */
export interface OpenIdSettings extends OpenIdClient {
  /** undefined: a public client, which has PKCE alone. */
  readonly clientSecret: string | undefined
  /** How the secret is sent to the token endpoint (OpenID Connect Core section 9). */
  readonly clientAuthentication: ClientAuthentication
  /** With spaces between. */
  readonly scope: string
}

export const CLIENT_AUTHENTICATIONS = ['client_secret_basic', 'client_secret_post'] as const
type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number]

/** The three secrets of one sign-in, 256 random bits each in base64url. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier (RFC 7636). */
  readonly verifier: string
}

/** What the provider has sent to the callback. */
export interface CallbackParams {
  readonly code: string
  readonly state: string
  /** RFC 9207; undefined if it sent none. */
  readonly issuer: string | undefined
}

/** Seconds for one request to the provider. */
const PROVIDER_TIMEOUT_SECONDS = 5
/** Milliseconds after which the provider's metadata is fetched again. It is used on if that fails. */
const METADATA_FRESH_MS = 60 * 60_000
/** Milliseconds after a failure until the metadata that is known is fetched again. */
const METADATA_COOL_DOWN_MS = 60_000
/** Seconds after which a client may try again if the provider cannot be reached. */
const PROVIDER_RETRY_SECONDS = 5

interface Discovered {
  readonly client: Client
  readonly configuration: openIdClient.Configuration
  /** Epoch milliseconds. */
  readonly freshUntil: number
}

type Client = typeof openIdClient

/** Loads the client, which most gateways do not need. Throws a StartError with the command that installs it if it is missing. */
export function loadOpenIdClient(): Promise<Client> {
  return loadOptional({ neededBy: 'OIDC_ISSUER', packages: ['openid-client'] }, () => import('openid-client'))
}

/**
 * The OpenID provider, as a client of it. Its metadata is fetched with the first sign-in and not at start: a provider that
 * is down stops nobody from logging in with a password.
 */
export class OpenIdProvider {
  readonly #settings: OpenIdSettings
  readonly #log: Logger
  readonly #now: () => number
  readonly #flights = new SingleFlight<'metadata', Discovered>()
  #discovered: Discovered | undefined

  constructor(settings: OpenIdSettings, { log, now }: { readonly log: Logger; readonly now: () => Date }) {
    this.#settings = settings
    this.#log = log
    this.#now = () => now().getTime()
  }

  /**
   * Where a browser begins a sign-in: authorization code flow with PKCE S256. Throws `upstream.unavailable` if the provider
   * cannot be reached.
   */
  async authorizationUrl(redirectUri: string, { state, nonce, verifier }: SignInSecrets): Promise<string> {
    const { client, configuration } = await this.#provider()
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.scope,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // The ID token is all that the service gets to see, so what a new account is made of must be in it.
      ...(configuration.serverMetadata().claims_parameter_supported === true ? wantedClaims(this.#settings.scope) : {})
    })
    return url.href
  }

  /**
   * Exchanges a code for the provider's ID token. All its other tokens are dropped. Throws `auth.invalid-credentials` if the
   * code is not valid or not any more, and `upstream.unavailable` if the provider cannot be reached.
   */
  async exchange(redirectUri: string, params: CallbackParams, secrets: SignInSecrets): Promise<string> {
    const { client, configuration } = await this.#provider()
    const url = new URL(redirectUri)
    url.searchParams.set('code', params.code)
    url.searchParams.set('state', params.state)
    if (params.issuer !== undefined) url.searchParams.set('iss', params.issuer)
    const checks = {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.verifier,
      idTokenExpected: true
    }
    try {
      const { id_token: idToken } = await client.authorizationCodeGrant(configuration, url, checks)
      if (idToken === undefined) throw new TypeError('A response that was checked has an ID token')
      return idToken
    } catch (error) {
      throw exchangeFailure(error, this.#log)
    }
  }

  async #provider(): Promise<Discovered> {
    const known = this.#discovered
    if (known !== undefined && this.#now() < known.freshUntil) return known
    try {
      const found = await this.#flights.run('metadata', () => this.#discover())
      if (this.#discovered === undefined) this.#log.info({ issuer: this.#settings.issuer }, 'sign-in provider found')
      this.#discovered = found
      return found
    } catch (error) {
      const failure = discoveryFailure(error, this.#log)
      if (known === undefined) throw failure
      this.#log.warn(
        { reason: messageOf(failure.cause ?? failure) },
        'the sign-in provider is used by what is known of it'
      )
      this.#discovered = { ...known, freshUntil: this.#now() + METADATA_COOL_DOWN_MS }
      return known
    }
  }

  async #discover(): Promise<Discovered> {
    const { issuer, clientId, clientSecret, clientAuthentication } = this.#settings
    const client = await loadOpenIdClient()
    const { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, customFetch, discovery, None } = client
    const authentications = { client_secret_basic: ClientSecretBasic, client_secret_post: ClientSecretPost }
    const authentication = clientSecret === undefined ? None() : authentications[clientAuthentication](clientSecret)
    const configuration = await discovery(new URL(issuer), clientId, {}, authentication, {
      timeout: PROVIDER_TIMEOUT_SECONDS,
      [customFetch]: boundedFetch,
      // The settings take http for an issuer on this machine only.
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : []
    })
    // The data service compares `iss` exactly, and openid-client forgives a missing slash at the end.
    if (configuration.serverMetadata().issuer !== issuer) throw anotherIssuer(this.#log)
    return { client, configuration, freshUntil: this.#now() + METADATA_FRESH_MS }
  }
}

/** Reads the whole answer, at most 256 KiB of it: openid-client has no limit of its own. Redirects are not followed. */
async function boundedFetch(url: string, options: openIdClient.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit) // but for shared memory, which is never sent
  const text = await boundedText(response)
  // Responses of status 204 and others must not have a body, not even an empty one.
  return new Response(response.body === null ? null : text, response)
}

/** The claims that a scope asks for (OpenID Connect Core section 5.4) and that a new account is made of. */
const CLAIMS_OF_SCOPES = [
  ['email', ['email', 'email_verified']],
  ['profile', ['name']]
] as const

/** The request parameter `claims` (section 5.5). Providers that know it may put the claims into UserInfo alone otherwise. */
function wantedClaims(scope: string): { readonly claims?: string } {
  const scopes = scope.split(' ')
  const names = CLAIMS_OF_SCOPES.flatMap(([one, claims]) => (scopes.includes(one) ? claims : []))
  if (names.length === 0) return {}
  return { claims: JSON.stringify({ id_token: Object.fromEntries(names.map((name) => [name, null])) }) }
}

/** Codes of openid-client's errors for a response that was changed on its way, or that belongs to another sign-in. */
const INVALID_RESPONSE_CODES: readonly unknown[] = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  // An ID token with critical header parameters (RFC 7515 section 4.1.11), or one that is encrypted.
  'OAUTH_UNSUPPORTED_OPERATION'
]

/** The code of openid-client's error for metadata of another issuer. */
const ANOTHER_ISSUER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'

/** The answers to a code that is not valid (RFC 6749 section 5.2), and to others that only the provider's trouble explains. */
const CODE_NOT_VALID = 'invalid_grant'
const TEMPORARY: readonly string[] = ['server_error', 'temporarily_unavailable']

function discoveryFailure(error: unknown, log: Logger): DomainError {
  if (error instanceof DomainError) return error
  const failure = outline(error)
  return failure.code === ANOTHER_ISSUER ? anotherIssuer(log) : unavailable(failure)
}

/**
 * The DomainError for a code that could not be exchanged. Errors of openid-client hold the code, tokens and whatever the
 * provider answered, so nothing of them is logged or passed on but the names of errors.
 */
function exchangeFailure(error: unknown, log: Logger): DomainError {
  const failure = outline(error)
  const { name, code, oauthError, status } = failure
  if (oauthError === CODE_NOT_VALID || INVALID_RESPONSE_CODES.includes(code)) {
    log.warn({ reason: oauthError ?? code }, 'the code of a sign-in was not accepted')
    return signInNotValid()
  }
  const isOurs = oauthError === undefined ? name === 'WWWAuthenticateChallengeError' : !TEMPORARY.includes(oauthError)
  if (isOurs && (status ?? 0) < 500) {
    return configurationError(log, `the provider rejects this client (${oauthError ?? String(status)})`)
  }
  return unavailable(failure)
}

function unavailable({ name, code, oauthError }: Outline): DomainError {
  const reason = oauthError ?? code ?? name
  return new DomainError('upstream.unavailable', 'The sign-in provider cannot be reached at the moment. Try again.', {
    retryAfter: PROVIDER_RETRY_SECONDS,
    cause: new Error(`the sign-in provider failed (${reason})`)
  })
}

function anotherIssuer(log: Logger): DomainError {
  return configurationError(log, 'the provider has another issuer than OIDC_ISSUER')
}

export function signInNotValid(): DomainError {
  return new DomainError('auth.invalid-credentials', 'The sign-in is not valid, or not any more. Begin again.')
}

function configurationError(log: Logger, reason: string): DomainError {
  log.error({ reason }, 'the OIDC_ settings do not fit the provider')
  return new DomainError('configuration', `OIDC: ${reason}.`)
}

interface Outline {
  readonly name: string
  /** Of openid-client, or of the connection. */
  readonly code: string | undefined
  /** `error` of the provider's answer, if it has the form of an error code. */
  readonly oauthError: string | undefined
  readonly status: number | undefined
}

function outline(error: unknown): Outline {
  if (!(error instanceof Error)) return { name: 'unknown', code: undefined, oauthError: undefined, status: undefined }
  const cause = error.cause instanceof Error ? error.cause : undefined
  const code = 'code' in error ? error.code : cause !== undefined && 'code' in cause ? cause.code : undefined
  const oauthError = 'error' in error ? error.error : undefined
  const status = 'status' in error ? error.status : undefined
  return {
    name: error.name,
    code: typeof code === 'string' ? code : undefined,
    oauthError: typeof oauthError === 'string' && /^[a-z_]{1,60}$/.test(oauthError) ? oauthError : undefined,
    status: typeof status === 'number' ? status : undefined
  }
}
