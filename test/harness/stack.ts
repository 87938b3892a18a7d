import { join } from 'node:path'
import { mintAccessToken } from '../../cli/application/databases.js'
import store from '../../examples/store/uniform-rest.config.js'
import { outputRoot } from './package-root.js'
import { inProcesses, inThisProcess, type Launcher, type Pair, startPair } from '../stack/pair.js'
import type { Server } from '../stack/server-log.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { variantOfGateway } from './variant.js'

/** The arguments of `uniform-rest` that run the data service of the compiled application in a folder of this build. */
export function dataServiceOf(application: string): readonly string[] {
  return ['start', 'data-service', '--app', join(outputRoot, application)]
}

/** Those that run the data service of the reference store. */
export const STORE = dataServiceOf('examples/store')

export interface StackOptions {
  /** Of freshDatabase or storeDatabase, or any other two URLs. */
  readonly database: { readonly url: string; readonly reviewsUrl: string }
  /** Settings of both servers, before those chosen here. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder of the compiled application, from the output folder; the reference store without it. */
  readonly app?: string
  /** Addresses of further data services, which the gateway spreads its calls over too. */
  readonly also?: readonly string[]
}

/** A real data service and a real gateway in front of it. */
export interface Stack<S extends Server = Server> extends Pair<S> {
  /** The settings that both have. */
  readonly env: Readonly<Record<string, string>>
  /** An access token of a sample account, signed with the key of the stack. */
  token(email: string): Promise<string>
}

/** Starts both in this process on free ports with a data folder of their own. Resolves when both listen. */
export function startStack(options: StackOptions): Promise<Stack> {
  return launch(options, inThisProcess)
}

/** The same in two processes, for tests of signals, memory and whatever else a process has. */
export function startProcesses(options: StackOptions): Promise<Stack<ServiceProcess>> {
  return launch(options, inProcesses)
}

async function launch<S extends Server>(
  { database, env: chosen = {}, app = 'examples/store', also = [] }: StackOptions,
  launcherOf: (folder: string) => Launcher<S>
): Promise<Stack<S>> {
  let env: Readonly<Record<string, string>> = {}
  const variant = variantOfGateway()
  const pair = await startPair({
    launcher: launcherOf(join(outputRoot, app)),
    settings: (dataDir) => {
      env = {
        DATA_DIR: dataDir,
        DATABASE_URL: database.url,
        REVIEWS_DATABASE_URL: database.reviewsUrl,
        SAMPLE_DATA: 'true',
        MIGRATE_AT_START: 'true',
        OWNER_BYPASS_ROLE: 'Admin',
        COOKIE_SECURE: 'false',
        DOCS_PUBLIC: 'true',
        ...variant.settings,
        ...chosen
      }
      return Promise.resolve(env)
    },
    also,
    wayTo: (address) => variant.wayTo(address)
  })
  variant.serve(pair.url)
  const stop = async (): Promise<void> => {
    try {
      await pair.stop()
    } finally {
      await variant.end()
    }
  }
  return { ...pair, stop, [Symbol.asyncDispose]: stop, env, token: tokenMint(env) }
}

/** Signs tokens of the sample accounts with the key of the processes that have these settings. */
export function tokenMint(env: Readonly<Record<string, string>>): (email: string) => Promise<string> {
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
