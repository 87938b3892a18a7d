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
  /** The rows of the table at which the reads are measured as it grows, ascending; empty for not at all. */
  readonly growth: readonly number[]
  /** How long the targets stand idle before their memory is read again. */
  readonly idleSeconds: number
  /** Folder for results. */
  readonly out: string
  /** Whether the results are written to docs/ too. */
  readonly publish: boolean
  /** Whether to write CPU profiles of every server process there. */
  readonly profile: boolean
}

export const USAGE = `npm run bench -- [options]
  --products <n>      rows of the table (100000)
  --seconds <n>       length of a round (5)
  --rounds <n>        rounds a target (3)
  --connections <n>   instead of the workload's own numbers; repeatable
  --all-connections   1, 32, 128 and 512 for every workload
  --workload <name>   repeatable (all)
  --target <name>     repeatable (all)
  --growth            also what reads cost with 10,000, 100,000 and 1,000,000 rows
  --idle <seconds>    how long the targets stand idle before their memory is read again (30)
  --quick             everything at its smallest, without peers to install: shows that it works
  --publish           the run of docs/performance.md, with growth, in about 20 minutes; writes it with its JSON and SVG
  --out <folder>      where results.json, results.md and results.svg go (.data/bench)
  --profile           also CPU profiles of the server processes there`

/** What --quick and --publish stand for, where nothing else is said. */
const QUICK = { products: '400', seconds: '0.1', rounds: '1', idle: '0' }
const PUBLISH = { products: '100000', seconds: '1.5', rounds: '3', idle: '30' }
const DEFAULT = { products: '100000', seconds: '5', rounds: '3', idle: '30' }

const ALL_CONNECTIONS = [1, 32, 128, 512]
const QUICK_CONNECTIONS = [2]
const GROWTH = [10_000, 100_000, 1_000_000]
const QUICK_GROWTH = [400, 1200]

/** Needs to be installed, so a quick run is without it. */
const PEER = 'platformatic-db'

/** Throws with the usage for an option that is none. */
export function readOptions(args: readonly string[], targets: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      products: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      idle: { type: 'string' },
      connections: { type: 'string', multiple: true, default: [] },
      'all-connections': { type: 'boolean', default: false },
      workload: { type: 'string', multiple: true, default: [] },
      target: { type: 'string', multiple: true, default: [] },
      growth: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      out: { type: 'string', default: '.data/bench' },
      profile: { type: 'boolean', default: false }
    }
  })
  const { quick, publish } = values
  const sizes = quick ? QUICK : publish ? PUBLISH : DEFAULT
  const connections = values.connections.map((one) => positive('connections', one))
  const chosen = values['all-connections'] ? ALL_CONNECTIONS : quick ? QUICK_CONNECTIONS : []
  const products = positive('products', values.products ?? sizes.products)
  const sizesOfGrowth = quick ? QUICK_GROWTH : GROWTH
  if ((values.growth || publish || quick) && !sizesOfGrowth.includes(products)) {
    throw new Error(`As the table grows it has ${sizesOfGrowth.join(', ')} rows: --products must be one of them.`)
  }
  return {
    products,
    seconds: duration('seconds', values.seconds ?? sizes.seconds),
    rounds: positive('rounds', values.rounds ?? sizes.rounds),
    idleSeconds: duration('idle', values.idle ?? sizes.idle),
    connections: connections.length > 0 ? connections : chosen,
    workloads: values.workload,
    targets: values.target.length > 0 || !quick ? values.target : targets.filter((name) => name !== PEER),
    growth: values.growth || publish || quick ? sizesOfGrowth : [],
    out: values.out,
    publish,
    profile: values.profile
  }
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, not ${text}.`)
  return Number(text)
}

function duration(name: string, text: string): number {
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a number of seconds, not ${text}.`)
}
