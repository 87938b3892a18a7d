import { type OutboxCommands, withOutbox } from '../data-service/commands.js'
import { loadApplication } from './application/application.js'
import { type CommandLine, Failure } from './application/command.js'

const USAGE = `Usage: uniform-rest outbox list           prints what was set aside, one event a line
       uniform-rest outbox retry <id>…    makes an event that was set aside wait again
       uniform-rest outbox retry --all    all of them`

/** Events of one `list`, and of one step of `retry --all`. */
const AT_ONCE = 1000

/** `uniform-rest outbox` shows events whose deliveries all failed, and has them delivered again (docs/operations.md). */
export async function outbox(line: CommandLine): Promise<number> {
  const [verb, ...ids] = line.args
  const isList = verb === 'list' && ids.length === 0
  if (!isList && (verb !== 'retry' || ids.length === 0)) throw new Failure(USAGE)
  const { application, environment } = await loadApplication(line)
  await withOutbox(application, environment, (commands) =>
    isList ? listSetAside(commands, line) : retry(commands, ids, line)
  )
  return 0
}

async function listSetAside({ dead }: OutboxCommands, { stdout }: CommandLine): Promise<void> {
  const found = await dead(AT_ONCE)
  const lines = found.map(({ id, type, resource, rowId, setAsideAt, attempts, error }) =>
    [id, type, `${resource}/${rowId}`, setAsideAt, `${attempts} attempts`, JSON.stringify(error)].join('  ')
  )
  stdout.write(lines.length === 0 ? 'No event was set aside.\n' : `${lines.join('\n')}\n`)
}

async function retry(
  { dead, retry: again }: OutboxCommands,
  ids: readonly string[],
  { stdout }: CommandLine
): Promise<void> {
  const all = ids[0] === '--all'
  const wanted = new Set(ids)
  let count = 0
  for (;;) {
    const found = await dead(all ? AT_ONCE : Number.MAX_SAFE_INTEGER)
    for (const event of found) {
      if (!all && !wanted.delete(event.id)) continue
      if (await again(event)) count += 1
    }
    if (!all || found.length < AT_ONCE) break
  }
  stdout.write(`Waiting again: ${count}.\n`)
  if (!all && wanted.size > 0) throw new Failure(`No event that was set aside has the id ${[...wanted].join(', ')}.`)
}
