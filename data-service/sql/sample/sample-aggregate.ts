import type { Value } from '../../entity/value.js'
import type { SampleRandom } from './sample-random.js'

/** Values by property, without row version and, for children, without the root's id. */
export type SampleRow = Readonly<Record<string, Value>>

/** A root with its children of either store by their names in the entity file. Every child has its id. */
export interface SampleAggregate {
  readonly root: SampleRow
  readonly children: Readonly<Record<string, readonly SampleRow[]>>
}

/** Makes the aggregate whose root has the id. The same id, random and surroundings give the same aggregate. */
export type SampleMaker = (id: number, random: SampleRandom) => SampleAggregate
