import { parseArgs } from 'node:util'

export interface Options {
  /** Rows of the products table. */
  readonly products: number
  /** Length of a round. */
  readonly seconds: number
  /** Rounds of each target for each line of the table. */
  readonly rounds: number
  /** Numbers of connections for every workload instead of its own; empty for its own. */
  readonly connections: readonly number[]
  /** Only these workloads and targets; empty for all. */
  readonly workloads: readonly string[]
  readonly targets: readonly string[]
  /** Folder for results. */
  readonly out: string
  /** Whether to write CPU profiles of every server process there. */
  readonly profile: boolean
}

export const USAGE = `npm run bench -- [options]
  --products <n>    rows of the table (100000)
  --seconds <n>     length of a round (5)
  --rounds <n>      rounds a target (3)
  --connections <n> instead of the workload's own numbers; repeatable
  --workload <name> by-id, paged, export, create or update; repeatable (all)
  --target <name>   repeatable (all)
  --out <folder>    where results.json and results.md go (.data/bench)
  --profile         also CPU profiles of the server processes there`

/** Throws with the usage for an option that is none. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      products: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', multiple: true, default: [] },
      workload: { type: 'string', multiple: true, default: [] },
      target: { type: 'string', multiple: true, default: [] },
      out: { type: 'string', default: '.data/bench' },
      profile: { type: 'boolean', default: false }
    }
  })
  return {
    products: positive('products', values.products),
    seconds: duration(values.seconds),
    rounds: positive('rounds', values.rounds),
    connections: values.connections.map((one) => positive('connections', one)),
    workloads: values.workload,
    targets: values.target,
    out: values.out,
    profile: values.profile
  }
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, not ${text}.`)
  return Number(text)
}

function duration(text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text)
  throw new Error(`--seconds must be a number above 0, not ${text}.`)
}
