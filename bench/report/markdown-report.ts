import type { Measurement } from '../measurement.js'
import type { Target } from '../targets/target.js'
import type { Workload } from '../workload.js'

/** A whole run. */
export interface Report {
  readonly at: string
  /** Machine, versions, sizes: a line each. */
  readonly conditions: readonly string[]
  readonly targets: readonly Pick<Target, 'name' | 'description'>[]
  readonly workloads: readonly Pick<Workload, 'name' | 'description'>[]
  readonly measurements: readonly Measurement[]
}

const HEADINGS = [
  'workload',
  'connections',
  'target',
  'requests/s',
  'lowest and highest round',
  'p50 ms',
  'p99 ms',
  'CPU s',
  'CPU ms/request',
  'peak MiB',
  'database CPU s',
  'generator CPU s'
]

/** The tables of a run for people. Ratios are to the target named `reference`, where it took part. */
export function markdownReport(report: Report, reference: string): string {
  return [
    `Measured ${report.at}`,
    '',
    ...report.conditions.map((line) => `- ${line}`),
    '',
    ...report.targets.map(({ name, description }) => `- **${name}**: ${description}`),
    '',
    ...report.workloads.map(({ name, description }) => `- **${name}**: ${description}`),
    '',
    ...table(HEADINGS, report.measurements.map(cells)),
    '',
    ...ratios(report.measurements, reference),
    ''
  ].join('\n')
}

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
    of.cpuSeconds.toFixed(2),
    digits(of.cpuMsPerRequest),
    of.peakMemoryMiB.toFixed(0),
    of.databaseCpuSeconds?.toFixed(2) ?? 'elsewhere',
    of.generatorCpuSeconds.toFixed(2)
  ]
}

function ratios(measurements: readonly Measurement[], reference: string): string[] {
  const rows = measurements.flatMap((of) => {
    const to = measurements.find(
      (each) => each.target === reference && each.workload === of.workload && each.connections === of.connections
    )
    return to === undefined || to === of ? [] : [ratioCells(of, to)]
  })
  if (rows.length === 0) return []
  const headings = ['workload', 'connections', 'target', 'requests/s', 'p50', 'p99', 'CPU/request', 'peak memory']
  return [
    `Ratios to ${reference} (requests/s: more is better; the others: less is better)`,
    '',
    ...table(headings, rows)
  ]
}

function ratioCells(of: Measurement, to: Measurement): string[] {
  const ratio = (value: (each: Measurement) => number): string => `${(value(of) / value(to)).toFixed(2)} ×`
  return [
    of.workload,
    String(of.connections),
    of.target,
    ratio((each) => each.requestsPerSecond),
    ratio((each) => each.p50Ms),
    ratio((each) => each.p99Ms),
    ratio((each) => each.cpuMsPerRequest),
    ratio((each) => each.peakMemoryMiB)
  ]
}

/** Numbers stand right-aligned; the first and third column are names. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  const rule = headings.map((_, column) => (column === 0 || column === 2 ? '---' : '---:'))
  return [line(headings), line(rule), ...rows.map(line)]
}

/** Three significant digits, whole numbers from 100. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
