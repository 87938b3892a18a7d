import type { Changes } from './changes.js'
import type { Found } from './introspect.js'

/** What an introspection tells a person, in Markdown that reads as plain text too. */
export function reportOf({ entities, leftOut, versions, unseen }: Found): string {
  const parts = [
    '# What `uniform-rest introspect` found\n',
    'Written anew by each run, for as long as nobody changes it.\n',
    `${count(entities.length, 'entity file')} for ${count(entities.length + leftOut.length, 'table')} and views.\n`
  ]
  if (unseen.length > 0) {
    parts.push('## What this account does not see\n', ...unseen.map((one) => `- ${one}`), '')
  }
  if (leftOut.length > 0) {
    parts.push('## Left out\n', ...leftOut.map(({ table, why }) => `- **${table}**: ${why}.`), '')
  }
  const noted = entities.filter(({ notes }) => notes.length > 0)
  if (noted.length > 0) {
    parts.push('## To know of single tables\n')
    for (const { table, resource, notes } of noted) {
      parts.push(`- **${table}** (\`/${resource}\`)`, ...notes.map((note) => `  - ${note}`))
    }
    parts.push('')
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

/** What has changed since the last run, a line each. */
export function changeLines({ removed, changed, leftOut }: Changes): string[] {
  return [
    ...changed.flatMap(({ table, resource, lines }) => [
      `${resource}, of the table ${table}, has to be changed by hand:`,
      ...lines.map((line) => `  ${line}`)
    ]),
    ...removed.map(
      ({ table, resource, why }) =>
        `${resource}: its table ${table} cannot be served any more: ${why}. Take its file out.`
    ),
    ...leftOut.map(({ table, why }) => `${table} is left out: ${why}.`)
  ]
}
