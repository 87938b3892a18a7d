import { parseArgs } from 'node:util'

/** What systems are tried, each with a database of its own. */
export const TOPOLOGIES = ['sqlite', 'mariadb'] as const
export type Topology = (typeof TOPOLOGIES)[number]

export interface Options {
  readonly topologies: readonly Topology[]
  /** How long each topology is tried. */
  readonly seconds: number
  /** A whole number of 32 bits. */
  readonly seed: number
  readonly gateways: number
  readonly services: number
  /** Folder for the histories and the verdict. */
  readonly out: string
  /** Only faults whose names include one of these texts; empty for all. */
  readonly faults: readonly string[]
}

export const USAGE = `npm run campaign -- [options]
  --topology <name>   ${TOPOLOGIES.join(', ')}; repeatable (all)
  --seconds <n>       how long each is tried (60)
  --seed <n>          chooses requests, faults and moments (random, and printed)
  --gateways <n>      (2)
  --services <n>      data services (2)
  --fault <text>      only faults whose names include it; repeatable (all). "none": nothing breaks
  --out <folder>      where history.jsonl and verdict.json of each topology go (.data/campaign)`

/** Throws with the usage for an option that is none, or whose value is none. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      topology: { type: 'string', multiple: true, default: [...TOPOLOGIES] },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      gateways: { type: 'string', default: '2' },
      services: { type: 'string', default: '2' },
      fault: { type: 'string', multiple: true, default: [] },
      out: { type: 'string', default: '.data/campaign' }
    }
  })
  return {
    topologies: values.topology.map(topologyOf),
    seconds: numberOf('seconds', values.seconds),
    seed: numberOf('seed', values.seed),
    gateways: numberOf('gateways', values.gateways),
    services: numberOf('services', values.services),
    faults: values.fault,
    out: values.out
  }
}

function topologyOf(name: string): Topology {
  const known = TOPOLOGIES.find((one) => one === name)
  if (known === undefined) throw new Error(`--topology ${name} is none of ${TOPOLOGIES.join(', ')}.\n\n${USAGE}`)
  return known
}

function numberOf(name: string, value: string): number {
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(value)) throw new Error(`--${name} must be a number, not ${value}.\n\n${USAGE}`)
  return Number(value)
}
