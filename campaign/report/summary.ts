import { countOf } from './faults.js'
import { counted, grouped, lasting, percent, violationText } from './markdown.js'
import { injected, isTried, type Report, type Tried } from './verdict.js'

/** What a run prints in the end, for a terminal: the answer of each topology in some lines, and where the rest is. */
export function summaryOf(reports: readonly Report[], folderOf: (topology: string) => string): string {
  return reports
    .map((one) =>
      isTried(one)
        ? [...answerOf(one), `  history.jsonl, rows.json and verdict.json are in ${folderOf(one.topology)}.`].join('\n')
        : `${one.topology} was not tried: ${one.notTried}`
    )
    .join('\n\n')
}

/** Violations of a promise, at most. */
const SHOWN = 10

function answerOf(one: Tried): string[] {
  const { topology, database, outcome, kinds, options, leftOut } = one
  const { exchanges, lost, verdicts, findings, recovery } = outcome
  const had = kinds.filter((kind) => countOf(one, kind).times > 0).length
  const more = had < kinds.length && !options.eachFault ? ' (--each-fault goes on until each had its turn)' : ''
  return [
    `${topology}, ${database}: ${one.isKept ? 'everything was kept' : 'NOT everything was kept'}.`,
    `  ${counted(exchanges, 'request')} in ${lasting(options.seconds)} and the recovery; ${grouped(lost)} without an answer (${percent(lost, exchanges)}).`,
    `  ${counted(injected(one), 'fault')} injected; ${had} of ${counted(kinds.length, 'kind')} had a turn${more}.`,
    ...verdicts.flatMap(({ title, tried, of, violations, notes = [] }) => [
      `  ${violations.length === 0 && tried > 0 ? 'kept  ' : 'BROKEN'} ${title}: ${grouped(tried)} ${of}${violations.length === 0 ? '' : `, ${grouped(violations.length)} broken`}`,
      ...violations.slice(0, SHOWN).map((violation) => `         ${violationText(violation)}`),
      ...(violations.length > SHOWN
        ? [`         and ${grouped(violations.length - SHOWN)} more, in verdict.json`]
        : []),
      ...notes.map((note) => `         ${note}`)
    ]),
    ...findings.map((finding) => `  FOUND  ${finding.replaceAll('\n', '\n         ')}`),
    ...recovery.map(
      ({ gateway, ready, read, write, form }) =>
        `  gateway-${gateway} after the last mend: ready ${after(ready)}, read ${after(read)}, write ${after(write)}, form ${after(form)}`
    ),
    ...leftOut.map((what) => `  left out: ${what}`)
  ]
}

function after(milliseconds: number | undefined): string {
  return milliseconds === undefined ? 'NEVER' : `${grouped(milliseconds)} ms`
}
