import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listening, type LogEntry, type ServiceProcess, startProcess } from './service-process.js'

/** A data service and a gateway in front of it, each a process of its own, with a data folder of their own. */
export interface Pair extends AsyncDisposable {
  /** The address of the gateway, `http://127.0.0.1:49152`. */
  readonly url: string
  /** The `host:port` of the data service, for gRPC. */
  readonly dataAddress: string
  readonly dataService: ServiceProcess
  readonly gateway: ServiceProcess
  /** All that both have logged so far; `process` tells which. */
  logs(): readonly LogEntry[]
  /** Stops both processes, the gateway first, and removes their data folder. The database is the caller's. */
  stop(): Promise<void>
}

interface PairOptions {
  /** The arguments of `uniform-rest` that run each of them. */
  readonly dataService: readonly string[]
  readonly gateway: readonly string[]
  /** Does what has to be done before the start, and answers the settings of both. */
  readonly settings: (dataDir: string) => Promise<Readonly<Record<string, string>>>
  /** Addresses of further data services, which the gateway spreads its calls over too. */
  readonly also?: readonly string[]
  /** Makes a way to the data service at `host:port` and answers the `host:port` by which the gateway takes it. */
  readonly wayTo?: (dataAddress: string) => Promise<string>
}

/** Starts both on free ports. Resolves when both listen; rejects with the log of the process that ended before. */
export async function startPair(options: PairOptions): Promise<Pair> {
  const {
    dataService: data,
    gateway: http,
    settings,
    also = [],
    wayTo = (address) => Promise.resolve(address)
  } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'stack-'))
  const processes: ServiceProcess[] = []
  const stop = async (): Promise<void> => {
    try {
      for (const one of processes.splice(0).toReversed()) await one.stop()
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  const start = (what: readonly string[], env: Readonly<Record<string, string>>): ServiceProcess => {
    // In the data folder: a `.env` of the project must not change what is tested.
    const started = startProcess(what, env, dataDir)
    processes.push(started)
    return started
  }
  try {
    const env = await settings(dataDir)
    const dataService = start(data, { ...env, DATA_SERVICE_ADDRESS: '127.0.0.1:0' })
    const dataAddress = await listening(dataService, 'address')
    const DATA_SERVICE_ADDRESS = [await wayTo(dataAddress), ...also].join()
    const gateway = start(http, { GATEWAY_PORT: '0', ...env, DATA_SERVICE_ADDRESS })
    const url = await listening(gateway, 'url')
    return {
      url,
      dataAddress,
      dataService,
      gateway,
      logs: () => [...named('data-service', dataService), ...named('gateway', gateway)],
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
