import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { MachineToken } from '../data/auth-client.js'
import { clientAddress } from '../http/client-address.js'
import { authorizationOf } from '../http/header-fields.js'
import { bodyOf, checkMediaType, FORM_TYPE } from '../http/json-body.js'
import { parseQuery, percentDecode } from '../http/query-string.js'
import { answerOtherMethods } from '../server/methods.js'
import { abortOnDisconnect } from '../server/requests.js'
import { authCall, sendJsonObject, type SessionTools } from './session-tools.js'

// Access tokens for machine accounts: the client credentials grant of RFC 6749 section 4.4.

/** Bytes. A request has a few hundred, and each `&` would make a parameter. */
const MAX_FORM_BYTES = 16 * 1024

interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** A rejection in the words of RFC 6749 section 5.2. Descriptions are ASCII without `"` and `\`, as it demands. */
export class GrantRejected extends Error {
  override readonly name = 'GrantRejected'
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope'

  constructor(error: GrantRejected['error'], description: string, options?: ErrorOptions) {
    super(description, options)
    this.error = error
  }
}

/** `POST /auth/token`. Errors that RFC 6749 has no word for, 429 say, are problem documents as everywhere. */
export function machineTokenRoute(app: FastifyInstance, { auth }: SessionTools): void {
  const url = '/auth/token'
  answerOtherMethods(app, { url, routed: ['POST'] })
  app.post(
    url,
    {
      onRequest: ({ headers }, reply, done) => {
        // For caches of HTTP/1.0 (RFC 6749 section 5.1). `Cache-Control` is that of all routes of `/auth`.
        reply.header('pragma', 'no-cache')
        checkMediaType(headers, FORM_TYPE)
        done()
      }
    },
    async (request, reply) => {
      const call = { ...authCall(request), signal: abortOnDisconnect(reply).signal }
      try {
        const credentials = readTokenRequest(bodyOf(request), authorizationOf(request.raw.rawHeaders))
        const token = await auth.machineToken(call, { ...credentials, clientAddress: clientAddress(request) })
        sendToken(reply, token)
      } catch (error) {
        sendRejection(reply, asGrantRejected(error))
      }
      return reply
    }
  )
}

function sendToken(reply: FastifyReply, { accessToken, expiresIn }: MachineToken): void {
  sendJsonObject(reply, { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn })
}

/** Throws any other error, which has no word in RFC 6749. */
function asGrantRejected(error: unknown): GrantRejected {
  if (error instanceof GrantRejected) return error
  // `body.invalid`: the data service found the client id or the secret blank or too long.
  const isWrong = error instanceof DomainError && ['auth.invalid-credentials', 'body.invalid'].includes(error.code)
  if (isWrong) return wrongClient({ cause: error })
  throw error
}

function sendRejection(reply: FastifyReply, { error, message }: GrantRejected): void {
  const isUnauthorized = error === 'invalid_client'
  // RFC 9110 section 15.5.2 demands the field with every 401.
  if (isUnauthorized) reply.header('www-authenticate', 'Basic realm="machine accounts", charset="UTF-8"')
  sendJsonObject(reply.code(isUnauthorized ? 401 : 400), { error, error_description: message })
}

/** The client id and the secret of a request. Throws a GrantRejected, and `body.too-large`. */
export function readTokenRequest(body: Buffer, authorization: string | undefined): ClientCredentials {
  const form = readForm(body)
  const grantType = form.get('grant_type')
  if (grantType === undefined) throw new GrantRejected('invalid_request', 'The parameter grant_type is missing.')
  if (grantType !== 'client_credentials') {
    throw new GrantRejected('unsupported_grant_type', 'The only grant type here is client_credentials.')
  }
  // To ignore it would give a token with more rights than the client asked for.
  if (form.has('scope')) {
    throw new GrantRejected(
      'invalid_scope',
      'There are no scopes: the roles of the account say what its tokens may do.'
    )
  }
  const [clientId, clientSecret] = [form.get('client_id'), form.get('client_secret')]
  if (authorization !== undefined) {
    if (clientSecret !== undefined) throw twoWays()
    const credentials = readBasic(authorization)
    // Some clients name themselves in the body too (RFC 6749 section 3.2.1).
    if (clientId !== undefined && clientId !== credentials.clientId) throw twoWays()
    return credentials
  }
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret }
  throw new GrantRejected('invalid_client', 'The client id or the secret is missing.')
}

/** The parameters by name. One without a value counts as left out (RFC 6749 section 3.2). */
function readForm(body: Buffer): ReadonlyMap<string, string> {
  if (body.length > MAX_FORM_BYTES) {
    throw new DomainError('body.too-large', `The body must be at most ${MAX_FORM_BYTES} bytes long.`)
  }
  const form = new Map<string, string>()
  for (const { name, value } of parametersIn(body)) {
    if (form.has(name)) throw new GrantRejected('invalid_request', 'The body has a parameter twice.')
    form.set(name, value)
  }
  return new Map([...form].filter(([, value]) => value !== ''))
}

function parametersIn(body: Buffer): ReturnType<typeof parseQuery> {
  try {
    if (isUtf8(body)) return parseQuery(body.toString('utf8'))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
  }
  throw new GrantRejected('invalid_request', 'The body is not a form in percent-encoded UTF-8.')
}

const BASIC = /^basic +([A-Za-z0-9+/]+=*) *$/i

/** Client id and secret are encoded as in a form, before Base64 (RFC 6749 section 2.3.1). */
function readBasic(authorization: string): ClientCredentials {
  const encoded = BASIC.exec(authorization)?.[1] ?? ''
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer.from takes nearly anything.
  if (encoded === '' || bytes.toString('base64') !== encoded || !isUtf8(bytes)) throw wrongClient()
  const [id = '', secret] = bytes.toString('utf8').split(/:(.*)/s)
  const [clientId, clientSecret] = [id, secret].map((text) => text && percentDecode(text.replaceAll('+', ' ')))
  if (clientId && clientSecret) return { clientId, clientSecret }
  throw wrongClient()
}

function wrongClient(options?: ErrorOptions): GrantRejected {
  return new GrantRejected('invalid_client', 'The client id or the secret is wrong.', options)
}

function twoWays(): GrantRejected {
  return new GrantRejected('invalid_request', 'Send client id and secret either in Authorization or in the body.')
}
