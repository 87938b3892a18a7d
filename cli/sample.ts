import { parseArgs } from 'node:util'
import { type CommandContext, withDatabases } from './application/databases.js'
import { loadSampleRows, sampleDatabase } from '../schema/sample-rows.js'
import { loadApplication } from './application/application.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'

const PROGRESS_STEPS = 10
const MAX_COUNT = 2 ** 31 - 1

interface SampleOrder {
  readonly resource: string
  readonly count: number
}

/** `uniform-rest sample --products 1000000` loads the sample where there is none, and adds rows. */
export async function sample(line: CommandLine): Promise<number> {
  const { application, environment } = await loadApplication(line)
  const { sample: rows } = application
  if (rows === undefined) throw new Failure('The application has no `sample` in its uniform-rest.config.ts.')
  const wanted = parseOrders(line.args, rows.moreOf ?? [])
  await withDatabases(application, { name: 'sample', environment }, async ({ entities, primary, second, log }) => {
    if (rows.rows && (await loadSampleRows({ primary, second }, entities, rows.rows)))
      log.info('Loaded the sample rows')
    for (const order of wanted) {
      await rows.addRows?.(sampleDatabase(primary, entities), order, progressOf(order, log))
    }
  })
  return 0
}

/** Logs about ten lines, however many rows there are. */
function progressOf({ resource, count }: SampleOrder, log: CommandContext['log']): (loaded: number) => void {
  let told = 0
  return (loaded) => {
    if (loaded - told < count / PROGRESS_STEPS && loaded < count) return
    told = loaded
    log.info({ resource, loaded, of: count }, 'Loading')
  }
}

/**
 * Parses flags such as `--authors 1000000 --books 500`. The result is in the order of `resources`. Throws a Failure that
 * says what is right.
 */
export function parseOrders(flags: readonly string[], resources: readonly string[]): SampleOrder[] {
  const options = Object.fromEntries(resources.map((resource) => [resource, { type: 'string' } as const]))
  const usage = `Usage: uniform-rest sample ${resources.map((resource) => `[--${resource} <count>]`).join(' ')}`
  const values = withUsage(usage, () => parseArgs({ args: [...flags], options }).values)
  return resources.flatMap((resource) => {
    const text = values[resource]
    if (text === undefined) return []
    const count = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (!(count >= 1 && count <= MAX_COUNT)) {
      throw new Failure(`--${resource} must be followed by a whole number from 1 to ${MAX_COUNT}\n${usage}`)
    }
    return [{ resource, count }]
  })
}
