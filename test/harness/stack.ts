import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mintAccessToken } from '../../data-service/commands.js'
import store from '../../examples/store/uniform-rest.config.js'
import { outputRoot } from './package-root.js'
import { GATEWAY, listening, type LogEntry, type ServiceProcess, startProcess } from '../stack/service-process.js'

/** The arguments of `uniform-rest` that run the data service of the compiled application in a folder of this build. */
export function dataServiceOf(application: string): readonly string[] {
  return ['start', 'data-service', '--app', join(outputRoot, application)]
}

/** Those that run the data service of the reference store. */
export const STORE = dataServiceOf('examples/store')

export interface StackOptions {
  /** Of freshDatabase, or any other two URLs. */
  readonly database: { readonly url: string; readonly reviewsUrl: string }
  /** Settings of both processes, before those chosen here. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder of the compiled application, from the output folder; the reference store without it. */
  readonly app?: string
  /** Addresses of further data services, which the gateway spreads its calls over too. */
  readonly also?: readonly string[]
}

/** A real data service and a real gateway in front of it. */
export interface Stack extends AsyncDisposable {
  /** Of the gateway, without a slash at the end. */
  readonly url: string
  /** `host:port` of the data service. */
  readonly dataAddress: string
  /** The settings that both processes have. */
  readonly env: Readonly<Record<string, string>>
  readonly dataService: ServiceProcess
  readonly gateway: ServiceProcess
  /** All that both logged so far, `process` naming which. */
  logs(): readonly LogEntry[]
  /** An access token of a sample account, signed with the key of the stack. */
  token(email: string): Promise<string>
  /** Stops both, the gateway first, and removes their data folder. The database is the caller's. */
  stop(): Promise<void>
}

/** Starts both processes on free ports with a data folder of their own. Resolves when both listen. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { database, env: chosen = {}, app = 'examples/store', also = [] } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REVIEWS_DATABASE_URL: database.reviewsUrl,
    SAMPLE_DATA: 'true',
    MIGRATE_AT_START: 'true',
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false',
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
  try {
    const dataService = startProcess(dataServiceOf(app), { ...env, DATA_SERVICE_ADDRESS: '127.0.0.1:0' })
    processes.push(dataService)
    const dataAddress = await listening(dataService, 'address')
    const DATA_SERVICE_ADDRESS = [dataAddress, ...also].join(',')
    const gateway = startProcess(GATEWAY, { GATEWAY_PORT: '0', ...env, DATA_SERVICE_ADDRESS })
    processes.push(gateway)
    const url = await listening(gateway, 'url')
    return {
      url,
      dataAddress,
      env,
      dataService,
      gateway,
      logs: () => [...named('data-service', dataService), ...named('gateway', gateway)],
      token: tokenMint(env),
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

function tokenMint(env: Readonly<Record<string, string>>): (email: string) => Promise<string> {
  const minted = new Map<string, Promise<string>>()
  return (email) => {
    const token = minted.get(email) ?? mint(email, env)
    minted.set(email, token)
    return token
  }
}

/** Signed in this process with the key of the stack: the command looks for the account in the database, and takes a process. */
async function mint(email: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const account = store.sample?.accounts.find((one) => one.email === email)
  if (account === undefined) throw new Error(`There is no sample account ${email}`)
  return mintAccessToken(store, { account, environment })
}
