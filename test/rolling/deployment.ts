import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { FreshDatabase } from '../harness/database.js'
import { request } from '../harness/http.js'
import { adminOf } from '../harness/metrics.js'
import { tokenMint } from '../harness/stack.js'
import { freePort } from '../runner/free-port.js'
import { GATEWAY, listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { type Balancer, startBalancer } from './balancer.js'
import type { Build } from './previous-build.js'

/** In the order in which docs/deploying.md replaces them. */
export const SERVICES = ['data-service-1', 'data-service-2', 'gateway-1', 'gateway-2'] as const
export type ServiceName = (typeof SERVICES)[number]

const DATA_SERVICES = SERVICES.slice(0, 2)
const GATEWAYS = SERVICES.slice(2)

/** As in docker-compose.yml. */
const DRAIN_TIME = '2s'

/** What docker-compose.yml runs, without containers: two data services and two gateways behind a load balancer. */
export class Deployment {
  readonly database: FreshDatabase
  readonly #dataDir: string
  /** Where each service and the balancer serve. */
  readonly #ports: ReadonlyMap<string, number>
  readonly #running = new Map<ServiceName, ServiceProcess>()
  #balancer: Balancer | undefined
  readonly token: (email: string) => Promise<string>

  private constructor(database: FreshDatabase, dataDir: string, ports: ReadonlyMap<string, number>) {
    this.database = database
    this.#dataDir = dataDir
    this.#ports = ports
    this.token = tokenMint(this.#settings())
  }

  /** Migrates the empty database with the build, and starts everything of it. Resolves when the balancer serves. */
  static async start(database: FreshDatabase, build: Build): Promise<Deployment> {
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const ports = new Map<string, number>()
    for (const name of [...SERVICES, BALANCER]) ports.set(name, await freePort())
    const deployment = new Deployment(database, dataDir, ports)
    try {
      await deployment.migrate(build)
      for (const name of DATA_SERVICES) await deployment.#start(name, build)
      await Promise.all(GATEWAYS.map((name) => deployment.#start(name, build)))
      await deployment.#dataServicesFound(new Map())
      deployment.#balancer = await startBalancer({
        port: deployment.#port(BALANCER),
        gateways: new Map(GATEWAYS.map((name) => [name, deployment.#port(name)]))
      })
      await eventually(`${deployment.url}/health/ready`)
      return deployment
    } catch (error) {
      await deployment.stop()
      throw error
    }
  }

  /** Of the balancer, without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.#port(BALANCER)}`
  }

  /** Of a gateway or a data service. */
  address(name: ServiceName): string {
    return `127.0.0.1:${this.#port(name)}`
  }

  process(name: ServiceName): ServiceProcess {
    const found = this.#running.get(name)
    if (found === undefined) throw new Error(`${name} does not run`)
    return found
  }

  /** Runs `uniform-rest migrate` of the build. */
  async migrate(build: Build): Promise<void> {
    const migrating = this.#command(build, ['migrate', '--app', storeOf(build)], {})
    const code = await migrating.ended
    expect(
      code,
      migrating
        .logs()
        .map(({ text }) => String(text))
        .join('\n')
    ).to.equal(0)
  }

  /** Tells a service to end, and starts it from the build. Resolves when it does its work again and the others know. */
  async replace(name: ServiceName, build: Build): Promise<void> {
    expect(await this.process(name).stop(), `exit code of ${name}`).to.equal(0)
    await this.startAgain(name, build)
  }

  /** Starts a service that has ended. Resolves when it does its work again and the others know. */
  async startAgain(name: ServiceName, build: Build): Promise<void> {
    if (DATA_SERVICES.includes(name)) {
      const before = new Map(GATEWAYS.map((gateway) => [gateway, this.#servings(gateway, name)]))
      await this.#start(name, build)
      await this.#dataServicesFound(before, [name])
    } else {
      const before = this.#balancer?.found(name) ?? 0
      await this.#start(name, build)
      await this.#balancer?.finds(name, before)
    }
  }

  async stop(): Promise<void> {
    try {
      await this.#balancer?.stop()
      // Gateways end first: they finish what is under way, and need the data services for it.
      for (const names of [GATEWAYS, DATA_SERVICES]) {
        await Promise.all(names.map(async (name) => this.#running.get(name)?.stop()))
      }
    } finally {
      await rm(this.#dataDir, { recursive: true, force: true })
    }
  }

  async #start(name: ServiceName, build: Build): Promise<void> {
    if (DATA_SERVICES.includes(name)) {
      const settings = { DATA_SERVICE_ADDRESS: this.address(name), ADMIN_PORT: '0' }
      const service = this.#command(build, ['start', 'data-service', '--app', storeOf(build)], settings)
      this.#running.set(name, service)
      await eventually(`${await adminOf(service)}/health/ready`)
    } else {
      const gateway = this.#command(build, GATEWAY, {
        GATEWAY_PORT: String(this.#port(name)),
        DATA_SERVICE_ADDRESS: DATA_SERVICES.map((one) => this.address(one)).join(),
        PUBLIC_BASE_URL: this.url,
        DRAIN_TIME
      })
      this.#running.set(name, gateway)
      await listening(gateway, 'url')
      await eventually(`http://${this.address(name)}/health/ready`)
    }
  }

  #command(build: Build, args: readonly string[], more: Readonly<Record<string, string>>): ServiceProcess {
    return startProcess(args, { ...this.#settings(), ...more }, this.#dataDir, build.output)
  }

  #settings(): Readonly<Record<string, string>> {
    return {
      DATA_DIR: this.#dataDir,
      DATABASE_URL: this.database.url,
      REVIEWS_DATABASE_URL: this.database.reviewsUrl,
      OWNER_BYPASS_ROLE: 'Admin',
      COOKIE_SECURE: 'false',
      DATA_PROTECTION_BLOB_STORAGE_URI: `file:${join(this.#dataDir, 'key-ring.json')}`
    }
  }

  #port(name: string): number {
    return this.#ports.get(name) ?? 0
  }

  /** How often a gateway has seen a data service begin to serve. */
  #servings(gateway: ServiceName, dataService: ServiceName): number {
    const address = this.address(dataService)
    const entries = this.process(gateway).logs()
    return entries.filter((entry) => entry['address'] === address && entry['health'] === 'serving').length
  }

  async #dataServicesFound(before: ReadonlyMap<string, number>, names: readonly ServiceName[] = DATA_SERVICES) {
    for (const gateway of GATEWAYS) {
      for (const name of names) {
        const known = before.get(gateway) ?? 0
        await this.process(gateway).logged(() => this.#servings(gateway, name) > known)
      }
    }
  }
}

const BALANCER = 'balancer'

function storeOf({ output }: Build): string {
  return join(output, 'examples/store')
}

const INTERVAL_MS = 50

/** Resolves when the URL answers 200. The timeout of the test ends it otherwise. */
async function eventually(url: string): Promise<void> {
  const answers = (): Promise<boolean> =>
    request(url).then(
      ({ status }) => status === 200,
      () => false
    )
  while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
}
