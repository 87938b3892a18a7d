import type { WorkloadName } from '../targets/target.js'

/** The kinds of database that points are measured on. */
export type MeasuredDatabase = 'sqlite' | 'mariadb'

/** The operations that points are measured of, as `npm run bench` names them. */
export const OPERATIONS = [
  'by-id',
  'page',
  'lookup',
  'create',
  'update',
  'action',
  'mix',
  'export'
] as const satisfies readonly WorkloadName[]

export type Operation = (typeof OPERATIONS)[number]

/**
 * What one operation took at one number of connections, pairs and rows. Everything from `gatewayMicros` on is for
 * one request. CPU is user and system time.
 */
export interface Point {
  readonly database: MeasuredDatabase
  readonly operation: Operation
  readonly connections: number
  /** Pairs of a gateway and a data service. */
  readonly pairs: number
  /** Rows of the products table. */
  readonly products: number
  readonly requests: number
  /** By the clock, on a machine that other work may share. The model is not fitted to it. */
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly gatewayMicros: number
  readonly dataServiceMicros: number
  /** 0 for SQLite, which runs within the data service. */
  readonly databaseMicros: number
  readonly generatorMicros: number
  readonly bodyBytes: number
  /** Calls of read and write by the gateways, which tell how many messages they took and sent. */
  readonly gatewayCalls: number
  readonly dataServiceCalls: number
  /** Of the server; all of them are 0 for SQLite. */
  readonly statements: number
  readonly rowsRead: number
  readonly pagesMissed: number
  readonly redoBytes: number
}

/** Points with the conditions they were measured under. */
export interface MeasuredPoints {
  readonly command: string
  readonly at: string
  readonly machine: string
  readonly databases: readonly string[]
  readonly conditions: readonly string[]
  readonly points: readonly Point[]
}

/** What two points have to have in common to be measurements of the same. */
function keyOf({ database, operation, connections, pairs, products }: Point): string {
  return [database, operation, connections, pairs, products].join(' ')
}

/**
 * Of the points that measure the same, the one that took the least CPU, since what else a machine does can only add to it.
 * In the order of databases, rows, operations, pairs and connections.
 */
export function leastOf(points: readonly Point[]): Point[] {
  const least = new Map<string, Point>()
  for (const point of points) {
    const other = least.get(keyOf(point))
    if (other === undefined || cpuOf(point) < cpuOf(other)) least.set(keyOf(point), point)
  }
  const order = (point: Point): number[] => [
    point.database === 'mariadb' ? 0 : 1,
    point.products,
    OPERATIONS.indexOf(point.operation),
    point.pairs,
    point.connections
  ]
  return [...least.values()].toSorted((one, other) => {
    const others = order(other)
    return order(one).reduce((found, value, index) => (found === 0 ? value - (others[index] ?? 0) : found), 0)
  })
}

function cpuOf({ gatewayMicros, dataServiceMicros, databaseMicros }: Point): number {
  return gatewayMicros + dataServiceMicros + databaseMicros
}
