import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../runner/free-port.js'
import { inProcesses, inThisProcess } from '../stack/pair.js'
import type { Server } from '../stack/server-log.js'
import type { FreshDatabase } from './database.js'
import { outputRoot } from './package-root.js'
import { tokenMint } from './stack.js'
import { wayTo, type WayToServer } from './way-to-server.js'

/** A data service of the store, which is restarted at the same address, and the way that all gateways take to it. */
export interface MeshedService {
  readonly way: WayToServer
  /** Stops it and starts it again. */
  restart(): Promise<void>
}

/** Several gateways and data services with one database. */
export interface Mesh extends AsyncDisposable {
  /** Of each gateway, without a slash at the end. */
  readonly urls: readonly string[]
  readonly services: readonly MeshedService[]
  /** An access token of a sample account, good at every gateway. */
  token(email: string): Promise<string>
  /** Resolves when the last that every gateway has logged of each of its data services is that it serves. */
  connected(): Promise<void>
}

interface MeshOptions {
  readonly database: FreshDatabase
  readonly gateways: number
  readonly services: number
  /** Whether each gateway has a data service of its own. Default: each spreads its calls over all of them. */
  readonly inPairs?: boolean
  /** Whether each has a process of its own. Default: all are in this one. */
  readonly processes?: boolean
  /** The URL by which the first data service reaches the database; as the others do without it. */
  readonly firstDatabaseUrl?: string
}

/** What a gateway logs of the health of a data service. */
const HEALTH = new Set(['health of a data service', 'a data service cannot be reached'])

/** Resolves when all of them listen and every gateway has reached its data services. */
export async function startMesh(options: MeshOptions): Promise<Mesh> {
  const { database, gateways: count, services: size, firstDatabaseUrl = database.url, inPairs = false } = options
  const launcher = (options.processes === true ? inProcesses : inThisProcess)(join(outputRoot, 'examples/store'))
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REVIEWS_DATABASE_URL: database.reviewsUrl,
    MIGRATE_AT_START: 'true',
    SAMPLE_DATA: 'false',
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false'
  }
  const services: MeshedService[] = []
  const started: Server[] = []
  const gateways: Server[] = []
  const servicesOf = (gateway: number): MeshedService[] => (inPairs ? services.slice(gateway, gateway + 1) : services)
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(gateways.map((one) => one.stop()))
      await Promise.all(started.map((one) => one.stop()))
      for (const { way } of services) await way[Symbol.asyncDispose]()
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  const connected = async (): Promise<void> => {
    for (const [n, gateway] of gateways.entries()) {
      for (const { way } of servicesOf(n)) {
        const { host: address } = new URL(way.url)
        const isServing = (): boolean =>
          gateway.logs().findLast((line) => line['address'] === address && HEALTH.has(String(line['msg'])))?.[
            'health'
          ] === 'serving'
        while (!isServing()) await delay(10)
      }
    }
  }
  try {
    for (let n = 0; n < size; n++) {
      const start = async (at: string): Promise<{ readonly server: Server; readonly address: string }> => {
        const DATABASE_URL = n === 0 ? firstDatabaseUrl : database.url
        const listening = await launcher.dataService({ ...env, DATABASE_URL, DATA_SERVICE_ADDRESS: at }, dataDir)
        started.push(listening.server)
        return listening
      }
      let { server, address } = await start(`127.0.0.1:${await freePort()}`)
      const way = await wayTo(`http://${address}`)
      services.push({
        way,
        async restart() {
          await server.stop()
          ;({ server, address } = await start(address))
        }
      })
    }
    const urls: string[] = []
    for (let n = 0; n < count; n++) {
      const DATA_SERVICE_ADDRESS = servicesOf(n)
        .map(({ way }) => new URL(way.url).host)
        .join()
      const gateway = await launcher.gateway({ ...env, GATEWAY_PORT: '0', DATA_SERVICE_ADDRESS }, dataDir)
      gateways.push(gateway.server)
      urls.push(gateway.address)
    }
    await connected()
    return { urls, services, token: tokenMint(env), connected, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
