import type { Measurement } from '../measure-rounds.js'
import { type Figure, goalsOf, measured, ratio, REFERENCE, type Report, SERVICE } from './report.js'

/** What one asks first, in a table and a line each for goals and memory. It repeats figures that `details` has. */
export function shortAnswer(report: Report): string {
  const { measurements, footprint } = report
  const rows = SHORT.flatMap(({ workload, connections }) => {
    const of = measured(measurements, { target: SERVICE, workload, connections })
    const to = measured(measurements, { target: REFERENCE, workload, connections })
    if (of === undefined || to === undefined) return []
    const figures = [digits(of.requestsPerSecond), digits(of.p99Ms), digits(of.cpuMsPerRequest)]
    return [[workload, String(connections), ...figures, times(ratio(of, to, 'rate')), times(ratio(of, to, 'cpu'))]]
  })
  const goals = goalsOf(report).filter(({ reached }) => reached !== undefined)
  const idle = footprint.find(({ target }) => target === SERVICE)
  return [
    `\`${SERVICE}\` beside \`${REFERENCE}\`, a server that was written by hand for these endpoints alone. ` +
      'The last two columns are ratios to it, where more requests/s and less CPU are better:',
    '',
    ...table(
      ['workload', 'connections', 'requests/s', 'p99 ms', 'CPU ms/request', 'requests/s, ratio', 'CPU, ratio'],
      rows,
      [0]
    ),
    '',
    `${goals.filter(({ reached }) => reached === true).length} of ${goals.length} goals were reached.` +
      (idle === undefined
        ? ''
        : ` Idle, its ${idle.processes} processes take ${idle.idleMiB.toFixed(0)} MiB together.`),
    ''
  ].join('\n')
}

/** The page docs/performance.md. The notes that somebody wrote at the end of `before`, the page as it is, stay. */
export function publishedPage(report: Report, before: string): string {
  const notes = /^## Notes$[^]*/m.exec(before)?.[0] ?? '## Notes\n'
  return [
    '# Performance',
    shortAnswer(report),
    'What the workloads and the other servers are, how all of it is measured and what the numbers mean is in ' +
      '[benchmarks.md](benchmarks.md). Why a goal was not reached is in the [notes](#notes). This page is written by ' +
      '`npm run bench -- --publish`, all but these notes; the same figures are in [performance.json](performance.json).',
    '',
    '![Requests per second in units of the hand-written server](performance.svg)',
    '',
    details(report),
    notes
  ].join('\n')
}

/** The lines of the short answer: reads, writes, a mix of them, and an export. */
const SHORT = [
  { workload: 'by-id', connections: 32 },
  { workload: 'by-id', connections: 128 },
  { workload: 'page', connections: 32 },
  { workload: 'lookup', connections: 32 },
  { workload: 'create', connections: 32 },
  { workload: 'update', connections: 32 },
  { workload: 'mix', connections: 32 },
  { workload: 'export', connections: 1 }
] as const

/** Everything that was measured, with headings one level below the title of the page it comes into. */
export function details(report: Report): string {
  const { processor, cores, memoryGiB, node, database } = report.machine
  return [
    `Measured ${report.at.slice(0, 16).replace('T', ' ')} UTC on ${cores} cores of ${processor} with ${memoryGiB} GiB, ` +
      `Node ${node}, ${database}.`,
    '',
    ...report.conditions.map((line) => `- ${line}`),
    '',
    ...section('Goals', table(['what', 'goal', 'found', 'reached'], goalsOf(report).map(goalCells), [0])),
    ...section(`Ratios to ${REFERENCE}`, [
      'Of requests/s more is better, of the others less.',
      '',
      ...ratios(report.measurements)
    ]),
    ...section('Figures', table(HEADINGS, report.measurements.map(cells), [0, 2])),
    ...section('Memory', [
      'Resident memory of all processes of a target, after its start and after it stood idle.',
      '',
      ...table(
        ['target', 'processes', 'after the start, MiB', 'idle, MiB'],
        report.footprint.map(({ target, processes, startedMiB, idleMiB }) => [
          target,
          String(processes),
          startedMiB.toFixed(0),
          idleMiB.toFixed(0)
        ]),
        [0]
      )
    ]),
    ...(report.growth.length === 0 ? [] : section('As the table grows', growth(report)))
  ].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return [`## ${title}`, '', ...lines, '']
}

function goalCells({ what, goal, value, reached }: ReturnType<typeof goalsOf>[number]): string[] {
  return [
    what,
    goal,
    value === undefined ? 'not measured' : times(value),
    reached === undefined ? '' : reached ? 'yes' : 'no'
  ]
}

const HEADINGS = [
  'workload',
  'connections',
  'target',
  'requests/s',
  'lowest and highest round',
  'p50 ms',
  'p99 ms',
  'CPU ms/request',
  'CPU s',
  'of each data service',
  'database CPU s',
  'generator CPU s',
  'peak MiB'
]

function cells(of: Measurement): string[] {
  const rounds = of.requestsPerSecondOfRounds
  return [
    of.workload,
    String(of.connections),
    of.target,
    digits(of.requestsPerSecond),
    `${digits(Math.min(...rounds))} – ${digits(Math.max(...rounds))}`,
    digits(of.p50Ms),
    digits(of.p99Ms),
    digits(of.cpuMsPerRequest),
    of.cpuSeconds.toFixed(2),
    of.replicaCpuSeconds.map((each) => each.toFixed(2)).join(' + '),
    of.databaseCpuSeconds?.toFixed(2) ?? 'elsewhere',
    of.generatorCpuSeconds.toFixed(2),
    of.peakMemoryMiB.toFixed(0)
  ]
}

const FIGURES: readonly Figure[] = ['rate', 'p50', 'p99', 'cpu', 'memory']

function ratios(measurements: readonly Measurement[]): string[] {
  const rows = measurements.flatMap((of) => {
    const to = measured(measurements, { ...of, target: REFERENCE })
    if (to === undefined || to === of) return []
    return [[of.workload, String(of.connections), of.target, ...FIGURES.map((figure) => times(ratio(of, to, figure)))]]
  })
  return table(
    ['workload', 'connections', 'target', 'requests/s', 'p50', 'p99', 'CPU/request', 'peak memory'],
    rows,
    [0, 2]
  )
}

function growth({ growth: sizes }: Report): string[] {
  const kinds = [...new Set(sizes.flatMap(({ measurements }) => measurements.map(({ workload }) => workload)))]
  const rows = kinds.flatMap((workload) =>
    [SERVICE, REFERENCE].flatMap((target) =>
      sizes.flatMap(({ products, measurements }) => {
        const of = measurements.find((each) => each.workload === workload && each.target === target)
        if (of === undefined) return []
        const database = of.databaseCpuSeconds
        return [
          [
            workload,
            target,
            products.toLocaleString('en'),
            digits(of.requestsPerSecond),
            digits(of.p50Ms),
            digits(of.cpuMsPerRequest),
            database === undefined ? 'elsewhere' : digits((database * 1000) / of.requests)
          ]
        ]
      })
    )
  )
  return table(
    ['workload', 'target', 'products', 'requests/s', 'p50 ms', 'CPU ms/request', 'database CPU ms/request'],
    rows,
    [0, 1]
  )
}

/** Numbers stand right-aligned; `names` are the columns that hold none. */
function table(headings: readonly string[], rows: readonly (readonly string[])[], names: readonly number[]): string[] {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  const rule = headings.map((_, column) => (names.includes(column) ? '---' : '---:'))
  return [line(headings), line(rule), ...rows.map(line)]
}

function times(value: number): string {
  return `${value.toFixed(2)} ×`
}

/** Three significant digits, whole numbers from 100. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
