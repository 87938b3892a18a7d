import type { Changes, TableChange } from './changes.js'
import type { Found } from './introspect.js'
import { referenceText } from './references.js'
import { rowsByTable as groupedBy } from '../model/live-schema.js'
import { shellWord } from '../model/shell-word.js'

/** What an introspection tells a person, in Markdown that reads as plain text too. */
export function reportOf({ entities, leftOut, versions, unseen, proposed }: Found, changes: Changes): string {
  const parts = [
    '# What `uniform-rest introspect` found\n',
    'Written anew by each run, for as long as nobody changes it.\n',
    `${count(entities.length, 'entity file')} for ${count(entities.length + leftOut.length, 'table')} and views.\n`
  ]
  const pending = pendingLines(changes, Infinity)
  if (pending.length > 0) parts.push('## To change by hand\n', '```text', ...pending, '```\n')
  if (unseen.length > 0) {
    parts.push('## What this account does not see\n', ...unseen.map((one) => `- ${one}`), '')
  }
  if (leftOut.length > 0) {
    const lines = alike(leftOut.map(({ table, why }) => [`**${table}**`, `${why}.`]))
    parts.push('## Left out\n', ...lines.map((one) => `- ${one}`), '')
  }
  const notes = entities.flatMap(({ table, resource, notes: told }) => told.map((note) => ({ table, resource, note })))
  const isShared = ({ note }: { readonly note: string }): boolean => notes.filter((one) => one.note === note).length > 1
  const shared = notes.filter(isShared)
  if (shared.length > 0) {
    const lines = alike(shared.map(({ table, note }) => [`**${table}**`, note]))
    parts.push('## To know of several tables\n', ...lines.map((one) => `- ${one}`), '')
  }
  const single = groupedBy(
    notes.filter((one) => !isShared(one)),
    ({ table, resource }) => `- **${table}** (\`/${resource}\`)`
  )
  if (single.size > 0) {
    parts.push('## To know of single tables\n')
    for (const [heading, told] of single) parts.push(heading, ...told.map(({ note }) => `  - ${note}`))
    parts.push('')
  }
  if (proposed.references.length > 0) {
    parts.push(
      '## References that no foreign key declares\n',
      'By names and types, and no row that was counted refers to nothing. This takes them, without those that you leave out;',
      '`--reference proposed` takes all. In files that are there already they are lines to add.\n',
      '```sh',
      [
        'npx uniform-rest introspect',
        ...proposed.references.map((one) => `--reference ${shellWord(referenceText(one))}`)
      ].join(' \\\n  '),
      '```\n'
    )
    if (proposed.more > 0)
      parts.push(`${proposed.more} more columns were not counted. \`--except <table>.<column>\` leaves some out.\n`)
  }
  if (versions.size > 0) {
    parts.push(
      '## Tables that can only be read\n',
      'A request may change a row only where the row has a version: eight bytes that every write advances, the writes of',
      'other programs too (docs/other-writers.md). These statements would add it, and the triggers by which other programs',
      'keep it. Run those of the tables that you want to write. `uniform-rest introspect` then prints the lines to change in',
      'their entity files.\n'
    )
    for (const [table, statements] of versions) {
      parts.push(`${table}:\n`, '```sql', ...statements.map((one) => `${one};`), '```\n')
    }
  }
  return `${parts.join('\n').trimEnd()}\n`
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** So many names stand before `and 143 more` on a screen. */
const NAMES_SHOWN = 5

/** A line for each text, with the names of all that it is said of. */
function alike(
  said: readonly (readonly [name: string, text: string])[],
  most = Infinity,
  joint: (count: number) => string = () => ': '
): string[] {
  return Array.from(
    groupedBy(said, ([, text]) => text),
    ([text, all]) => {
      const names = all.map(([name]) => name)
      return some(names, most) + joint(all.length) + text
    }
  )
}

export function some(names: readonly string[], most = NAMES_SHOWN): string {
  const more = names.length - most
  return more <= 1 ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${more} more`
}

/** So many lines of a kind go to a screen. */
const LINES_SHOWN = 100

/** As many as a screen takes. */
export function bounded(lines: readonly string[], report: string): string[] {
  const more = lines.length - LINES_SHOWN
  return more <= 1 ? [...lines] : [...lines.slice(0, LINES_SHOWN), `and ${more} more lines: ${report}`]
}

/** What has to be done in entity files, what requests fail for first. */
export function pendingLines({ removed, renamed, changed }: Changes, most = NAMES_SHOWN): string[] {
  const isLost = ({ isLost: one }: TableChange): boolean => one
  return [
    ...removed.map(
      ({ table, resource, why }) =>
        `${resource}: its table ${table} cannot be served any more: ${why}. Take its file out.`
    ),
    ...renamed.map(
      ({ table, resource, to }) =>
        `${resource}: its table ${table} is gone, and ${some(to, most)} has the same columns. If it is the same table: ` +
        `--renamed ${shellWord(`${table}=${to[0] ?? ''}`)}. If not: --except ${shellWord(table)}`
    ),
    ...changeLines(changed.filter(isLost), most),
    ...changeLines(
      changed.filter((one) => !isLost(one)),
      most
    )
  ]
}

/** Many tables may have got the same column. */
function changeLines(changed: readonly TableChange[], most: number): string[] {
  return [...groupedBy(changed, ({ lines }) => lines.join('\n')).values()].flatMap((all) => {
    const [{ table, resource, lines } = { table: '', resource: '', lines: [] }] = all
    const names = some(
      all.map((one) => one.resource),
      most
    )
    const heading =
      all.length === 1
        ? `${resource}, of the table ${table}, has to be changed by hand:`
        : `${names} have to be changed by hand:`
    return [heading, ...lines.map((line) => `  ${line}`)]
  })
}

/** What is new and asks for no change of a file. */
export function newsLines({ transactional, leftOut, added }: Changes, report: string): string[] {
  const kept =
    'a storage engine with transactions keeps it now. Requests may change its rows once these have a version: ' +
    `${report} has the statements`
  return [
    ...alike(
      transactional.map((table) => [table, kept]),
      NAMES_SHOWN
    ),
    ...alike(
      leftOut.map(({ table, why }) => [table, `${why}.`]),
      NAMES_SHOWN,
      (count) => (count === 1 ? ' is left out: ' : ' are left out: ')
    ),
    ...alike(
      added.flatMap(({ table, notes }) => notes.map((note): [string, string] => [table, note])),
      NAMES_SHOWN
    )
  ]
}
