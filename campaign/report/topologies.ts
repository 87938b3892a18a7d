import { grouped, lasting, percent, table, violationText } from './markdown.js'
import { injected, isTried, type Report, type Tried } from './verdict.js'

/** A row for each topology that was tried, and a line for each other. */
export function topologiesTable(reports: readonly Report[]): string[] {
  return [
    ...table(
      [
        'topology',
        'database',
        'began (UTC)',
        'tried for',
        'requests',
        'without an answer',
        'faults',
        'seed',
        'version',
        'all kept'
      ],
      reports
        .filter(isTried)
        .map((one) => [
          one.topology,
          one.database,
          one.began.slice(0, 16).replace('T', ' '),
          lasting(one.options.seconds),
          grouped(one.outcome.exchanges),
          `${grouped(one.outcome.lost)} (${percent(one.outcome.lost, one.outcome.exchanges)})`,
          grouped(injected(one)),
          String(one.options.seed),
          versionOf(one),
          one.isKept ? 'yes' : `**[no](#${one.topology})**`
        ])
    ),
    '',
    ...reports.flatMap((one) => (isTried(one) ? [] : [`- ${one.topology} was not tried: ${one.notTried}`])),
    ''
  ]
}

/** What a reader wants to know of one topology: everything that went wrong, and what it took to recover. */
export function topologySection(one: Tried): string[] {
  const { topology, database, versions, outcome, leftOut, options } = one
  const { recovery, memory, findings, verdicts, unforeseen, overload = {}, quiet = {} } = outcome
  const broken = verdicts.flatMap(({ violations }) => violations.slice(0, 10))
  const { faults, gateways, services, pace } = options
  return [
    `### ${topology}`,
    `${database}; version ${versionOf(one)}; Node ${versions['node'] ?? 'of an unknown version'}; ${gateways} gateways${services === undefined ? '' : ` and ${services} data services`}; faults at most ${grouped(pace)} ms apart.` +
      (faults.length === 0 ? '' : ` Only these faults were asked for: ${faults.join(', ')}.`),
    '',
    ...bullets(
      'Broken, of each promise the first ten at most; ids of exchanges in brackets:',
      broken.map(violationText)
    ),
    ...bullets('Findings:', findings),
    ...bullets(
      'Noted:',
      verdicts.flatMap(({ notes = [] }) => notes)
    ),
    ...table(
      ['after everything was mended', 'ready, ms', 'read, ms', 'write, ms', 'form across gateways, ms'],
      recovery.map(({ gateway, ready, read, write, form }) => [
        `gateway-${gateway}`,
        ...[ready, read, write, form].map((took) => (took === undefined ? '**never**' : grouped(took)))
      ])
    ),
    '',
    ...table(
      ['process', 'memory at the end, MiB', 'at most, MiB', 'might log no error for, s'],
      Object.entries(memory).map(([name, { resident, mostResident }]) => [
        name,
        mib(resident),
        mib(mostResident),
        quiet[name] === undefined ? '–' : grouped(quiet[name])
      ])
    ),
    '',
    ...bullets('Logged as unforeseen while something was broken:', linesOf(unforeseen)),
    ...bullets('Logged as an error while nothing was broken and the machine was overloaded:', linesOf(overload)),
    ...bullets('Left out:', leftOut)
  ]
}

function linesOf(logged: Tried['outcome']['unforeseen']): string[] {
  return Object.entries(logged).map(([what, { count }]) => `${grouped(count)} × \`${what.replaceAll('`', "'")}\``)
}

/** `0.4.0, commit 0123456789`. */
function versionOf({ versions }: Tried): string {
  const { 'uniform-rest': version = 'unknown', commit } = versions
  return `${version}, ${commit === undefined ? 'commit not recorded' : `commit ${commit}`}`
}

function bullets(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [title, '', ...items.map((item) => `- ${item.replaceAll('\n', ' ')}`), '']
}

function mib(bytes: number): string {
  return grouped(Math.round(bytes / 2 ** 20))
}
