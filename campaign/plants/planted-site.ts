import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Rows } from '../checkers/checker.js'
import type { Database, DatabaseKind } from '../databases/database.js'
import { startDatabase } from '../databases/start-database.js'
import { type Site, startSite } from '../site.js'
import { WebhookReceiver } from '../webhook-receiver.js'
import { MOST_EXPORTED } from '../workload/exports.js'
import { type FirstRows, keepFirstRows } from './first-rows.js'
import type { Plant } from './plant.js'
import { plantNamed } from './plants.js'

/** The preload of a site, as `SiteOptions.preload` has it. `file` holds the fault as JSON, or nothing. */
function preloadOf(file: string): string {
  const url = new URL('preload.js', import.meta.url)
  url.searchParams.set('plant', file)
  return url.href
}

/** The preload of a site, all of whose processes have the fault of that name for as long as the folder stands. */
export async function preloadWith(name: string, folder: string): Promise<string> {
  const file = join(folder, 'plant')
  await writeFile(file, JSON.stringify(plantNamed(name)))
  return preloadOf(file)
}

/** A system with two gateways and one data service over one database, whose fault can be exchanged for another one. */
export class PlantedSite implements AsyncDisposable {
  readonly site: Site
  readonly database: Database
  readonly rows: Rows
  readonly receiver: WebhookReceiver
  readonly #folder: string
  readonly #first: FirstRows
  #plant: Plant | undefined
  /** The data service has ended once its first rows are there, and starts with the first fault. */
  #isServing = false

  private constructor(
    site: Site,
    database: Database,
    of: { readonly folder: string; readonly first: FirstRows; readonly receiver: WebhookReceiver }
  ) {
    this.site = site
    this.database = database
    this.rows = (sql) => database.query(sql)
    this.#folder = of.folder
    this.#first = of.first
    this.receiver = of.receiver
  }

  /** `folder` is the caller's. Resolves when the gateways are ready; no fault is planted yet. */
  static async start(folder: string, kind: DatabaseKind): Promise<PlantedSite> {
    await mkdir(folder, { recursive: true })
    const file = join(folder, 'plant')
    await writeFile(file, '')
    const database = await startDatabase(kind, { folder, progress: () => undefined })
    const receiver = await WebhookReceiver.start()
    let site: Site | undefined
    try {
      const dataDir = join(folder, 'site')
      await mkdir(dataDir)
      site = await startSite({
        folder: dataDir,
        gateways: 2,
        services: 1,
        databaseUrl: () => database.urls(0).url,
        reviewsUrl: () => database.urls(0).reviewsUrl,
        webhook: receiver,
        preload: preloadOf(file),
        env: { MAX_EXPORT_ROWS: String(MOST_EXPORTED) }
      })
      await Promise.all(site.services.map((one) => one.terminate()))
      return new PlantedSite(site, database, { folder, receiver, first: await keepFirstRows(database, folder) })
    } catch (error) {
      await site?.stop()
      await receiver.stop()
      await database.dispose()
      throw error
    }
  }

  /** Starts what the fault is in, and what the last one was in, on the rows of the beginning. */
  async plant(plant: Plant | undefined): Promise<void> {
    const { gateways, services } = this.site
    const isOfGateways = [plant, this.#plant].some((one) => one?.process === 'gateway')
    const members = [...services, ...(isOfGateways ? gateways : [])]
    const running = this.#isServing ? members : members.filter((one) => !services.includes(one))
    await Promise.all(running.map((one) => one.kill()))
    this.#isServing = true
    await this.#first.restore()
    await writeFile(join(this.#folder, 'plant'), plant === undefined ? '' : JSON.stringify(plant))
    this.#plant = plant
    for (const one of members) await one.startOnce()
    for (const url of this.site.urls) await ready(url)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site.stop()
    await this.receiver.stop()
    await this.database.dispose()
  }
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await delay(20)
  }
}
