import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlantedSite } from './planted-site.js'
import { PLANTS } from './plants.js'
import { tryPlant, whyNotFound } from './try-plant.js'

/** Requests within which each fault has to be found. */
const LIMIT = 2000

/** Tries every planted fault and says what became of each. Resolves with whether each was found by its checker. */
export async function tryAllPlants(seed: number, say: (line: string) => void): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'plants-'))
  let found = 0
  try {
    await using planted = await PlantedSite.start(folder)
    for (const plant of PLANTS) {
      await planted.plant(plant)
      const { checker, workloads } = plant
      const tried = await tryPlant(planted, { checker, workloads, seed, limit: LIMIT })
      const why = whyNotFound(plant, tried)
      if (why === undefined) found++
      const red = tried.red.map(({ checker, violations }) => `${checker} (${violations[0]?.what ?? ''})`)
      say(why ?? `${plant.name} was found after ${tried.requests} requests by ${red.join(' and ')}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  say(`${found} of ${PLANTS.length} planted faults were found by the checker that has to.`)
  return found === PLANTS.length
}
