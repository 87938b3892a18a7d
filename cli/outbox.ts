import { parseArgs } from 'node:util'
import { type OutboxCommands, withOutbox } from './application/databases.js'
import { loadApplication } from './application/application.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'

const USAGE = `Usage: uniform-rest outbox list                  prints what was set aside, a line each
       uniform-rest outbox retry <id>… | --all   makes it wait again, of those ids or all
       uniform-rest outbox drop <id>… | --all    deletes it, of those ids or all
       --type <type>: with list and --all: what has this type alone, such as order-placed@webhook`

/** Events of one `list`, and of one step of `--all`. */
const AT_ONCE = 1000

/** `uniform-rest outbox` shows events whose deliveries all failed, and has them delivered again or deleted (docs/operations.md). */
export async function outbox(line: CommandLine): Promise<number> {
  const options = { all: { type: 'boolean' }, type: { type: 'string' } } as const
  const { values, positionals } = withUsage(USAGE, () =>
    parseArgs({ args: [...line.args], options, allowPositionals: true })
  )
  const { all = false, type } = values
  const [verb, ...ids] = positionals
  const isList = verb === 'list' && ids.length === 0 && !all
  const isChange = (verb === 'retry' || verb === 'drop') && all === (ids.length === 0)
  if ((!isList && !isChange) || (ids.length > 0 && type !== undefined)) throw new Failure(USAGE)
  const { application, environment } = await loadApplication(line)
  await withOutbox(application, environment, async (commands) => {
    if (isList) return list(await commands.dead(AT_ONCE, { type }), line)
    const [change, done] = verb === 'retry' ? [commands.retry, 'Waiting again'] : [commands.drop, 'Deleted']
    const counted = all
      ? await changeAll(() => commands.dead(AT_ONCE, { type }), change)
      : await changeEach(commands, ids, change)
    line.stdout.write(`${done}: ${counted}.\n`)
  })
  return 0
}

type SetAside = Awaited<ReturnType<OutboxCommands['dead']>>
type Change = OutboxCommands['drop']

function list(found: SetAside, { stdout }: CommandLine): void {
  const lines = found.map(({ id, type, resource, rowId, setAsideAt, attempts, error }) =>
    [id, type, `${resource}/${rowId}`, setAsideAt, `${attempts} attempts`, JSON.stringify(error)].join('  ')
  )
  stdout.write(lines.length === 0 ? 'No event was set aside.\n' : `${lines.join('\n')}\n`)
  if (found.length === AT_ONCE) stdout.write(`These are the oldest ${AT_ONCE}; there may be more.\n`)
}

async function changeAll(next: () => Promise<SetAside>, change: Change): Promise<number> {
  for (let count = 0; ;) {
    const before = count
    const found = await next()
    for (const event of found) if (await change(event)) count += 1
    // What another command changes meanwhile is not ours.
    if (found.length < AT_ONCE || count === before) return count
  }
}

async function changeEach({ dead }: OutboxCommands, ids: readonly string[], change: Change): Promise<number> {
  let count = 0
  const missing: string[] = []
  for (const id of ids) {
    const [event] = await dead(1, { id })
    if (event !== undefined && (await change(event))) count += 1
    else missing.push(id)
  }
  if (missing.length > 0) {
    const others = count === 0 ? '' : ` ${count} of the others were changed.`
    throw new Failure(`No event that was set aside has the id ${missing.join(', ')}.${others}`)
  }
  return count
}
