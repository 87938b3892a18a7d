import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../test/runner/programs.js'
import { PlantedSite } from './planted-site.js'
import type { Plant } from './plant.js'
import { tryPlant, whyNotFound } from './try-plant.js'

/** Requests within which each fault has to be found. */
const LIMIT = 2000

/**
 * Tries planted faults and says what became of each. Resolves with whether each was found by its checker. Those of a database that
 * cannot be had here are not tried, and do not count.
 */
export async function tryPlants(plants: readonly Plant[], seed: number, say: (line: string) => void): Promise<boolean> {
  let [found, missed] = [0, 0]
  for (const kind of ['sqlite', 'mariadb'] as const) {
    const ofKind = plants.filter(({ database = 'sqlite' }) => database === kind)
    if (ofKind.length === 0) continue
    const folder = await mkdtemp(join(tmpdir(), 'plants-'))
    try {
      await using planted = await PlantedSite.start(folder, kind)
      for (const plant of ofKind) {
        await planted.plant(plant)
        const tried = await tryPlant(planted, { ...plant, seed, limit: LIMIT })
        const why = whyNotFound(plant, tried)
        if (why === undefined) found++
        else missed++
        const red = tried.red.map(({ checker, violations }) => `${checker} (${violations[0]?.what ?? ''})`)
        say(why ?? `${plant.name} was found after ${tried.requests} requests by ${red.join(' and ')}`)
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      say(`${ofKind.map(({ name }) => name).join(', ')}: not tried. ${error.message}`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  say(`${found} of ${found + missed} planted faults were found by the checker that has to.`)
  return missed === 0 && found > 0
}
