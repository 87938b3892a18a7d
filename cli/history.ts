import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { purgeHistory } from './application/databases.js'
import { dateTime } from '../data-service/entity/fields/words.js'
import { parseValue } from '../data-service/entity/types/types.js'
import { loadApplication } from './application/application.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'

const USAGE = `Usage: uniform-rest history purge --before <date>   takes away what entries before 2026-01-31, or before
                                                    2026-01-31T08:00:00Z, say of values; the entries stay
         --archive <file>                           first appends each to the file, a JSON object a line`

/** `uniform-rest history` takes old values out of the history of rows (docs/history.md). */
export async function history(line: CommandLine): Promise<number> {
  const { positionals, values } = withUsage(USAGE, () =>
    parseArgs({
      args: [...line.args],
      allowPositionals: true,
      options: { before: { type: 'string' }, archive: { type: 'string' } }
    })
  )
  const { before = '', archive } = values
  if (positionals.join() !== 'purge') throw new Failure(USAGE)
  const moment = parseValue(before, dateTime())
  if (typeof moment !== 'string') throw new Failure(`--before takes a date such as 2026-01-31.\n${USAGE}`)
  const { application, environment } = await loadApplication(line)
  // Values of rows, which the umask would let others read.
  const file = archive === undefined ? undefined : await open(resolve(line.directory, archive), 'a', 0o600)
  let count = 0
  try {
    await purgeHistory(application, environment, {
      before: moment,
      purging: async (entries) => {
        if (file === undefined || entries.length === 0) return
        await file.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
        await file.sync()
      },
      purged: (some) => {
        count += some
        line.stderr.write(`${count} entries\n`)
      }
    })
  } finally {
    await file?.close()
  }
  line.stdout.write(`Purged: ${count}.\n`)
  return 0
}
