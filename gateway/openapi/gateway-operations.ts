import type { ErrorCode } from '../../shared/errors.js'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../shared/session-cookie/read-session-cookie.js'
import { FORM_TYPE } from '../http/json-body.js'
import type { Components, ComponentRef } from './components.js'
import { sharedExample } from './examples.js'
import type { DocumentedOperation } from './operations.js'
import { requestIdParameters, siteParameters } from './parameters.js'
import { problemResponses, problemSchema } from './problems.js'
import { content, type HeaderName, jsonContent, success, successResponse } from './responses.js'

// The operations that the gateway has beside those of resources: sessions of browsers, keys, health and documents.

/** Which credentials an operation takes, in the words of `securitySchemes`; an empty one means that it needs none. */
type Security = readonly Readonly<Record<string, readonly []>>[]

interface GatewayOperation extends DocumentedOperation {
  readonly tag: keyof typeof TAGS
  readonly security: Security
}

const TAGS = {
  sessions: 'Sessions of browsers, in cookies, for pages of the same site.',
  service: 'Health of the service, its keys and its documents.'
} as const

/** The security schemes of the document. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token: of a session, or of a machine account. Cookies are no credential of resources.'
  },
  machine: {
    type: 'http',
    scheme: 'basic',
    description: 'Client id and secret of a machine account, which only `/auth/token` takes.'
  },
  accessCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: ACCESS_COOKIE,
    description: 'The access token of a browser. Only the session endpoints read it.'
  },
  refreshCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: REFRESH_COOKIE,
    description: 'The refresh token of a browser. Only the session endpoints read it.'
  }
} as const

const NO_CREDENTIAL: Security = []
const SESSION_COOKIES: Security = [{ refreshCookie: [] }, { accessCookie: [] }, {}]
/** The empty requirement makes the token optional. A bearer token shows more, where it may see more. */
export const OPTIONAL_TOKEN: Security = [{}, { bearer: [] }]

/** What the operations of one gateway depend on. */
export interface GatewayFeatures {
  /** Whether an outside OpenID provider signs people in. */
  readonly hasSignIn: boolean
  /** Whether `/admin` is served. */
  readonly hasAdmin: boolean
  /** Whether `/docs` is served. */
  readonly hasDocs: boolean
  /** Whether `/docs/try` is served. */
  readonly hasTryOut: boolean
}

/** The tags of these operations. */
export const GATEWAY_TAGS = Object.entries(TAGS).map(([name, description]) => ({ name, description }))

/** The operations with their tags, ids and security. */
export function gatewayOperations(
  components: Components,
  { hasSignIn, hasAdmin, hasDocs, hasTryOut }: GatewayFeatures
): GatewayOperation[] {
  const isServed = ({ path }: GatewayOperation): boolean =>
    path.startsWith('/docs/try') ? hasTryOut : hasDocs || !path.startsWith('/docs')
  return [
    ...sessionOperations(components),
    tokenOperation(components),
    ...(hasSignIn ? signInOperations(components) : []),
    ...serviceOperations(components).filter(isServed),
    ...(hasAdmin ? adminOperations(components) : [])
  ]
}

interface DescribedOperation {
  readonly path: string
  readonly method?: DocumentedOperation['method']
  readonly tag: keyof typeof TAGS
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly security: Security
  readonly parameters?: readonly object[]
  /** The schema of a body, JSON by default, whether a request must have one, and an example. */
  readonly body?: {
    readonly schema: object
    readonly required: boolean
    readonly example?: ComponentRef
    readonly mediaType?: typeof FORM_TYPE
  }
  readonly status: 200 | 202 | 204 | 303 | 308
  /** Whether `If-None-Match` may be answered 304. */
  readonly mayBeUnchanged?: true
  readonly answer: string
  readonly content?: object
  readonly headers?: readonly HeaderName[]
  readonly codes: readonly ErrorCode[]
}

function operation(components: Components, described: DescribedOperation): GatewayOperation {
  const { path, method = 'get', tag, id, summary, description, security, body } = described
  const { parameters = [], status, mayBeUnchanged, answer, content, headers = [], codes } = described
  return {
    path,
    method,
    tag,
    security,
    document: {
      id,
      summary,
      description,
      parameters: [
        ...parameters,
        ...(codes.includes('request.cross-site') ? siteParameters(components) : []),
        ...requestIdParameters(components)
      ],
      ...(body === undefined ? {} : { requestBody: { required: body.required, content: bodyContent(body) } }),
      responses: {
        ...success(components, {
          status,
          description: answer,
          headers,
          ...(content === undefined ? {} : { content })
        }),
        ...(mayBeUnchanged === undefined
          ? {}
          : success(components, { status: 304, description: 'The client has it as it is.', headers })),
        ...problemResponses(components, {
          name: id.replaceAll(' ', '-'),
          codes: ['request.malformed', ...codes],
          setsCookies: tag === 'sessions'
        })
      }
    }
  }
}

function bodyContent({ schema, example, mediaType }: NonNullable<DescribedOperation['body']>): object {
  return mediaType === undefined ? jsonContent(schema, example) : content(mediaType, schema, example)
}

const JSON_BODY: readonly ErrorCode[] = ['body.malformed', 'body.too-large', 'media-type.unsupported']
const SAME_SITE: readonly ErrorCode[] = ['request.cross-site']

const TEXT = { type: 'string' } as const
const NOT_BLANK = { type: 'string', pattern: '\\S' } as const

function accessTokenSchema(components: Components): object {
  return components.refer('schemas', 'AccessToken', () => ({
    type: 'object',
    description: 'The access token of a session. No body ever holds its refresh token.',
    required: ['accessToken', 'accessTokenExpiry'],
    properties: {
      accessToken: { type: 'string', description: 'Sent as `Authorization: Bearer`.' },
      accessTokenExpiry: { type: 'string', format: 'date-time' }
    }
  }))
}

/** The form of an access token, of nobody and without a signature. */
const SOME_TOKEN = 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
const SOME_PASSWORD = 'correct horse battery staple'

/** The access token of a session as an answer, with its example. */
function accessTokenContent(components: Components): object {
  const example = { accessToken: SOME_TOKEN, accessTokenExpiry: '2026-01-31T08:15:00.000Z' }
  return jsonContent(accessTokenSchema(components), sharedExample(components, 'AccessToken', example))
}

/** An object whose members all have to be there. */
function requiredObject(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', required: Object.keys(properties), properties }
}

const ANYTHING = { description: 'It is not read.' } as const

function sessionOperations(components: Components): GatewayOperation[] {
  const session = { tag: 'sessions', method: 'post' } as const
  const ends = {
    ...session,
    security: SESSION_COOKIES,
    status: 204,
    answer: 'Both cookies are expired.',
    headers: ['Set-Cookie'],
    body: { schema: ANYTHING, required: false },
    codes: [...SAME_SITE, ...JSON_BODY]
  } as const satisfies Partial<DescribedOperation>
  const token = accessTokenContent(components)
  const noSession = components.refer('schemas', 'NoSession', () =>
    requiredObject({ error: { type: 'string', const: 'no_session' } })
  )
  const sessionToken = operation(components, {
    ...session,
    path: '/auth/session/token',
    id: 'session token',
    summary: 'The access token of the session',
    description: 'For the scripts of a page. The session is refreshed where its access token has expired.',
    security: SESSION_COOKIES,
    body: { schema: ANYTHING, required: false },
    status: 200,
    answer: 'The access token. Cookies are set only after a refresh.',
    content: token,
    headers: ['Set-Cookie'],
    codes: [...SAME_SITE, ...JSON_BODY]
  })
  return [
    operation(components, {
      ...session,
      path: '/auth/login',
      id: 'login',
      summary: 'A session by e-mail address and password',
      description: 'Sets both cookies of the session.',
      security: NO_CREDENTIAL,
      body: {
        schema: components.refer('schemas', 'Login', () => requiredObject({ email: TEXT, password: TEXT })),
        required: true,
        example: sharedExample(components, 'Login', { email: 'someone@example.com', password: SOME_PASSWORD })
      },
      status: 200,
      answer: 'The access token of the session.',
      content: token,
      headers: ['Set-Cookie'],
      codes: [...SAME_SITE, ...JSON_BODY, 'body.invalid', 'auth.invalid-credentials', 'quota-exceeded']
    }),
    operation(components, {
      ...ends,
      path: '/auth/logout',
      id: 'logout',
      summary: 'The end of the session',
      description: 'The cookies are expired even where the data service cannot be reached, which is 503.'
    }),
    operation(components, {
      ...ends,
      path: '/auth/logout-everywhere',
      id: 'logout everywhere',
      summary: 'The end of all sessions of the account',
      description:
        'The cookies are expired even where no session is ended: a session that is over ends no other, which is 401, and ' +
        'where the data service cannot be reached it is 503.',
      codes: [...SAME_SITE, ...JSON_BODY, 'auth.required', 'auth.invalid-token']
    }),
    operation(components, {
      ...session,
      path: '/auth/session-cookie',
      id: 'set session cookie',
      summary: 'Tokens of a client as its cookies',
      description: 'For tokens of an outside issuer. Without a refresh token only the access cookie is set.',
      security: NO_CREDENTIAL,
      body: {
        schema: components.refer('schemas', 'SessionTokens', () => ({
          type: 'object',
          required: ['accessToken'],
          properties: { accessToken: NOT_BLANK, refreshToken: NOT_BLANK }
        })),
        required: true,
        example: sharedExample(components, 'SessionTokens', { accessToken: SOME_TOKEN })
      },
      status: 204,
      answer: 'The cookies are set.',
      headers: ['Set-Cookie'],
      codes: [...SAME_SITE, ...JSON_BODY, 'body.invalid']
    }),
    operation(components, {
      ...ends,
      method: 'delete',
      path: '/auth/session-cookie',
      id: 'delete session cookie',
      summary: 'The end of the session',
      description: 'The same as `POST /auth/logout`. It is 204 without cookies, too.'
    }),
    {
      ...sessionToken,
      document: {
        ...sessionToken.document,
        responses: {
          ...sessionToken.document.responses,
          401: success(components, {
            status: 200,
            description: 'There is no session. This is the only error that is not a problem document.',
            content: jsonContent(noSession, sharedExample(components, 'NoSession', { error: 'no_session' })),
            headers: ['WWW-Authenticate', 'Set-Cookie']
          })[200]
        }
      }
    },
    operation(components, {
      ...session,
      path: '/auth/password',
      id: 'change password',
      summary: 'A new password for the account of the session',
      description: 'All other sessions of the account end.',
      security: [{ refreshCookie: [] }],
      body: {
        schema: components.refer('schemas', 'PasswordChange', () =>
          requiredObject({ currentPassword: TEXT, newPassword: TEXT })
        ),
        required: true,
        example: sharedExample(components, 'PasswordChange', {
          currentPassword: SOME_PASSWORD,
          newPassword: 'staple battery horse correct'
        })
      },
      status: 204,
      answer: 'The password is changed.',
      headers: ['Set-Cookie'],
      codes: [
        ...SAME_SITE,
        ...JSON_BODY,
        'body.invalid',
        'auth.required',
        'auth.invalid-token',
        'auth.invalid-credentials',
        'quota-exceeded'
      ]
    }),
    ...(['forgotten-password', 'sign-up'] as const).map((name) =>
      operation(components, {
        ...session,
        path: `/auth/${name}`,
        id: name === 'sign-up' ? 'sign up' : 'forgotten password',
        summary: name === 'sign-up' ? 'A link to make an account' : 'A link to choose another password',
        description:
          'It goes to the address by e-mail, where one is sent at all: the answer is the same for every address. 404 where the service sends none.',
        security: NO_CREDENTIAL,
        body: {
          schema: components.refer('schemas', 'LinkRequest', () => requiredObject({ email: TEXT })),
          required: true,
          example: sharedExample(components, 'LinkRequest', { email: 'ada@example.com' })
        },
        status: 202,
        answer: 'The request is accepted.',
        codes: [...SAME_SITE, ...JSON_BODY, 'body.invalid', 'route.not-found', 'quota-exceeded']
      })
    ),
    operation(components, {
      ...session,
      path: '/auth/one-time-link',
      id: 'use one-time link',
      summary: 'A password by a one-time link',
      description: 'All sessions of the account end, and all of its links. It opens no session.',
      security: NO_CREDENTIAL,
      body: {
        schema: components.refer('schemas', 'LinkUse', () => ({
          ...requiredObject({ token: TEXT, newPassword: TEXT }),
          properties: { token: TEXT, newPassword: TEXT, name: TEXT }
        })),
        required: true,
        example: sharedExample(components, 'LinkUse', {
          token: 'l2Hq0M3x5m9d1c7uW8bTz4sKf6pYgRnEaVjXoQiB2kU',
          newPassword: 'staple battery horse correct'
        })
      },
      status: 204,
      answer: 'The password is chosen.',
      codes: [
        ...SAME_SITE,
        ...JSON_BODY,
        'body.invalid',
        'auth.invalid-credentials',
        'route.not-found',
        'quota-exceeded'
      ]
    }),
    operation(components, {
      tag: 'sessions',
      path: '/auth/one-time-link',
      id: 'one-time link page',
      summary: 'Where a one-time link may lead to',
      description: 'A page that posts the secret of the link and a password to the same path. It reads no cookie.',
      security: NO_CREDENTIAL,
      status: 200,
      answer: 'The page.',
      content: { 'text/html': { schema: TEXT } },
      codes: []
    }),
    operation(components, {
      tag: 'sessions',
      path: '/auth/antiforgery',
      id: 'antiforgery token',
      summary: 'A token for unsafe requests to the renderer',
      description:
        'It comes back as the header `X-CSRF-Token` or the form field `_csrf`, with the cookie that is set here. No ' +
        'operation of this document needs it.',
      security: SESSION_COOKIES,
      status: 200,
      answer: 'The token.',
      content: jsonContent(
        components.refer('schemas', 'AntiforgeryToken', () => requiredObject({ token: TEXT })),
        sharedExample(components, 'AntiforgeryToken', { token: 'Nm9mIDE2IGJ5dGVzIQ' })
      ),
      headers: ['Set-Cookie'],
      codes: SAME_SITE
    })
  ]
}

/** Errors are those of RFC 6749 where it has a word for them. */
function tokenOperation(components: Components): GatewayOperation {
  const described = operation(components, {
    tag: 'service',
    method: 'post',
    path: '/auth/token',
    id: 'machine token',
    summary: 'An access token for a machine account',
    description:
      'The client credentials grant of RFC 6749. Client id and secret come by HTTP Basic or in the body. There is no ' +
      'refresh token: ask again before the token expires.',
    security: [{ machine: [] }, {}],
    body: {
      schema: components.refer('schemas', 'TokenRequest', () => ({
        type: 'object',
        required: ['grant_type'],
        properties: {
          grant_type: { type: 'string', const: 'client_credentials' },
          client_id: TEXT,
          client_secret: { type: 'string', format: 'password' }
        }
      })),
      required: true,
      example: sharedExample(components, 'TokenRequest', { grant_type: 'client_credentials' }),
      mediaType: FORM_TYPE
    },
    status: 200,
    answer: 'The token.',
    content: jsonContent(
      components.refer('schemas', 'MachineToken', () =>
        requiredObject({
          access_token: TEXT,
          token_type: { type: 'string', const: 'Bearer' },
          expires_in: { type: 'integer', description: 'Seconds from now.' }
        })
      ),
      sharedExample(components, 'MachineToken', { access_token: SOME_TOKEN, token_type: 'Bearer', expires_in: 900 })
    ),
    headers: ['Cache-Control'],
    codes: [...SAME_SITE, 'body.too-large', 'media-type.unsupported', 'quota-exceeded']
  })
  const schema = components.refer('schemas', 'TokenError', () =>
    requiredObject({
      error: {
        type: 'string',
        enum: ['invalid_request', 'invalid_client', 'unsupported_grant_type', 'invalid_scope']
      },
      error_description: TEXT
    })
  )
  const failed = (error: string, said: string): object =>
    jsonContent(schema, sharedExample(components, `TokenError.${error}`, { error, error_description: said }))
  const responses = {
    ...described.document.responses,
    400: successResponse(components, {
      description:
        'The form is not valid, or names something unknown. If the HTTP request itself is wrong, the answer is a problem document.',
      headers: [],
      content: {
        ...failed('invalid_request', 'The parameter grant_type is missing.'),
        'application/problem+json': { schema: problemSchema(components) }
      }
    }),
    401: successResponse(components, {
      description: 'The client id or the secret is missing or wrong.',
      headers: ['WWW-Authenticate'],
      content: failed('invalid_client', 'The client id or the secret is wrong.')
    })
  }
  return { ...described, document: { ...described.document, responses } }
}

function signInOperations(components: Components): GatewayOperation[] {
  return [
    operation(components, {
      tag: 'sessions',
      path: '/auth/sign-in',
      id: 'sign in',
      summary: 'Sign-in with the OpenID provider',
      description: 'For browsers: it leads to the site of the provider.',
      security: NO_CREDENTIAL,
      parameters: [
        {
          name: 'returnTo',
          in: 'query',
          description: 'The path of this site where the browser goes after the sign-in.',
          schema: TEXT
        }
      ],
      status: 303,
      answer: 'To the provider.',
      headers: ['Location', 'Set-Cookie'],
      codes: SAME_SITE
    }),
    operation(components, {
      tag: 'sessions',
      path: '/auth/callback',
      id: 'callback page',
      summary: 'Where the provider sends browsers back to',
      description: 'A page that posts code and state to the same path. It reads no cookie and sets none.',
      security: NO_CREDENTIAL,
      parameters: ['code', 'state', 'iss', 'error'].map((name) => ({
        name,
        in: 'query',
        description: 'As the provider sends it.',
        schema: TEXT
      })),
      status: 200,
      answer: 'The page.',
      content: { 'text/html': { schema: TEXT } },
      codes: ['auth.invalid-credentials']
    }),
    operation(components, {
      tag: 'sessions',
      method: 'post',
      path: '/auth/callback',
      id: 'finish sign in',
      summary: 'The session after a sign-in',
      description: 'Sets both cookies of the session.',
      security: NO_CREDENTIAL,
      body: {
        schema: components.refer('schemas', 'SignInCallback', () => {
          const text = { type: 'string', minLength: 1, maxLength: 8192 }
          return { type: 'object', required: ['code', 'state'], properties: { code: text, state: text, iss: text } }
        }),
        required: true
      },
      status: 200,
      answer: 'The access token of the session, and the path where the browser goes on.',
      content: jsonContent({ allOf: [accessTokenSchema(components), requiredObject({ returnTo: TEXT })] }),
      headers: ['Set-Cookie'],
      codes: [...SAME_SITE, ...JSON_BODY, 'body.invalid', 'auth.invalid-credentials', 'quota-exceeded']
    })
  ]
}

function serviceOperations(components: Components): GatewayOperation[] {
  const service = { tag: 'service', security: NO_CREDENTIAL, status: 200, codes: [] } as const
  const html = { 'text/html': { schema: TEXT } }
  const health = jsonContent(
    components.refer('schemas', 'Health', () => ({
      type: 'object',
      required: ['status'],
      properties: {
        status: { type: 'string', const: 'ok' },
        isolatedResources: {
          type: 'integer',
          minimum: 1,
          description:
            'Resources whose requests are answered 503, since their tables do not fit. Absent where there are none.'
        }
      }
    })),
    sharedExample(components, 'Health', { status: 'ok' })
  )
  return [
    ...(
      [
        ['/health', 'health', 'Whether requests can be served'],
        ['/health/ready', 'health ready', 'Whether requests can be served'],
        ['/health/live', 'health live', 'Whether the process runs']
      ] as const
    ).map(([path, id, summary]) =>
      operation(components, {
        ...service,
        path,
        id,
        summary,
        description: `${summary}: 200, or 503.`,
        answer: 'It is so.',
        content: health
      })
    ),
    operation(components, {
      ...service,
      path: '/.well-known/jwks.json',
      id: 'key set',
      summary: "The public keys of the service's own access tokens",
      description: 'A JSON Web Key Set (RFC 7517).',
      answer: 'The keys.',
      content: jsonContent(
        components.refer('schemas', 'KeySet', () =>
          requiredObject({
            keys: {
              type: 'array',
              items: {
                type: 'object',
                required: ['kty', 'kid'],
                properties: { kty: TEXT, kid: TEXT, alg: TEXT, use: TEXT }
              }
            }
          })
        )
      )
    }),
    operation(components, {
      ...service,
      path: '/openapi.json',
      id: 'open api document',
      summary: 'This document',
      description: 'What its caller may see: a bearer token may show more.',
      security: OPTIONAL_TOKEN,
      parameters: [
        {
          name: 'resources',
          in: 'query',
          description: 'Names of the resources that are wanted, with commas between. All by default.',
          style: 'form',
          explode: false,
          schema: { type: 'array', items: TEXT }
        },
        {
          name: 'exact',
          in: 'query',
          description: 'Whether all that the service takes and answers is wanted, and not what generators need.',
          schema: { type: 'boolean', default: false }
        },
        IF_NONE_MATCH
      ],
      answer: 'The document.',
      content: jsonContent({ type: 'object' }),
      headers: ['ETag', 'Content-Encoding', 'Vary'],
      mayBeUnchanged: true,
      codes: ['auth.invalid-token']
    }),
    operation(components, {
      ...service,
      path: '/docs',
      id: 'docs page',
      summary: 'The resources for people',
      description: 'What its caller may see: a bearer token may show more.',
      security: OPTIONAL_TOKEN,
      answer: 'The page.',
      content: html,
      codes: ['auth.invalid-token']
    }),
    operation(components, {
      ...service,
      path: '/docs/resources/{resource}',
      id: 'resource page',
      summary: 'One resource for people',
      description: 'Its fields with their operators, who may what, and its actions with a picture of the states.',
      parameters: [{ name: 'resource', in: 'path', description: 'Name of a resource.', required: true, schema: TEXT }],
      security: OPTIONAL_TOKEN,
      answer: 'The page.',
      content: html,
      headers: ['Vary'],
      codes: ['auth.invalid-token', 'route.not-found']
    }),
    operation(components, {
      ...service,
      path: '/docs/{resource}',
      id: 'short resource page',
      summary: 'A shorter path of that page',
      description:
        'It leads to the page, whether there is such a resource or not. What is no name of a resource is 404.',
      parameters: [{ name: 'resource', in: 'path', description: 'Name of a resource.', required: true, schema: TEXT }],
      status: 308,
      answer: 'To the page.',
      headers: ['Location', 'Cache-Control'],
      codes: ['route.not-found']
    }),
    operation(components, {
      ...service,
      path: '/docs/search',
      id: 'search page',
      summary: 'An index of resources, fields, actions and operations, with a search',
      description: 'What its caller may see. The search runs in the browser.',
      security: OPTIONAL_TOKEN,
      answer: 'The page.',
      content: html,
      headers: ['Vary'],
      codes: ['auth.invalid-token']
    }),
    operation(components, {
      ...service,
      path: '/docs/try',
      id: 'try out page',
      summary: 'A page to try requests out in a browser',
      description: 'It signs in with the session cookies, and shows the document of the account that is signed in.',
      answer: 'The page.',
      content: html
    }),
    operation(components, {
      ...service,
      path: '/docs/try/{hash}/{file}',
      id: 'try out file',
      summary: 'A script or a style sheet of that page',
      description: 'A file under the hash of its content may be kept for ever.',
      parameters: [
        { name: 'hash', in: 'path', description: 'The hash, as the page has it.', required: true, schema: TEXT },
        { name: 'file', in: 'path', description: 'The name, as the page has it.', required: true, schema: TEXT }
      ],
      answer: 'The file.',
      content: { 'text/javascript': { schema: TEXT }, 'text/css': { schema: TEXT } },
      codes: ['route.not-found']
    }),
    operation(components, {
      ...service,
      path: '/problems',
      id: 'problem pages',
      summary: 'The codes of problem documents, for people',
      description: 'Each code has a page of its own.',
      answer: 'The page.',
      content: html
    }),
    operation(components, {
      ...service,
      path: '/problems/{code}',
      id: 'problem page',
      summary: 'What one code means, for people',
      description: 'The `type` of problem documents leads here.',
      parameters: [
        { name: 'code', in: 'path', description: 'A code of problem documents.', required: true, schema: TEXT }
      ],
      answer: 'The page.',
      content: html,
      codes: ['route.not-found']
    })
  ]
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the answer that the client has: where it is the same, the answer is 304 without a body.',
  schema: { type: 'string' }
} as const

function adminOperations(components: Components): GatewayOperation[] {
  const admin = { tag: 'service', status: 200, security: NO_CREDENTIAL, codes: [] } as const
  return [
    operation(components, {
      ...admin,
      path: '/admin',
      id: 'admin',
      summary: 'The admin, for people',
      description: 'It leads to the path with the slash.',
      status: 308,
      answer: 'To the page.',
      headers: ['Location']
    }),
    operation(components, {
      ...admin,
      path: '/admin/',
      id: 'admin page',
      summary: 'The page of the admin',
      description: 'An application in the browser, made of what its caller may see and call.',
      answer: 'The page.',
      content: { 'text/html': { schema: TEXT } },
      headers: ['Cache-Control']
    }),
    operation(components, {
      ...admin,
      path: '/admin/assets/{file}',
      id: 'admin file',
      summary: 'A script of the admin',
      description: 'A name holds the hash of its content, so that the file may be kept for ever.',
      parameters: [
        { name: 'file', in: 'path', description: 'The name, as the page has it.', required: true, schema: TEXT }
      ],
      answer: 'The file.',
      content: { 'text/javascript': { schema: TEXT } },
      headers: ['Cache-Control', 'Content-Encoding', 'Vary'],
      codes: ['route.not-found']
    }),
    operation(components, {
      ...admin,
      path: '/admin/catalogue.json',
      id: 'admin catalogue',
      summary: 'What the admin is made of',
      description: 'What its caller may see and call: a bearer token may show more.',
      security: OPTIONAL_TOKEN,
      answer: 'The catalogue.',
      content: jsonContent({ type: 'object' }),
      headers: ['Cache-Control', 'Vary'],
      codes: ['auth.required', 'auth.invalid-token', 'capability.denied']
    })
  ]
}
