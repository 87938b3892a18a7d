import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { migrate } from '../../cli/migrate.js'
import { type Answer, call as send, type CallOptions } from './http-call.js'
import { inProcesses, inThisProcess, type Launcher, type Pair, startPair } from './pair.js'
import type { Server } from './server-log.js'
import type { ServiceProcess } from './service-process.js'
import { TokenMint } from './token-mint.js'

export interface StackOptions {
  /** The folder that holds `uniform-rest.config.ts` or `.js`: `new URL('..', import.meta.url)`, or an absolute path. */
  readonly app: string | URL
  /** Where rows are kept: what `freshDatabase` makes, or anything else with a URL for DATABASE_URL. */
  readonly database: { readonly url: string }
  /**
   * Settings of both processes (docs/settings.md), above those that the stack chooses. Nothing of this process's own
   * environment and no `.env` reaches them.
   */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Whether the database holds tables of others. Migrations then run among them before the start, as `uniform-rest migrate
   * --among-tables-of <database>` does. Default: false, and such a database is an error.
   */
  readonly amongTables?: boolean
  /** What signs the tokens. Default: one of the stack's own. Several stacks may share one. */
  readonly mint?: TokenMint
}

/** A gateway and a data service of an application, both in the process of the test unless they have processes of their own. */
export interface Stack<S extends Server = Server> extends Pair<S> {
  /**
   * An access token with these claims, such as `{ sub: 'ada', role: 'Librarian', permissions: ['loans:read'] }` and the
   * owner claim of the application. It is good for an hour unless `exp` says otherwise, in seconds since 1970.
   */
  token(claims?: Readonly<Record<string, unknown>>): string
  /** Sends a request to the gateway: `stack.call('/books/paged?pageSize=2', { token })`. Rejects if no answer comes. */
  call(target: string, request?: StackRequest): Promise<StackAnswer>
}

/** A request to a stack. */
export interface StackRequest {
  /** Default: `GET`, and `POST` with a body. */
  readonly method?: string
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string | undefined
  /** Sent as JSON; `application/merge-patch+json` for PATCH. */
  readonly body?: unknown
  /** The `ETag` of an earlier answer, sent as `If-Match`. */
  readonly ifMatch?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer of a stack. */
export interface StackAnswer {
  readonly status: number
  /** By name, in lower case. */
  readonly headers: Answer['headers']
  readonly text: string
  /** The body as JSON, a problem document included; undefined for any other body and for none. */
  readonly body: unknown
}

/** Of row versions that are made of content. */
export const ROW_VERSION_SECRET = 'of-the-stacks-of-tests'

/**
 * Starts a data service and a gateway of an application in this process, on free ports and with a data folder of their own.
 * They speak HTTP, gRPC and SQL as they do in processes of their own. Resolves when both serve; rejects with what keeps one
 * of them from serving. No account exists: calls carry tokens of `stack.token`.
 */
export function startStack(options: StackOptions): Promise<Stack> {
  return launch(options, inThisProcess)
}

/**
 * The same in two processes, for tests of what only a process has: signals, exit codes, memory. Rejects with the log of a
 * process that ended before it served.
 */
export function startProcesses(options: StackOptions): Promise<Stack<ServiceProcess>> {
  return launch(options, inProcesses)
}

async function launch<S extends Server>(
  { app, database, env: chosen = {}, amongTables = false, mint = new TokenMint() }: StackOptions,
  launcherOf: (folder: string) => Launcher<S>
): Promise<Stack<S>> {
  const folder = app instanceof URL ? fileURLToPath(app) : app
  const pair = await startPair({
    launcher: launcherOf(folder),
    settings: async (dataDir) => {
      const env = {
        DATA_DIR: dataDir,
        DATABASE_URL: database.url,
        SAMPLE_DATA: 'false',
        MIGRATE_AT_START: 'true',
        COOKIE_SECURE: 'false',
        ROW_VERSION_SECRET,
        ...(await mint.settings(dataDir)),
        ...chosen,
        GATEWAY_PORT: '0'
      }
      if (amongTables) await migrateAmongTables(folder, env)
      return env
    }
  })
  return {
    ...pair,
    token: (claims = {}) => mint.sign(claims),
    call: (target, request = {}) => callJson(pair.url, target, request)
  }
}

async function migrateAmongTables(
  folder: string,
  env: Readonly<Record<'DATA_DIR' | 'DATABASE_URL', string>>
): Promise<void> {
  const name = decodeURIComponent(env.DATABASE_URL.slice(env.DATABASE_URL.lastIndexOf('/') + 1))
  const output = new PassThrough()
  const code = await migrate({
    args: ['--among-tables-of', name],
    folder,
    environment: env,
    directory: env.DATA_DIR,
    stdin: () => process.stdin,
    stdout: output,
    stderr: output
  })
  if (code !== 0) throw new Error(String(output.read()))
}

async function callJson(url: string, target: string, request: StackRequest): Promise<StackAnswer> {
  const { token, body, ifMatch, headers: more } = request
  const method = request.method ?? (body === undefined ? 'GET' : 'POST')
  const text = body === undefined ? undefined : JSON.stringify(body)
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const options: CallOptions = {
    method,
    token,
    headers: {
      ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...more
    },
    ...(text === undefined ? {} : { body: text })
  }
  const answer = await send(url, target, options)
  const isJson = /^application\/([a-z.-]+\+)?json\b/.test(answer.headers['content-type'] ?? '')
  return {
    status: answer.status,
    headers: answer.headers,
    text: answer.text,
    body: isJson && answer.text !== '' ? (JSON.parse(answer.text) as unknown) : undefined
  }
}
