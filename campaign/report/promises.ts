import { checkers } from '../checkers/all.js'
import type { Checker } from '../checkers/checker.js'
import { counted, grouped, lasting, listed, sum, table } from './markdown.js'
import { injected, type Tried } from './verdict.js'

type Judged = Tried['outcome']['verdicts'][number]

/** A promise, and what became of it on each topology that was tried. */
interface Row {
  /** undefined for a promise that no checker of today knows. */
  readonly checker: Checker | undefined
  readonly promise: string
  readonly of: string
  /** In the order of the topologies; undefined where it was not judged. */
  readonly verdicts: readonly (Judged | undefined)[]
}

/** The answer in short: how much was tried, and what was lost. */
export function answerOf(tried: readonly Tried[]): string {
  if (tried.length === 0) return '**Nothing was tried.**'
  const rows = rowsOf(tried)
  const seconds = lasting(sum(tried.map(({ options }) => options.seconds)))
  const requests = counted(sum(tried.map(({ outcome }) => outcome.exchanges)), 'request')
  const faults = counted(sum(tried.map((one) => injected(one))), 'fault')
  const ofWrites = rows.filter(({ checker }) => checker?.isOfWrites === true)
  const looks = grouped(sum(ofWrites.map(triesOf)))
  const broken = sum(ofWrites.map(brokenOf))
  const notKept = [...rows.flatMap((row) => notKeptOf(row, tried)), ...tried.flatMap(findingsOf)]
  return [
    `**On ${counted(tried.length, 'topology', 'topologies')}, in ${seconds} together, clients sent ${requests} while ${faults} were injected.`,
    `${listed(ofWrites.map(({ checker }) => `“${checker?.title ?? ''}”`))} were put to the test ${looks} times:`,
    broken === 0 ? 'lost 0, doubled 0.**' : `${grouped(broken)} lost or doubled.**`,
    notKept.length === 0
      ? `All of the ${rows.length} promises below were tried on each topology, and none was broken; every gateway recovered, and no process ended by itself.`
      : `**Not kept:** ${listed(notKept)}.`
  ].join(' ')
}

/** A row for each promise: how it is tried, how often, and how often it was broken. */
export function promisesTable(tried: readonly Tried[]): string[] {
  const rows = rowsOf(tried)
  return table(
    ['promise', 'how it is tried', 'what is counted', 'in all', 'broken', ...tried.map(({ topology }) => topology)],
    rows.map((row) => [
      row.checker === undefined
        ? row.promise
        : `**${row.checker.title}.** ${row.promise} [Contract, ${row.checker.contract}](spec/contract.md#${anchorOf(row.checker.contract)})`,
      row.checker?.how ?? '',
      row.of,
      grouped(triesOf(row)),
      brokenOf(row) === 0 ? '0' : `**${grouped(brokenOf(row))}**`,
      ...row.verdicts.map(cellOf)
    ])
  )
}

/** Promises as their checkers word them today; a verdict of before knows its promise by its words alone. */
function rowsOf(tried: readonly Tried[]): Row[] {
  const known = checkers()
  const keyOf = ({ title, promise }: Pick<Judged, 'promise'> & Partial<Pick<Judged, 'title'>>): string =>
    title ?? known.find((one) => one.promise === promise)?.title ?? promise
  const keys = new Set(tried.flatMap(({ outcome }) => outcome.verdicts.map(keyOf)))
  return [...keys].map((key) => {
    const verdicts = tried.map(({ outcome }) => outcome.verdicts.find((one) => keyOf(one) === key))
    const first = verdicts.find((one) => one !== undefined)
    const checker = known.find(({ title }) => title === key)
    return { checker, promise: checker?.promise ?? first?.promise ?? key, of: first?.of ?? '', verdicts }
  })
}

function triesOf({ verdicts }: Row): number {
  return sum(verdicts.map((one) => one?.tried ?? 0))
}

function brokenOf({ verdicts }: Row): number {
  return sum(verdicts.map((one) => one?.violations.length ?? 0))
}

function cellOf(verdict: Judged | undefined): string {
  if (verdict === undefined) return 'not judged'
  const { tried, violations } = verdict
  return `${grouped(tried)}${violations.length === 0 ? '' : `, **${grouped(violations.length)} broken**`}`
}

/** Where a promise was broken, and where nothing could have broken it. */
function notKeptOf({ checker, promise, verdicts }: Row, tried: readonly Tried[]): string[] {
  const name = `“${checker?.title ?? promise}”`
  return tried.flatMap(({ topology }, n) => {
    const verdict = verdicts[n]
    if (verdict === undefined || verdict.tried === 0) return [`${name} was not tried on ${topology}`]
    const { length } = verdict.violations
    return length === 0 ? [] : [`${name} was broken ${counted(length, 'time')} on [${topology}](#${topology})`]
  })
}

function findingsOf({ topology, outcome }: Tried): string[] {
  const { length } = outcome.findings
  return length === 0 ? [] : [`${counted(length, 'finding')} on [${topology}](#${topology})`]
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}
