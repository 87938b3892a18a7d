import type { BoundValues } from '../conditions.js'
import { statementText } from '../statement.js'
import type { WriteSession } from './transactions.js'

/**
 * Runs a DELETE that ends in `IN` for a list of keys, and answers how many rows it deleted. Going by primary key, as
 * those who use the rows lock them, neither ever waits in a circle.
 */
export async function deleteListed(
  session: WriteSession,
  statement: string,
  { keys, now }: { readonly keys: readonly Buffer[]; readonly now: number }
): Promise<number> {
  const last = keys.at(-1)
  if (last === undefined) return 0
  // One text for many lengths of the list.
  const length = 2 ** Math.ceil(Math.log2(keys.length))
  const values: BoundValues = { now: BigInt(now) }
  const names = Array.from({ length }, (_, index) => {
    values[`k${index}`] = keys[index] ?? last
    return `$k${index}`
  })
  return (await session.change(statementText(`${statement} (${names.join(', ')})`), values)).rows
}
