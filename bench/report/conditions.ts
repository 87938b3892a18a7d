import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Options } from '../options.js'

/** What a reader must know to judge the numbers, a line each. */
export function conditionsOf(options: Options, database: { server: string; connections: number }): string[] {
  const processors = cpus()
  return [
    `${processors.length} cores (${processors[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
      'shared by the servers, the database and the load generator',
    `Node ${process.versions.node}, ${database.server}, ${database.connections} database connections a target`,
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
