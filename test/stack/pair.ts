import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDataServiceHere, startGatewayHere } from './in-process.js'
import type { Listening, LogEntry, Server } from './server-log.js'
import { listening, type ServiceProcess, startProcess } from './service-process.js'

type Settings = Readonly<Record<string, string>>

/** A data service and a gateway in front of it, with a data folder of their own. */
export interface Pair<S extends Server = Server> extends AsyncDisposable {
  /** The address of the gateway, `http://127.0.0.1:49152`. */
  readonly url: string
  /** The `host:port` of the data service, for gRPC. */
  readonly dataAddress: string
  readonly dataService: S
  readonly gateway: S
  /** All that both have logged so far; `process` tells which. */
  logs(): readonly LogEntry[]
  /** Stops both, the gateway first, and removes their data folder. The database is the caller's. */
  stop(): Promise<void>
}

/** How a pair is started: each function resolves when its server listens. `folder` is the working directory of a process. */
export interface Launcher<S extends Server> {
  dataService(env: Settings, folder: string): Promise<Listening<S>>
  gateway(env: Settings, folder: string): Promise<Listening<S>>
}

/** Both in this process. */
export function inThisProcess(app: string): Launcher<Server> {
  return {
    dataService: (env) => startDataServiceHere(app, env),
    gateway: (env) => startGatewayHere(env, app)
  }
}

/** Each in a process of its own. */
export function inProcesses(app: string): Launcher<ServiceProcess> {
  const start = async (role: 'data-service' | 'gateway', env: Settings, folder: string) => {
    // In the data folder: a `.env` of the project must not change what is tested.
    const server = startProcess(['start', role, '--app', app], env, folder)
    try {
      return { server, address: await listening(server, role === 'gateway' ? 'url' : 'address') }
    } catch (error) {
      await server.stop()
      throw error
    }
  }
  return {
    dataService: (env, folder) => start('data-service', env, folder),
    gateway: (env, folder) => start('gateway', env, folder)
  }
}

interface PairOptions<S extends Server> {
  readonly launcher: Launcher<S>
  /** Does what has to be done before the start, and answers the settings of both. */
  readonly settings: (dataDir: string) => Promise<Settings>
  /** Addresses of further data services, which the gateway spreads its calls over too. */
  readonly also?: readonly string[]
  /** Makes a way to the data service at `host:port` and answers the `host:port` by which the gateway takes it. */
  readonly wayTo?: (dataAddress: string) => Promise<string>
}

/** Starts both on free ports. Resolves when both listen; rejects with what kept one of them from listening. */
export async function startPair<S extends Server>(options: PairOptions<S>): Promise<Pair<S>> {
  const { launcher, settings, also = [], wayTo = (address) => Promise.resolve(address) } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'stack-'))
  const servers: S[] = []
  const stop = async (): Promise<void> => {
    try {
      for (const one of servers.splice(0).toReversed()) await one.stop()
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  const started = ({ server, address }: Listening<S>): Listening<S> => {
    servers.push(server)
    return { server, address }
  }
  try {
    const env = await settings(dataDir)
    const data = started(await launcher.dataService({ ...env, DATA_SERVICE_ADDRESS: '127.0.0.1:0' }, dataDir))
    const DATA_SERVICE_ADDRESS = [await wayTo(data.address), ...also].join()
    const http = started(await launcher.gateway({ GATEWAY_PORT: '0', ...env, DATA_SERVICE_ADDRESS }, dataDir))
    return {
      url: http.address,
      dataAddress: data.address,
      dataService: data.server,
      gateway: http.server,
      logs: () => [...named('data-service', data.server), ...named('gateway', http.server)],
      stop,
      [Symbol.asyncDispose]: stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function named(process: string, server: Server): LogEntry[] {
  return server.logs().map((entry) => ({ process, ...entry }))
}
