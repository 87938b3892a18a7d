import { MODELLED, medianOf, SIMULATED } from './cost-model.js'
import type { MeasuredDatabase, Operation, Point } from './points.js'
import { ASSUMED, byRows, CHOSEN, type Reproduced, type Scaling, type SizedRun } from './scenarios.js'

/** A table of docs/scaling.md by its name there. */
export interface NamedTable {
  readonly name: string
  readonly markdown: string
}

/** Every table of docs/scaling.md, in its order. */
export function tablesOf(scaling: Scaling): NamedTable[] {
  return [
    { name: 'points', markdown: points(scaling) },
    { name: 'rows', markdown: rows(scaling) },
    { name: 'costs', markdown: costs(scaling) },
    { name: 'residuals', markdown: residuals(scaling) },
    { name: 'calibration', markdown: calibration(scaling) },
    { name: 'reproduced', markdown: reproduced(scaling) },
    { name: 'errors', markdown: errors(scaling) },
    { name: 'counting', markdown: counting(scaling) },
    { name: 'sizes', markdown: sizes(scaling.sizes) },
    { name: 'loads', markdown: loads(scaling.loads) }
  ]
}

const BEGIN = (name: string): string => `<!-- scaling: ${name} -->`
const END = '<!-- end -->'

/** The page with each table in its place; throws where the page has no place for one. */
export function withTables(page: string, tables: readonly NamedTable[]): string {
  return tables.reduce((text, { name, markdown }) => {
    const begin = text.indexOf(BEGIN(name))
    const end = text.indexOf(END, begin)
    if (begin === -1 || end === -1) throw new Error(`docs/scaling.md has no place for the table ${name}.`)
    return `${text.slice(0, begin)}${BEGIN(name)}\n\n${markdown}\n\n${text.slice(end)}`
  }, page)
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...lines.map(line)].join('\n')
}

/** Three digits that count, and no exponent. */
export function figure(value: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  const rounded = Number(value.toPrecision(3))
  return digits === 0 ? rounded.toLocaleString('en-US') : rounded.toFixed(Math.min(digits, 3))
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

const AT = 100_000

function points({ measured }: Scaling): string {
  const shown = measured.points.filter(({ database, products }) => database === 'mariadb' && products === AT)
  return table(
    [
      'operation',
      'pairs',
      'connections',
      'gateway µs',
      'data service µs',
      'database µs',
      'calls of the gateway',
      'of the data service',
      'statements',
      'body bytes'
    ],
    shown.map((point) => [
      point.operation,
      String(point.pairs),
      String(point.connections),
      figure(point.gatewayMicros),
      figure(point.dataServiceMicros),
      figure(point.databaseMicros),
      figure(point.gatewayCalls),
      figure(point.dataServiceCalls),
      figure(point.statements),
      whole(point.bodyBytes)
    ])
  )
}

const GROWING: readonly Operation[] = ['by-id', 'page', 'lookup', 'create', 'update']
const LABELS: Readonly<Record<MeasuredDatabase, string>> = { mariadb: 'MariaDB', sqlite: 'SQLite' }

function rows({ measured }: Scaling): string {
  const of = (database: MeasuredDatabase): string[][] =>
    GROWING.flatMap((operation) =>
      byRows(measured.points, { database, operation, connections: 32 }).map((point) => [
        LABELS[database],
        operation,
        whole(point.products),
        figure(point.gatewayMicros),
        figure(point.dataServiceMicros),
        database === 'sqlite' ? '' : figure(point.databaseMicros),
        database === 'sqlite' ? '' : figure(point.rowsRead),
        database === 'sqlite' ? '' : figure(point.pagesMissed)
      ])
    )
  return table(
    ['database', 'operation', 'rows', 'gateway µs', 'data service µs', 'database µs', 'rows read', 'pages missed'],
    [...of('mariadb'), ...of('sqlite')]
  )
}

function costs({ model }: Scaling): string {
  return table(
    ['µs', ...SIMULATED],
    [
      ['gateway, each request', ...SIMULATED.map((each) => figure(model.costs[each].gateway))],
      ['gateway, each message', ...SIMULATED.map((each) => figure(model.costs[each].gatewayMessage))],
      ['gateway, for each request under way', ...SIMULATED.map((each) => figure(model.costs[each].gatewayUnderWay))],
      ['data service, each request', ...SIMULATED.map((each) => figure(model.costs[each].dataService))],
      ['data service, each message', ...SIMULATED.map((each) => figure(model.costs[each].dataServiceMessage))],
      ['data service, each round trip', ...SIMULATED.map((each) => figure(model.costs[each].dataServiceStatement))],
      ['database, each request', ...SIMULATED.map((each) => figure(model.costs[each].database))],
      ['database, each statement', ...SIMULATED.map((each) => figure(model.costs[each].databaseStatement))],
      ['round trips to the database', ...SIMULATED.map((each) => String(model.costs[each].roundTrips))]
    ]
  )
}

const NAMES = { gateway: 'gateway', dataService: 'data service', database: 'database' } as const

function residuals({ model }: Scaling): string {
  return table(
    ['process', 'points', 'median error', 'nine of ten within', 'worst', 'where'],
    MODELLED.map((process) => {
      const sorted = model.residuals
        .filter((residual) => residual.process === process)
        .map(({ point, measured, fitted }) => ({ point, error: Math.abs(fitted / measured - 1) }))
        .toSorted((a, b) => a.error - b.error)
      const worst = sorted.at(-1)
      return [
        NAMES[process],
        String(sorted.length),
        percent(medianOf(sorted.map(({ error }) => error))),
        percent(sorted[Math.floor(0.9 * (sorted.length - 1))]?.error ?? 0),
        percent(worst?.error ?? 0),
        worst === undefined ? '' : placeOf(worst.point)
      ]
    })
  )
}

function placeOf({ operation, connections, pairs }: Pick<Point, 'operation' | 'connections' | 'pairs'>): string {
  return `${operation} at ${connections}, ${pairsOf(pairs)}`
}

function pairsOf(pairs: number): string {
  return pairs === 1 ? 'one pair' : `${pairs} pairs`
}

function calibration({ calibrations }: Scaling): string {
  return table(
    ['operation', 'gateway and data service', 'database'],
    calibrations.map(({ operation, processes, database }) => [operation, processes.toFixed(2), database.toFixed(2)])
  )
}

/** The rate of the simulation to the measured one, less 1. */
export function errorOf({ measured, simulated }: Reproduced): number {
  return simulated.requestsPerSecond / measured.requestsPerSecond - 1
}

function reproduced({ reproduced: lines }: Scaling): string {
  return table(
    [
      'workload',
      'pairs',
      'connections',
      'measured requests/s',
      'simulated',
      'error',
      'p50 ms',
      'simulated',
      'p99 ms',
      'simulated'
    ],
    lines.map((line) => [
      line.workload,
      String(line.pairs),
      String(line.connections),
      figure(line.measured.requestsPerSecond),
      figure(line.simulated.requestsPerSecond),
      `${errorOf(line) > 0 ? '+' : ''}${(100 * errorOf(line)).toFixed(0)} %`,
      figure(line.measured.p50Ms),
      figure(line.simulated.p50Ms),
      figure(line.measured.p99Ms),
      figure(line.simulated.p99Ms)
    ])
  )
}

/** The lines whose errors are told together. */
export const GROUPS: readonly { readonly name: string; readonly holds: (line: Reproduced) => boolean }[] = [
  { name: '1 connection, one pair', holds: ({ connections, pairs }) => connections === 1 && pairs === 1 },
  { name: '1 connection, two pairs', holds: ({ connections, pairs }) => connections === 1 && pairs === 2 },
  { name: '32 connections, one pair', holds: ({ connections, pairs }) => connections === 32 && pairs === 1 },
  { name: '32 connections, two pairs', holds: ({ connections, pairs }) => connections === 32 && pairs === 2 },
  { name: '128 connections, one pair', holds: ({ connections, pairs }) => connections === 128 && pairs === 1 },
  { name: '128 connections, two pairs', holds: ({ connections, pairs }) => connections === 128 && pairs === 2 },
  { name: '512 connections', holds: ({ connections }) => connections === 512 }
]

function errors({ reproduced: lines }: Scaling): string {
  return table(
    ['lines', 'number', 'median error of the rate', 'worst'],
    GROUPS.map(({ name, holds }) => {
      const found = lines.filter(holds).map((line) => Math.abs(errorOf(line)))
      return [name, String(found.length), percent(medianOf(found)), percent(Math.max(...found))]
    })
  )
}

/** Rows that the filter of a page finds, up to those of one of 40 categories of 10^9 rows. */
const FOUND = [2_500, 25_000, 250_000, 2_500_000, 25_000_000]

function counting({ counting: { fixed, each } }: Scaling): string {
  return table(
    ['rows that the filter finds', 'database CPU of a page', 'pages a second of a core'],
    FOUND.map((found) => {
      const micros = fixed + each * found
      return [whole(found), `${figure(micros / 1000)} ms`, figure(1e6 / micros)]
    })
  )
}

function sizes(runs: readonly SizedRun[]): string {
  return table(
    [
      'pairs',
      'data services of a gateway',
      'database servers',
      'answered/s',
      'gateway',
      'data service',
      'database',
      'µs/request of the pairs',
      'statements/request',
      'p50 ms',
      'p99 ms'
    ],
    runs.map(({ system, simulated }) => [
      String(system.pairs),
      String(system.dataServicesOfGateway),
      String(system.database.nodes),
      figure(simulated.requestsPerSecond),
      percent(simulated.gateway),
      percent(simulated.dataService),
      percent(simulated.database),
      figure(simulated.gatewayMicros + simulated.dataServiceMicros),
      figure(simulated.statements),
      figure(simulated.p50Ms),
      figure(simulated.p99Ms)
    ])
  )
}

function loads(runs: readonly SizedRun[]): string {
  return table(
    ['asked/s', 'answered/s', 'gateway', 'data service', 'database', 'µs/request of the pairs', 'p50 ms', 'p99 ms'],
    runs.map(({ perSecond, simulated }) => [
      whole(perSecond),
      figure(simulated.requestsPerSecond),
      percent(simulated.gateway),
      percent(simulated.dataService),
      percent(simulated.database),
      figure(simulated.gatewayMicros + simulated.dataServiceMicros),
      figure(simulated.p50Ms),
      figure(simulated.p99Ms)
    ])
  )
}

/** What the command prints. */
export function printed(scaling: Scaling): string {
  const { pairs, dataServicesOfGateway, database } = CHOSEN
  const lines = [
    `Points: ${scaling.measured.command}, ${scaling.measured.machine}.`,
    `Chosen system: ${pairs} pairs, ${dataServicesOfGateway} data services for each gateway, ${database.nodes} database servers of ${database.cores} cores.`,
    `Assumed: ${Object.entries(ASSUMED)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}.`
  ]
  return [lines.join('\n'), ...tablesOf(scaling).map(({ name, markdown }) => `## ${name}\n\n${markdown}`)].join('\n\n')
}
