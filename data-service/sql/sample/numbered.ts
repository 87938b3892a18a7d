import type { SampleAggregate, SampleMaker, SampleRow } from './sample-aggregate.js'
import { SampleRandom } from './sample-random.js'

/** Aggregates numbered from 1 to `count`, children numbered through all of them. */
export function numbered(resource: string, count: number, make: SampleMaker): SampleAggregate[] {
  const last = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const { root, children } = make(index + 1, new SampleRandom(resource, index + 1))
    const withIds = Object.entries(children).map(([name, rows]): [string, SampleRow[]] => {
      const before = last.get(name) ?? 0
      last.set(name, before + rows.length)
      return [name, rows.map((row, position) => ({ ...row, id: before + position + 1 }))]
    })
    return { root, children: Object.fromEntries(withIds) }
  })
}

/** The ids of aggregates whose ids are ints. */
export function idsOf(aggregates: readonly SampleAggregate[]): number[] {
  return aggregates.map(({ root }) => Number(root['id']))
}
