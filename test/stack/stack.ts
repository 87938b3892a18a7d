import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Answer, call as send, type CallOptions } from './http-call.js'
import { listening, startProcess, type LogEntry, type ServiceProcess } from './service-process.js'
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

/** A gateway and a data service of an application, each a process of its own. */
export interface Stack extends AsyncDisposable {
  /** The address of the gateway, `http://127.0.0.1:49152`. */
  readonly url: string
  /** The `host:port` of the data service, for gRPC. */
  readonly dataAddress: string
  readonly dataService: ServiceProcess
  readonly gateway: ServiceProcess
  /** All that both have logged so far; `process` tells which. */
  logs(): readonly LogEntry[]
  /**
   * An access token with these claims, such as `{ sub: 'ada', role: 'Librarian', permissions: ['loans:read'] }` and the
   * owner claim of the application. It is good for an hour unless `exp` says otherwise, in seconds since 1970.
   */
  token(claims?: Readonly<Record<string, unknown>>): string
  /** Sends a request to the gateway: `stack.call('/books/paged?pageSize=2', { token })`. Rejects if no answer comes. */
  call(target: string, request?: StackRequest): Promise<StackAnswer>
  /** Stops both processes and removes their data folder. The database is the caller's. */
  stop(): Promise<void>
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

/**
 * Starts a data service and a gateway of an application on free ports, with a data folder of their own. Resolves when both
 * serve; rejects with the log of the process that ended before. No account exists: calls carry tokens of `stack.token`.
 */
export async function startStack({
  app,
  database,
  env: chosen = {},
  amongTables = false,
  mint = new TokenMint()
}: StackOptions): Promise<Stack> {
  const folder = app instanceof URL ? fileURLToPath(app) : app
  const dataDir = await mkdtemp(join(tmpdir(), 'stack-'))
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    SAMPLE_DATA: 'false',
    MIGRATE_AT_START: 'true',
    COOKIE_SECURE: 'false',
    ...(await mint.settings(dataDir)),
    ...chosen
  }
  const processes: ServiceProcess[] = []
  const stop = async (): Promise<void> => {
    try {
      for (const one of processes.splice(0).toReversed()) await one.stop()
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  const start = (role: string, settings: Readonly<Record<string, string>>): ServiceProcess => {
    // In the data folder: a `.env` of the project must not change what is tested.
    const started = startProcess(['start', role, '--app', folder], { ...env, ...settings }, dataDir)
    processes.push(started)
    return started
  }
  try {
    if (amongTables) {
      const name = decodeURIComponent(database.url.slice(database.url.lastIndexOf('/') + 1))
      const command = ['migrate', '--app', folder, '--among-tables-of', name]
      const migrating = startProcess(command, env, dataDir)
      if ((await migrating.ended) !== 0)
        throw new Error(
          migrating
            .logs()
            .map(({ text }) => String(text))
            .join('\n')
        )
    }
    const dataService = start('data-service', { DATA_SERVICE_ADDRESS: '127.0.0.1:0' })
    const dataAddress = await listening(dataService, 'address')
    const gateway = start('gateway', { GATEWAY_PORT: '0', DATA_SERVICE_ADDRESS: dataAddress })
    const url = await listening(gateway, 'url')
    return {
      url,
      dataAddress,
      dataService,
      gateway,
      logs: () => [...named('data-service', dataService), ...named('gateway', gateway)],
      token: (claims = {}) => mint.sign(claims),
      call: (target, request = {}) => callJson(url, target, request),
      stop,
      [Symbol.asyncDispose]: stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function named(process: string, service: ServiceProcess): LogEntry[] {
  return service.logs().map((entry) => ({ process, ...entry }))
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
