import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure } from '../test/runner/programs.js'
import { TOPOLOGIES, type Topology } from './topologies.js'

/** What a run depends on, besides the machine. It stands in its verdict, so that the run can be made again. */
export interface RunOptions {
  /** How long clients work and things break. */
  readonly seconds: number
  /** A whole number of 32 bits. */
  readonly seed: number
  /** The longest pause between two faults, in milliseconds. A fault lasts twice as long at most. */
  readonly pace: number
  /** How often a second thing breaks at the same time, from 0 to 1. */
  readonly pairs: number
  readonly gateways: number
  /** Data services; undefined: as many as the topology says. */
  readonly services: number | undefined
  /** Whether it goes on until each kind of fault had its turn. */
  readonly eachFault: boolean
  /** Only faults whose names include one of these texts; empty for all. */
  readonly faults: readonly string[]
  /** The name of a planted fault (plants/plants.ts) that the system has. */
  readonly plant?: string
}

export interface Options extends RunOptions {
  readonly topologies: readonly Topology[]
  /** Folder for the histories and the verdicts. */
  readonly out: string
  /** A folder whose history is judged again; nothing runs. */
  readonly check: string | undefined
  /** Whether the page is written from verdicts that are there; nothing runs. */
  readonly publish: boolean
}

const NAMES = TOPOLOGIES.map(({ name }) => name)

export const USAGE = `npm run campaign -- [options]
  --topology <name>   ${NAMES.join(', ')}; repeatable (all)
  --seconds <n>       how long each is tried (60)
  --seed <n>          chooses requests, faults and moments (random, and printed)
  --pace <ms>         longest pause between two faults; a fault lasts twice as long at most (2000)
  --pairs <0 to 1>    how often a second thing breaks at the same time (0.4)
  --gateways <n>      gateways (2)
  --services <n>      data services (2; on galera one for each node)
  --each-fault        goes on, past its time, until each kind of fault had its turn
  --fault <text>      only faults whose names include it; repeatable (all). "none": nothing breaks
  --plant <name>      a system with a planted fault (campaign/plants/plants.ts), which a checker has to find
  --plants            tries every planted fault, one after another, or with --plant that one, and nothing else
  --replay <folder>   a run with the topology, the seed and the options of the run in this folder, which is that of one
                      topology, such as .data/campaign/sqlite; it is written to --out as every other
  --check <folder>    judges the history in the folder of one topology again; nothing runs
  --publish           writes docs/reliability.md from the newest verdict of each topology, three folders below --out at
                      most; nothing runs
  --out <folder>      where history.jsonl, rows.json and verdict.json of each topology go (.data/campaign)`

const MOST = 999_999_999
const MOST_PROCESSES = 16

/** What --publish and --plants go with. */
const PUBLISHING = ['publish', 'out']
const PLANTING = ['plants', 'plant', 'seed']

/** Throws a Failure with the usage for an option that is none, or whose value is none. */
export function readOptions(args: readonly string[]): Options {
  try {
    return chosen(args)
  } catch (error) {
    // What parseArgs throws.
    if (error instanceof TypeError) throw new Failure(`${error.message}\n\n${USAGE}`)
    throw error
  }
}

function chosen(args: readonly string[]): Options {
  const { values, tokens } = parseArgs({
    args: [...args],
    tokens: true,
    options: {
      topology: { type: 'string', multiple: true, default: NAMES },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 999_999_999)) },
      pace: { type: 'string', default: '2000' },
      pairs: { type: 'string', default: '0.4' },
      gateways: { type: 'string', default: '2' },
      services: { type: 'string' },
      'each-fault': { type: 'boolean', default: false },
      fault: { type: 'string', multiple: true, default: [] },
      plant: { type: 'string' },
      plants: { type: 'boolean', default: false },
      replay: { type: 'string' },
      check: { type: 'string' },
      publish: { type: 'boolean', default: false },
      out: { type: 'string', default: '.data/campaign' }
    }
  })
  const { out, check, publish, plant, replay } = values
  const besides = (names: readonly string[]): string =>
    tokens.flatMap((one) => (one.kind === 'option' && !names.includes(one.name) ? [one.rawName] : [])).join()
  if (publish && besides(PUBLISHING) !== '')
    throw new Failure(`--publish runs nothing and takes no ${besides(PUBLISHING)}.\n\n${USAGE}`)
  if (values.plants && besides(PLANTING) !== '')
    throw new Failure(`--plants takes --plant and --seed alone, and no ${besides(PLANTING)}.\n\n${USAGE}`)
  if (replay !== undefined) {
    const { topology, options } = earlier(replay)
    return { ...options, topologies: [topologyOf(topology)], out, check, publish }
  }
  return {
    topologies: values.topology.map(topologyOf),
    seconds: numberOf('seconds', values.seconds),
    seed: numberOf('seed', values.seed),
    pace: numberOf('pace', values.pace),
    pairs: numberOf('pairs', values.pairs, [0, 1]),
    gateways: numberOf('gateways', values.gateways, [1, MOST_PROCESSES]),
    services: values.services === undefined ? undefined : numberOf('services', values.services, [1, MOST_PROCESSES]),
    eachFault: values['each-fault'],
    faults: values.fault,
    ...(plant === undefined ? {} : { plant }),
    out,
    check,
    publish
  }
}

/** What a verdict says of the run itself. Verdicts are written by this program. */
function earlier(folder: string): { readonly topology: string; readonly options: RunOptions } {
  const file = join(folder, 'verdict.json')
  const { topology, options } = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly topology: string; readonly options?: RunOptions })
    : {}
  if (topology === undefined || options === undefined)
    throw new Failure(`--replay ${folder} has no verdict.json of a run.${otherFolders(folder)}`)
  return { topology, options }
}

/** Names the folders of topologies in a folder, which somebody may have meant; empty if there is none. */
export function otherFolders(folder: string): string {
  const found = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'verdict.json')))
    : []
  return found.length === 0
    ? ''
    : ` Name the folder of a topology: ${found.map((name) => join(folder, name)).join(', ')}.`
}

function topologyOf(name: string): Topology {
  const known = TOPOLOGIES.find((one) => one.name === name)
  if (known === undefined) throw new Failure(`--topology ${name} is none of ${NAMES.join(', ')}.\n\n${USAGE}`)
  return known
}

function numberOf(name: string, value: string, [least, most]: readonly [number, number] = [0, MOST]): number {
  const number = /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Number(value) : NaN
  if (number >= least && number <= most) return number
  throw new Failure(`--${name} must be a number from ${least} to ${most}, not ${value}.\n\n${USAGE}`)
}
