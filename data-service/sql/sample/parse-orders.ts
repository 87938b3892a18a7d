import { parseArgs } from 'node:util'
import { bulkMakers } from './bulk-makers.js'
import type { LoadOrder } from './load-more.js'

const MAX_COUNT = 2 ** 31 - 1

/**
 * `--products 1000000 --orders 500` as what to load, in the order in which rows are referred to, whatever the order of
 * the flags. Throws an Error that says what would be right.
 */
export function parseOrders(flags: readonly string[]): LoadOrder[] {
  const resources = [...bulkMakers.keys()]
  const options = Object.fromEntries(resources.map((resource) => [resource, { type: 'string' } as const]))
  const usage = `Usage: ${resources.map((resource) => `[--${resource} <count>]`).join(' ')}`
  const values = attempt(() => parseArgs({ args: [...flags], options }).values, usage)
  return resources.flatMap((resource) => {
    const text = values[resource]
    if (text === undefined) return []
    const count = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (!(count >= 1 && count <= MAX_COUNT)) {
      throw new Error(`--${resource} must be followed by a whole number from 1 to ${MAX_COUNT}\n${usage}`)
    }
    return [{ resource, count }]
  })
}

function attempt<T>(parse: () => T, usage: string): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${usage}`, { cause: error })
  }
}
