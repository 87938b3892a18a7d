import type { Connection } from 'mysql2'
import { installedVersion, remedyFor, whatIsUntested } from '../../../../shared/inner-members.js'
import type { Examined } from '../engine.js'
import {
  collationOf,
  type MysqlSettings,
  shownValues,
  openConnection,
  serverOf,
  SQL_MODE
} from './driver/mysql-connection.js'
import { CONFIG, MYSQL2 } from './driver/mysql-inner.js'
import { installedDriver } from './driver/mysql-ways.js'

/** Names of global variables of the server, and of a node of a cluster. A server that knows one not leaves it out. */
const VARIABLES = [
  'version',
  'read_only',
  'super_read_only',
  'max_allowed_packet',
  'max_connections',
  'wait_timeout',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog'
]
const SESSION = ['sql_mode', 'tx_isolation', 'transaction_isolation', 'time_zone', 'collation_connection']
const NODE = ['wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_cluster_size']

/** Milliseconds by which the clocks may differ. Both sides write moments: versions and tokens by one, defaults of columns by the other. */
const CLOCK_TOLERANCE = 2000
/** Bytes. A body has at most 1 MiB, its row may come with what was stored and with an audit entry, and an answer under a key has 6 MiB. */
const NEEDED_PACKET = 8 * 1024 * 1024
/** Seconds that an idle connection stays in the pool. */
const POOL_IDLE = 60
/** Connections of a process besides its pool: accounts and sessions, exports, health, and one to stop a statement. */
const BESIDES_POOL = 5 + 16 + 2
/** FOUND_ROWS of the protocol's capabilities: with it an UPDATE counts rows that it found, and not those that it changed. */
const FOUND_ROWS = 2

/** What `Database.examine` says of a server. */
export async function examineServer(settings: MysqlSettings, poolSize: number): Promise<readonly Examined[]> {
  const connection = await openConnection(settings)
  try {
    const global = await shownValues(
      connection,
      `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${quotedNames(VARIABLES)})`
    )
    const session = await shownValues(
      connection,
      `SHOW SESSION VARIABLES WHERE Variable_name IN (${quotedNames(SESSION)})`
    )
    const node = await shownValues(connection, `SHOW GLOBAL STATUS WHERE Variable_name IN (${quotedNames(NODE)})`)
    return [
      { what: 'server', found: global.get('version') ?? 'unknown' },
      await examineClock(connection),
      ...examineSession(session, global),
      ...examineDriver(connection),
      ...examineNode(node),
      ...examineWrites(global, node.get('wsrep_local_state_comment') !== undefined),
      ...examineRoom(global, poolSize)
    ]
  } finally {
    connection.end()
  }
}

function quotedNames(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ')
}

async function examineClock(connection: Connection): Promise<Examined> {
  const before = Date.now()
  const [rows] = await connection.promise().query({ sql: 'SELECT UTC_TIMESTAMP(3)', rowsAsArray: true })
  const after = Date.now()
  const [row] = rows as unknown as readonly (readonly unknown[])[]
  const server = Date.parse(`${String(row?.[0]).replace(' ', 'T')}Z`)
  const difference = Math.round(server - (before + after) / 2)
  const found = `${Math.abs(difference)} ms ${difference < 0 ? 'behind' : 'ahead of'} that of this machine`
  return Math.abs(difference) - (after - before) <= CLOCK_TOLERANCE
    ? { what: 'clock', found }
    : {
        what: 'clock',
        found,
        harms: 'some',
        remedy: 'Let both machines keep the time of the same source, such as NTP.'
      }
}

/** The session must be as the service sets it on each connection. A proxy between may share connections, and lose it. */
function examineSession(
  session: ReadonlyMap<string, string>,
  global: ReadonlyMap<string, string>
): readonly Examined[] {
  const isolation = session.get('transaction_isolation') ?? session.get('tx_isolation') ?? ''
  const mode = (session.get('sql_mode') ?? '').split(',')
  const kept =
    'Something between this process and the server does not keep what a session sets: connect to the server itself.'
  const facts: readonly (readonly [what: string, found: string, isRight: boolean])[] = [
    ['SQL mode', mode.join(','), SQL_MODE.split(',').every((one) => mode.includes(one))],
    ['isolation', isolation, isolation === 'READ-COMMITTED'],
    ['time zone', session.get('time_zone') ?? '', session.get('time_zone') === '+00:00'],
    [
      'collation',
      session.get('collation_connection') ?? '',
      session.get('collation_connection') === collationOf(serverOf(global.get('version') ?? ''))
    ]
  ]
  return facts.map(([what, found, isRight]): Examined =>
    isRight ? { what, found } : { what, found, harms: 'all', remedy: kept }
  )
}

function examineDriver(connection: Connection): readonly Examined[] {
  const found = `${MYSQL2.name} ${installedVersion(MYSQL2)}`
  const { untested } = installedDriver()
  const slower = 'statements go by its public functions, which is slower'
  const driver: Examined =
    untested === undefined
      ? { what: 'driver', found }
      : { what: 'driver', found: `${whatIsUntested(untested)}: ${slower}`, harms: 'some', remedy: remedyFor(untested) }
  if (CONFIG.missingIn(connection.config).length > 0) return [driver]
  const { clientFlags } = CONFIG.of(connection.config)
  return [
    driver,
    (clientFlags & FOUND_ROWS) === 0
      ? { what: 'driver flags', found: 'an UPDATE counts changed rows' }
      : {
          what: 'driver flags',
          found: 'an UPDATE counts found rows',
          harms: 'all',
          remedy: `Install ${MYSQL2.name} ${MYSQL2.tested}: updates would not see that they changed nothing.`
        }
  ]
}

function examineNode(node: ReadonlyMap<string, string>): readonly Examined[] {
  const state = node.get('wsrep_local_state_comment')
  if (state === undefined || node.get('wsrep_cluster_size') === '0') return []
  const found = `${state}, ${node.get('wsrep_cluster_status') ?? ''}, of ${node.get('wsrep_cluster_size') ?? ''}`
  const serves = node.get('wsrep_ready') === 'ON' && node.get('wsrep_cluster_status') === 'Primary'
  return [
    serves
      ? { what: 'cluster node', found }
      : { what: 'cluster node', found, harms: 'all', remedy: 'Bring the node back into the primary component.' }
  ]
}

/** Whether writes are taken, and whether one that was acknowledged outlives a loss of power. */
function examineWrites(global: ReadonlyMap<string, string>, isNode: boolean): readonly Examined[] {
  const isReadOnly = ['read_only', 'super_read_only'].some(
    (name) => !['OFF', '0', undefined].includes(global.get(name))
  )
  const flush = global.get('innodb_flush_log_at_trx_commit') ?? ''
  const binlog = global.get('log_bin') === 'ON' ? (global.get('sync_binlog') ?? '') : undefined
  const loses = 'an acknowledged write may be lost when the machine loses power'
  const durability: readonly (readonly [string, string | undefined])[] = [
    ['innodb_flush_log_at_trx_commit', flush],
    ['sync_binlog', binlog]
  ]
  return [
    isReadOnly
      ? {
          what: 'writes',
          found: 'the server is read-only',
          harms: 'all',
          remedy: 'Name the primary, or set read_only=OFF there.'
        }
      : { what: 'writes', found: 'taken' },
    ...durability.flatMap(([what, found]): Examined[] => {
      if (found === undefined) return []
      // The nodes of a cluster have each other's copies.
      if (found === '1' || isNode) return [{ what, found }]
      return [{ what, found: `${found}: ${loses}`, harms: 'some', remedy: `Set ${what}=1 on the server.` }]
    })
  ]
}

function examineRoom(global: ReadonlyMap<string, string>, poolSize: number): readonly Examined[] {
  const packet = Number(global.get('max_allowed_packet'))
  const connections = Number(global.get('max_connections'))
  const idle = Number(global.get('wait_timeout'))
  const needed = poolSize + BESIDES_POOL
  return [
    packet >= NEEDED_PACKET
      ? { what: 'max_allowed_packet', found: String(packet) }
      : {
          what: 'max_allowed_packet',
          found: String(packet),
          harms: 'some',
          remedy: `Set it to ${NEEDED_PACKET} or more: a write with a large body fails else.`
        },
    connections >= needed
      ? { what: 'max_connections', found: `${connections}, of which a data service takes up to ${needed}` }
      : {
          what: 'max_connections',
          found: String(connections),
          harms: 'some',
          remedy: `A data service takes up to ${needed}: raise it, or lower DATABASE_POOL_SIZE.`
        },
    idle > POOL_IDLE
      ? { what: 'wait_timeout', found: `${idle} s` }
      : {
          what: 'wait_timeout',
          found: `${idle} s`,
          harms: 'some',
          remedy: `Set it to more than ${POOL_IDLE}: the server closes connections that the pool still keeps.`
        }
  ]
}
