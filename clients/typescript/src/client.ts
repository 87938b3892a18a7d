import { isProblem } from './problem.js'
import { type CallOptions, keyed, type KeyedOptions, Resource, segment } from './resource.js'
import { type AnyQuery, queryText } from './query.js'
import { type IssuedToken, Session, type TokenProvider } from './session.js'
import { Transport, type TransportOptions } from './transport.js'
import type { ApplicationTypes, OperationTypes, ResourceTypes } from './types.js'
import { tagOf, Versions } from './versions.js'

export { type CsvExport, type CsvRecord, ExportIncompleteError } from './csv-export.js'
export {
  type ConflictReason,
  ConnectionError,
  type Fault,
  isProblem,
  type Problem,
  type ProblemCode,
  ProblemError,
  type ProblemOf
} from './problem.js'
export type {
  Condition,
  DimensionName,
  IncludeName,
  MeasureName,
  Paging,
  Selection,
  Shape,
  Shaped,
  SortKey,
  TotalsQuery,
  TotalsRow,
  Where
} from './query.js'
export type {
  CallOptions,
  Change,
  GuardedOptions,
  ImportFile,
  ImportOptions,
  ImportResult,
  KeyedOptions,
  ListResult,
  HistoryEntry,
  HistoryPage,
  LookupResult,
  Page,
  Resource,
  Target,
  WriteOptions
} from './resource.js'
export type { TokenProvider } from './session.js'
export type { Clock, RetryOptions, TransportOptions } from './transport.js'
export type { ApplicationTypes, OperationTypes, ResourceTypes } from './types.js'

export interface ClientOptions extends TransportOptions {
  /**
   * Where access tokens come from: a function that answers one, or `session` for those of the session cookies of a browser
   * (`POST /auth/session/token`). Without it calls carry no token until `login`.
   */
  readonly token?: TokenProvider | 'session'
  /**
   * The client id and a secret of a machine account, in place of `token`: for programs, never for a page. A token is got for
   * them (`POST /auth/token`) when the first call needs one, and a new one before it expires.
   */
  readonly machine?: { readonly id: string; readonly secret: string }
  /**
   * Whether each new token of a `token` that is a function is mirrored into the session cookie of the browser
   * (`POST /auth/session-cookie`), so that the next page that a server renders knows the caller. `session` and `login` need
   * no mirror: the service sets the cookies itself.
   */
  readonly mirrorToken?: boolean
}

export type ResourceName<A extends ApplicationTypes> = string & keyof A['resources']

/** The types of one resource of an application. */
export type TypesOf<
  A extends ApplicationTypes,
  Name extends ResourceName<A>
> = A['resources'][Name] extends infer T extends ResourceTypes ? T : never

/** What an operation is called with. What it does not have may be left out. */
type OperationInput<O> = O extends OperationTypes
  ? (keyof O['path'] extends never ? { readonly path?: O['path'] } : { readonly path: O['path'] }) & {
      readonly query?: O['query']
    } & ([O['body']] extends [never] ? { readonly body?: never } : { readonly body: O['body'] })
  : never

function guarded({ ifMatch, ...options }: VersionedOptions): ReturnType<typeof keyed> {
  const tag = typeof ifMatch === 'string' ? ifMatch : tagOf(ifMatch)
  const call = keyed(options)
  return tag === undefined ? call : { ...call, headers: { ...call.headers, 'if-match': tag } }
}

/** Of an operation that needs the version of what it changes, such as those of accounts. */
interface VersionedOptions extends KeyedOptions {
  /** The entity tag, `W/"…"`, or what was answered last, by its `rowVersion`. */
  readonly ifMatch?: string | { readonly rowVersion?: string }
}

type AnswerOf<O> = O extends OperationTypes ? O['answer'] : never

/** A client of one application, whose types `uniform-rest client-types` writes. */
export class Client<A extends ApplicationTypes> {
  readonly #transport: Transport
  readonly #session: Session
  readonly #versions = new Versions()

  constructor({ token = () => undefined, machine, mirrorToken = false, ...options }: ClientOptions = {}) {
    const transport = new Transport(options)
    this.#transport = transport
    const now = (): number => (options.clock ?? Date).now()
    if (machine !== undefined) this.#session = new Session(() => machineToken(machine, transport, now), now)
    else if (token === 'session') this.#session = new Session(() => sessionToken(transport), now)
    else this.#session = new Session(mirrorToken ? mirrored(token, transport) : token, now)
  }

  /** The calls of a resource. All that is remembered of rows is shared by the resources of a client. */
  resource<Name extends ResourceName<A>>(name: Name): Resource<TypesOf<A, Name>> {
    return new Resource(name, { transport: this.#transport, session: this.#session, versions: this.#versions })
  }

  /** An operation of the application beside its resources, by method and path: `GET /reports/stock/{warehouseId}`. */
  async call<Name extends string & keyof A['operations']>(
    operation: Name,
    input: OperationInput<A['operations'][Name]>,
    options: VersionedOptions = {}
  ): Promise<AnswerOf<A['operations'][Name]>> {
    const {
      path = {},
      query = {},
      body
    } = input as {
      readonly path?: Readonly<Record<string, unknown>>
      readonly query?: AnyQuery
      readonly body?: unknown
    }
    const [method = 'GET', route = ''] = operation.split(' ')
    const target = route.replace(/\/\{(\w+)\}/g, (_all, name: string) => segment(path[name]))
    const isRead = method === 'GET'
    return await this.#transport.send(
      {
        ...(isRead ? { repeatable: 'read', signal: options.signal } : guarded(options)),
        method,
        path: target + queryText({ parameters: query }),
        body
      },
      async (response) => {
        const text = await response.text()
        return (text === '' ? undefined : JSON.parse(text)) as AnswerOf<A['operations'][Name]>
      },
      this.#session
    )
  }

  /** Logs in: the following calls carry the token, and a browser has the session's cookies. */
  async login(
    credentials: { readonly email: string; readonly password: string },
    options: CallOptions = {}
  ): Promise<void> {
    const token = await this.#transport.send(
      { method: 'POST', path: '/auth/login', body: credentials, repeatable: 'never', signal: options.signal },
      async (response) => ((await response.json()) as { readonly accessToken: string }).accessToken
    )
    this.#session.set(token)
  }

  /**
   * The access token of the caller, asked for if there is none yet; undefined for a caller who is not logged in. Its claims
   * say who that is. They are for what is shown alone: the service decides by itself.
   */
  async token(options: CallOptions = {}): Promise<string | undefined> {
    return await this.#session.token(options.signal)
  }

  /** Ends the session and its cookies, and forgets the token. */
  async logout(options: CallOptions = {}): Promise<void> {
    this.#session.set()
    await this.#transport.send(
      { method: 'POST', path: '/auth/logout', repeatable: 'read', signal: options.signal },
      () => undefined
    )
  }
}

/** A client of the application whose generated types are given: `createClient<Store>({ baseUrl })`. */
export function createClient<A extends ApplicationTypes>(options: ClientOptions = {}): Client<A> {
  return new Client<A>(options)
}

/** The tokens of the provider. Each is in the session cookie before a call carries it. */
function mirrored(provide: TokenProvider, transport: Transport): TokenProvider {
  let last: string | undefined
  return async (rejected) => {
    const accessToken = await provide(rejected)
    if (accessToken === undefined || accessToken === last) return accessToken
    try {
      const path = '/auth/session-cookie'
      await transport.send({ method: 'POST', path, body: { accessToken }, repeatable: 'read' }, () => undefined)
      last = accessToken
    } catch {
      // The cookie is for the next page alone. The call does not need it, and the next token is mirrored again.
    }
    return accessToken
  }
}

/** The token of the session cookies, refreshed by the service if it has expired; undefined if nobody is logged in. */
async function sessionToken(transport: Transport): Promise<string | undefined> {
  try {
    return await transport.send(
      // Two refreshes in a row answer the same session, so that this may be sent again.
      { method: 'POST', path: '/auth/session/token', repeatable: 'read' },
      async (response) => ((await response.json()) as { readonly accessToken: string }).accessToken
    )
  } catch (error) {
    if (isProblem(error) && error.problem.status === 401) return undefined
    throw error
  }
}

/** Milliseconds before its end at which a token is renewed, or a tenth of its life where that is less. */
const RENEWED_BEFORE = 30_000

/** A token for a machine account (RFC 6749 section 4.4). Throws a ProblemError for a wrong secret. */
async function machineToken(
  { id, secret }: NonNullable<ClientOptions['machine']>,
  transport: Transport,
  now: () => number
): Promise<IssuedToken> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  const asked = now()
  return await transport.send(
    // Nothing comes of a token that is not used, so that it may be asked for again.
    { method: 'POST', path: '/auth/token', body, repeatable: 'read' },
    async (response) => {
      const answer = (await response.json()) as { readonly access_token: string; readonly expires_in: number }
      const life = answer.expires_in * 1000
      return { token: answer.access_token, renewAt: asked + life - Math.min(RENEWED_BEFORE, life / 10) }
    }
  )
}
