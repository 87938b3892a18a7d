import type { Value } from '../../../data-service/entity/fields/field.js'
import type { BatchWriter } from '../../../data-service/plan/model/stores.js'

/** Keeps the rows of an export's batch as they are. */
export function keepRows(): BatchWriter<readonly Value[]> {
  const rows: (readonly Value[])[] = []
  return { add: ({ values }) => rows.push(values), bytes: 0, finish: () => rows }
}

/** Reads to the end; `seen` is told of each item. */
export async function drain<Item>(
  items: AsyncIterable<Item>,
  seen: (item: Item) => void = () => undefined
): Promise<void> {
  for await (const item of items) seen(item)
}
