import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { QueryTypes } from 'sequelize'
import { connect } from '../../data-service/sql/connect.js'
import type { Rows } from '../checkers/checker.js'
import { type Site, startSite } from '../site.js'
import type { Plant } from './plant.js'
import { PLANTS } from './plants.js'

const STORES = ['store.sqlite', 'reviews.sqlite'] as const

/** The preload of a site, as `SiteOptions.preload` has it. `file` holds the fault as JSON, or nothing. */
function preloadOf(file: string): string {
  const url = new URL('preload.js', import.meta.url)
  url.searchParams.set('plant', file)
  return url.href
}

/** The preload of a site, all of whose processes have the fault of that name for as long as the folder stands. */
export async function preloadWith(name: string, folder: string): Promise<string> {
  const plant = PLANTS.find((one) => one.name === name)
  if (plant === undefined) throw new Error(`--plant ${name} is none of ${PLANTS.map((one) => one.name).join(', ')}.`)
  const file = join(folder, 'plant')
  await writeFile(file, JSON.stringify(plant))
  return preloadOf(file)
}

/** A system over SQLite, with two gateways and one data service, whose fault can be exchanged for another one. */
export class PlantedSite implements AsyncDisposable {
  readonly site: Site
  readonly #folder: string
  #plant: Plant | undefined
  /** The data service has ended once its first rows are there, and starts with the first fault. */
  #isServing = false

  private constructor(site: Site, folder: string) {
    this.site = site
    this.#folder = folder
  }

  /** `folder` is the caller's. Resolves when the gateways are ready; no fault is planted yet. */
  static async start(folder: string): Promise<PlantedSite> {
    await mkdir(folder, { recursive: true })
    const file = join(folder, 'plant')
    await writeFile(file, '')
    const site = await startSite({
      folder,
      gateways: 2,
      services: 1,
      databaseUrl: () => `sqlite:${join(folder, 'store.sqlite')}`,
      reviewsUrl: () => `sqlite:${join(folder, 'reviews.sqlite')}`,
      preload: preloadOf(file)
    })
    await Promise.all(site.services.map((one) => one.terminate()))
    for (const name of STORES) await copyFile(join(folder, name), join(folder, `first-${name}`))
    return new PlantedSite(site, folder)
  }

  /** Starts what the fault is in, and what the last one was in, on the rows of the beginning. */
  async plant(plant: Plant | undefined): Promise<void> {
    const { gateways, services } = this.site
    const isOfGateways = [plant, this.#plant].some((one) => one?.process === 'gateway')
    const members = [...services, ...(isOfGateways ? gateways : [])]
    const running = this.#isServing ? members : members.filter((one) => !services.includes(one))
    await Promise.all(running.map((one) => one.kill()))
    this.#isServing = true
    for (const name of STORES) {
      // Removed, not overwritten: a connection that is still open would write its pages into the new file.
      for (const end of ['', '-wal', '-shm']) await rm(join(this.#folder, `${name}${end}`), { force: true })
      await copyFile(join(this.#folder, `first-${name}`), join(this.#folder, name))
    }
    await writeFile(join(this.#folder, 'plant'), plant === undefined ? '' : JSON.stringify(plant))
    this.#plant = plant
    for (const one of members) await one.startOnce()
    for (const url of this.site.urls) await ready(url)
  }

  readonly rows: Rows = async (sql) => {
    const { sequelize } = connect(`sqlite:${join(this.#folder, 'store.sqlite')}`)
    try {
      return await sequelize.query<Record<string, unknown>>(sql, { type: QueryTypes.SELECT })
    } finally {
      await sequelize.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site.stop()
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
