import type { Operation, Point } from './points.js'

/** The operations that are simulated one by one; a mix is made of them, and an export is a stream of its own. */
export const SIMULATED = [
  'by-id',
  'page',
  'lookup',
  'create',
  'update',
  'action'
] as const satisfies readonly Operation[]

export type SimulatedOperation = (typeof SIMULATED)[number]

/** CPU of one request in microseconds. */
export interface OperationCosts {
  /** Of the gateway, but for the messages to and from the data services. */
  readonly gateway: number
  /** Each message that the gateway sends or takes, whatever it holds. */
  readonly gatewayMessage: number
  /** For each request that is under way at the same gateway: more of them leave more for the garbage collector. */
  readonly gatewayUnderWay: number
  readonly dataService: number
  readonly dataServiceMessage: number
  /** Each round trip to the database. */
  readonly dataServiceStatement: number
  /** Of the database, for each key of a read by id, or for the work of a page or a write. */
  readonly database: number
  /** Each statement, whatever it holds. */
  readonly databaseStatement: number
  readonly generator: number
  /** Whether requests of one turn of the event loop are one statement (decision 030). */
  readonly isGathered: boolean
  /** To the database, one after the other (decision 031). */
  readonly roundTrips: number
}

/** The processes whose CPU is modelled. */
export type Modelled = 'gateway' | 'dataService' | 'database'

export const MODELLED: readonly Modelled[] = ['gateway', 'dataService', 'database']

/** How far the model is from a point. */
export interface Residual {
  readonly process: Modelled
  readonly point: Point
  readonly measured: number
  readonly fitted: number
}

export interface CostModel {
  readonly costs: Readonly<Record<SimulatedOperation, OperationCosts>>
  readonly residuals: readonly Residual[]
}

const GATHERED: readonly SimulatedOperation[] = ['by-id', 'lookup']
const WRITES: readonly SimulatedOperation[] = ['create', 'update', 'action']

/** A client's socket is read and written once for a request. */
const CLIENT_CALLS = 2

/** A point may have more calls because a slow client took its answer in parts, or because Node did other work. */
const MOST_CALLS = { gateway: 3, dataService: 10 }

/**
 * What the CPU of a process grows with, beside the operation itself: messages, calls and statements of one request, and the
 * requests that are under way at a gateway.
 */
const REGRESSORS: Readonly<Record<Modelled, (point: Point) => readonly number[]>> = {
  gateway: ({ gatewayCalls, connections, pairs }) => [
    Math.min(MOST_CALLS.gateway, Math.max(0, gatewayCalls - CLIENT_CALLS)),
    connections / pairs
  ],
  dataService: ({ dataServiceCalls }) => [Math.min(MOST_CALLS.dataService, dataServiceCalls)],
  database: ({ statements }) => [statements]
}

const MICROS: Readonly<Record<Modelled, (point: Point) => number>> = {
  gateway: ({ gatewayMicros }) => gatewayMicros,
  dataService: ({ dataServiceMicros }) => dataServiceMicros,
  database: ({ databaseMicros }) => databaseMicros
}

/**
 * Fits the model to points of MariaDB over one number of rows: for each process `a(operation) + b · x`, where x is what the
 * point has of messages, calls or statements for one request. Least squares of the relative error; no cost is negative.
 */
export function fitCosts(points: readonly Point[]): CostModel {
  const fitted = points.filter(({ operation }) => isSimulated(operation))
  const fits = {
    gateway: fitProcess('gateway', fitted),
    dataService: fitProcess('dataService', fitted),
    database: fitProcess('database', fitted)
  }
  const costs = Object.fromEntries(
    SIMULATED.map((operation): [SimulatedOperation, OperationCosts] => {
      const roundTrips = WRITES.includes(operation) ? 2 : 1
      const own = fitted.filter((point) => point.operation === operation)
      const base = (process: Modelled): number => fits[process].bases.get(operation) ?? 0
      const slopes = {
        gateway: fits.gateway.slopes[0] ?? 0,
        dataService: fits.dataService.slopes[0] ?? 0,
        database: fits.database.slopes[0] ?? 0
      }
      // With one connection nothing is gathered: what is above the calls that everybody makes belongs to the operation.
      const alone = own.filter(({ connections, pairs }) => connections === 1 && pairs === 1)
      const above = (process: Modelled, structural: number): number =>
        GATHERED.includes(operation)
          ? 0
          : Math.max(0, medianOf(alone.map((point) => REGRESSORS[process](point)[0] ?? 0)) - structural)
      return [
        operation,
        {
          gateway: base('gateway') + slopes.gateway * above('gateway', 2),
          gatewayMessage: slopes.gateway,
          gatewayUnderWay: fits.gateway.slopes[1] ?? 0,
          dataService: base('dataService') + slopes.dataService * above('dataService', 2 + 2 * roundTrips),
          dataServiceMessage: slopes.dataService,
          dataServiceStatement: 2 * slopes.dataService,
          database: base('database') + slopes.database * above('database', roundTrips),
          databaseStatement: slopes.database,
          generator: medianOf(own.map(({ generatorMicros }) => generatorMicros)),
          isGathered: GATHERED.includes(operation),
          roundTrips
        }
      ]
    })
  ) as Record<SimulatedOperation, OperationCosts> // an entry for each of SIMULATED
  const residuals = MODELLED.flatMap((process) =>
    fitted.map((point) => ({
      process,
      point,
      measured: MICROS[process](point),
      fitted: REGRESSORS[process](point).reduce(
        (sum, regressor, index) => sum + regressor * (fits[process].slopes[index] ?? 0),
        fits[process].bases.get(point.operation) ?? 0
      )
    }))
  )
  return { costs, residuals }
}

/** What the database takes for a page as the rows grow that its total counts: `fixed + each · rows`, microseconds. */
export function fitCounting(points: readonly Point[]): { readonly fixed: number; readonly each: number } {
  const pages = points.filter(({ operation }) => operation === 'page')
  const [fixed = 0, each = 0] = leastSquares(
    pages.map(({ rowsRead, databaseMicros }) => ({ features: [1, rowsRead], value: databaseMicros }))
  )
  return { fixed, each }
}

function isSimulated(operation: Operation): operation is SimulatedOperation {
  return SIMULATED.some((one) => one === operation)
}

interface ProcessFit {
  readonly bases: ReadonlyMap<Operation, number>
  /** Of each regressor. */
  readonly slopes: readonly number[]
}

function fitProcess(process: Modelled, points: readonly Point[]): ProcessFit {
  const coefficients = leastSquares(
    points.map((point) => ({
      features: [
        ...REGRESSORS[process](point),
        ...SIMULATED.map((operation) => (operation === point.operation ? 1 : 0))
      ],
      value: MICROS[process](point)
    }))
  )
  const slopes = coefficients.slice(0, -SIMULATED.length)
  const bases = coefficients.slice(-SIMULATED.length)
  return { slopes, bases: new Map(SIMULATED.map((operation, index) => [operation, bases[index] ?? 0])) }
}

interface Row {
  readonly features: readonly number[]
  /** Above 0. */
  readonly value: number
}

/**
 * The coefficients, none of them negative, that make the sum of the squared relative errors small: those that come out
 * negative are 0, and the others are fitted again.
 */
export function leastSquares(rows: readonly Row[]): number[] {
  const width = rows[0]?.features.length ?? 0
  let kept = Array.from({ length: width }, (_, index) => index).filter((index) =>
    rows.some(({ features }) => features[index] !== 0)
  )
  for (;;) {
    const weighted = rows.map(({ features, value }) => kept.map((index) => (features[index] ?? 0) / value))
    const matrix = kept.map((_, row) => [
      ...kept.map((_other, column) => sumOf(weighted.map((each) => (each[row] ?? 0) * (each[column] ?? 0)))),
      sumOf(weighted.map((each) => each[row] ?? 0))
    ])
    const solution = solve(matrix)
    const negative = kept.filter((_, index) => (solution[index] ?? 0) < 0)
    if (negative.length === 0) {
      return Array.from({ length: width }, (_, index) =>
        kept.includes(index) ? (solution[kept.indexOf(index)] ?? 0) : 0
      )
    }
    kept = kept.filter((index) => !negative.includes(index))
  }
}

/** Gauss with the largest pivot of a column; each row is followed by its right side. */
function solve(matrix: number[][]): number[] {
  const size = matrix.length
  const at = (row: number, column: number): number => matrix[row]?.[column] ?? 0
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let row = column + 1; row < size; row++)
      if (Math.abs(at(row, column)) > Math.abs(at(pivot, column))) pivot = row
    const [upper, lower] = [matrix[pivot] ?? [], matrix[column] ?? []]
    matrix[column] = upper
    matrix[pivot] = lower
    if (Math.abs(at(column, column)) < 1e-12) throw new Error('The points do not tell the coefficients apart.')
    for (let row = 0; row < size; row++) {
      if (row === column) continue
      const factor = at(row, column) / at(column, column)
      matrix[row] = (matrix[row] ?? []).map((value, index) => value - factor * at(column, index))
    }
  }
  return matrix.map((row, index) => (row[size] ?? 0) / at(index, index))
}

export function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
