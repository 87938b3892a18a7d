import { Failure } from '../../test/runner/programs.js'
import type { Plant } from './plant.js'
import { PLANTED_READS } from './planted-reads.js'
import { PLANTED_WRITES } from './planted-writes.js'

/** Each breaks one promise. They are small, as the mistakes are that nobody sees in a review. */
export const PLANTS: readonly Plant[] = [...PLANTED_WRITES, ...PLANTED_READS]

/** Throws for a name that none has. */
export function plantNamed(name: string): Plant {
  const plant = PLANTS.find((one) => one.name === name)
  if (plant === undefined) throw new Failure(`--plant ${name} is none of ${PLANTS.map((one) => one.name).join(', ')}.`)
  return plant
}
