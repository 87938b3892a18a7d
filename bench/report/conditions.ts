import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Options } from '../options.js'

/** Where a run was made, without names of hosts. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly database: string
}

export function machineOf(database: string): Machine {
  const processors = cpus()
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    database
  }
}

/** What else a reader must know to judge the numbers, a line each. */
export function conditionsOf(options: Options, connections: number): string[] {
  return [
    'the cores are shared by the servers, the database and the load generator',
    `${connections} database connections a target`,
    `commit ${commit()}`,
    `${options.products} products; ${options.rounds} rounds of ${options.seconds} s for each target, taking turns`
  ]
}

function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
