import type { Report, Tried } from './verdict.js'

/** The verdicts for people, in Markdown that reads in a terminal too. Headings are one level below the title of a page. */
export function markdownOf(reports: readonly Report[]): string {
  const tried = reports.flatMap((one) => ('notTried' in one ? [] : [one]))
  return [
    '## Topologies',
    ...table(
      ['topology', 'database', 'began (UTC)', 'seconds', 'seed', 'requests', 'without an answer', 'faults', 'all kept'],
      reports.map((one) =>
        'notTried' in one
          ? [one.topology, `not tried: ${one.notTried}`, '', '', '', '', '', '', '']
          : [
              one.topology,
              one.database,
              one.began.slice(0, 16).replace('T', ' '),
              String(one.options.seconds),
              String(one.options.seed),
              String(one.outcome.exchanges),
              String(one.outcome.lost),
              String(sum(Object.values(one.outcome.injuries).map(({ times }) => times))),
              one.isKept ? 'yes' : '**no**'
            ]
      )
    ),
    '',
    '## Promises',
    'How often each was tried, and how often it was broken.',
    '',
    ...promises(tried),
    '',
    '## Faults',
    'How often each kind was injected; after the slash, how many connections, statements or answers it hit. A dash: not on this topology.',
    '',
    ...faults(tried),
    '',
    ...tried.flatMap(details)
  ].join('\n')
}

function promises(tried: readonly Tried[]): string[] {
  const all = [...new Set(tried.flatMap(({ outcome }) => outcome.verdicts.map(({ promise }) => promise)))]
  return table(
    ['promise', 'counted', ...tried.map(({ topology }) => topology)],
    all.map((promise) => {
      const of = tried.map(({ outcome }) => outcome.verdicts.find((one) => one.promise === promise))
      const cells = of.map((one) =>
        one === undefined
          ? '–'
          : `${one.tried}${one.violations.length === 0 ? ', none broken' : `, **${one.violations.length} broken**`}`
      )
      return [promise, of.find((one) => one !== undefined)?.of ?? '', ...cells]
    })
  )
}

function faults(tried: readonly Tried[]): string[] {
  const kinds = [...new Set(tried.flatMap((one) => one.kinds))]
  return table(
    ['fault', ...tried.map(({ topology }) => topology)],
    kinds.map((kind) => [
      kind,
      ...tried.map((one) => {
        if (!one.kinds.includes(kind)) return '–'
        const { times, hits } = countOf(one, kind)
        return `${times}/${hits}`
      })
    ])
  )
}

/** How often a kind of fault was injected, whoever it happened to, and how often it hit something. */
export function countOf({ outcome }: Tried, kind: string): { readonly times: number; readonly hits: number } {
  const of = Object.entries(outcome.injuries).filter(
    ([name]) => name === kind || name.startsWith(`${kind}, `) || /^ of [a-z-]+-\d+$/.test(afterOf(name, kind))
  )
  return { times: sum(of.map(([, { times }]) => times)), hits: sum(of.map(([, { hits }]) => hits)) }
}

/** What stands in a name after a text that it begins with; else nothing. */
function afterOf(name: string, beginning: string): string {
  return name.startsWith(beginning) ? name.slice(beginning.length) : ''
}

/** What a reader wants to know of one topology: everything that went wrong, and what it took to recover. */
function details({ topology, versions, outcome, leftOut, options }: Tried): string[] {
  const { recovery, memory, findings, verdicts, unforeseen } = outcome
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
  const broken = verdicts.flatMap(({ violations }) => violations.slice(0, 10))
  return [
    `### ${topology}`,
    `${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}; ${options.gateways} gateways; a pace of ${options.pace} ms.`,
    '',
    ...(broken.length === 0
      ? []
      : ['Broken:', ...broken.map(({ what, exchanges }) => `- ${what} (${exchanges.join()})`), '']),
    ...(findings.length === 0 ? [] : ['Findings:', ...findings.map((one) => `- ${one}`), '']),
    ...table(
      ['after everything was mended', 'ready, ms', 'read, ms', 'write, ms', 'form across gateways, ms'],
      recovery.map(({ gateway, ready, read, write, form }) => [
        `gateway-${gateway}`,
        ...[ready, read, write, form].map((one) => (one === undefined ? '**never**' : String(one)))
      ])
    ),
    '',
    ...table(
      ['memory', 'at the end, MiB', 'at most, MiB'],
      Object.entries(memory).map(([name, { resident, mostResident }]) => [name, mib(resident), mib(mostResident)])
    ),
    '',
    ...(Object.keys(unforeseen).length === 0
      ? []
      : [
          'Logged as unforeseen while something was broken:',
          ...Object.entries(unforeseen).map(([what, { count }]) => `- ${count} × \`${what.replaceAll('`', "'")}\``),
          ''
        ]),
    ...leftOut.map((one) => `- Left out: ${one}`),
    ''
  ]
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
