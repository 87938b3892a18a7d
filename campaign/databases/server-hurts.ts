import type { Connection } from 'mysql2/promise'
import { type Heal, type Hurt, pick } from './database.js'
import type { ServerNode } from './server-node.js'
import type { SmallDisk } from './small-disk.js'

/** A server with what can be done to it from outside. */
export interface HurtServer {
  readonly node: ServerNode
  /** That of its data folder; undefined where none can be mounted. */
  readonly disk: SmallDisk | undefined
  readonly hasClock: boolean
}

/** What `max_connections` is while nothing is hurt. */
export const MAX_CONNECTIONS = 500
/** The least that MariaDB takes. */
const LEAST_CONNECTIONS = 10
const HOUR = 3600

/** Milliseconds: a server that is slowed runs for one such slice of ten. */
const SLICE_MS = 5

/** A random one of the servers is hurt. */
export function serverHurts(servers: readonly HurtServer[]): Readonly<Record<string, Hurt>> {
  const toOne =
    (hurt: (node: ServerNode, random: () => number) => Promise<Heal>): Hurt =>
    (random) =>
      hurt(pick(servers, random).node, random)
  const hasClocks = servers.every(({ hasClock }) => hasClock)
  const hasDisks = servers.every(({ disk }) => disk !== undefined)
  return {
    killed: toOne(async (node) => {
      await node.kill()
      return () => node.start()
    }),
    terminated: toOne(async (node) => {
      await node.terminate()
      return () => node.start()
    }),
    frozen: toOne((node) => {
      node.freeze()
      return Promise.resolve(() => thawed(node))
    }),
    slowed: toOne((node) => Promise.resolve(slow(node))),
    'read-only': toOne(async (node) => {
      await node.run('SET GLOBAL read_only = ON')
      return () => reset(node, 'SET GLOBAL read_only = OFF')
    }),
    'no-connections': toOne(takeConnections),
    'connections-killed': toOne(killConnections),
    'writes-held': toOne((node) => holding(node, () => 'FLUSH TABLES WITH READ LOCK')),
    'table-locked': toOne(async (node, random) => {
      const table = pick(await tablesOf(node), random)
      return holding(node, () => `LOCK TABLES ${table} WRITE`)
    }),
    'table-rebuilt': toOne(rebuildTable),
    ...(hasClocks ? { 'clock-skewed': toOne(skewClock) } : {}),
    ...(hasDisks ? { 'disk-full': (random: () => number) => fillDisk(pick(servers, random)) } : {})
  }
}

async function thawed(node: ServerNode): Promise<void> {
  node.thaw()
  await node.start()
}

/** Nothing answers for 45 ms of each 50. */
function slow(node: ServerNode): Heal {
  let slice = 0
  const timer = setInterval(() => {
    slice = (slice + 1) % 10
    if (slice === 0) node.thaw()
    else if (slice === 1) node.freeze()
  }, SLICE_MS)
  return async () => {
    clearInterval(timer)
    await thawed(node)
  }
}

/** Takes a global setting back, which a server that was started again has not got any more. */
async function reset(node: ServerNode, statement: string): Promise<void> {
  if (node.isRunning) await node.run(statement)
}

/** All connections that the server allows are taken, and those of before stay. An administrator has one more. */
async function takeConnections(node: ServerNode): Promise<Heal> {
  // It takes no part in the race for the one connection that an administrator has more.
  const admin = quiet(await node.connect('admin'))
  const [row] = await node.run("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
  const most = Math.max(LEAST_CONNECTIONS, Number(row?.['Value']) + 2)
  await node.run(`SET GLOBAL max_connections = ${most}`)
  const held: Connection[] = []
  try {
    for (;;) held.push(quiet(await node.connect('app')))
  } catch (error) {
    if (errnoOf(error) !== TOO_MANY_CONNECTIONS) throw error
  }
  return async () => {
    for (const connection of held) connection.destroy()
    const statement = `SET GLOBAL max_connections = ${MAX_CONNECTIONS}`
    // A server that was started again has lost the connection, and the limit too.
    await admin.query(statement).catch(() => reset(node, statement))
    admin.destroy()
  }
}

/** ER_CON_COUNT_ERROR */
const TOO_MANY_CONNECTIONS = 1040

/** Ends every connection of the service at this moment. */
async function killConnections(node: ServerNode): Promise<Heal> {
  const found = await node.run("SELECT id FROM information_schema.processlist WHERE user = 'app'")
  for (const { id } of found) {
    // It may have ended meanwhile.
    await node.run(`KILL CONNECTION ${String(id)}`).catch(() => undefined)
  }
  return () => Promise.resolve()
}

/** Up to two hours ahead or behind. */
async function skewClock(node: ServerNode, random: () => number): Promise<Heal> {
  const seconds = (random() < 0.5 ? -1 : 1) * Math.ceil(random() * 2 * HOUR)
  await node.skewClock(seconds)
  return () => node.skewClock(0)
}

/** A statement whose locks last as long as its connection. */
async function holding(node: ServerNode, lock: () => string): Promise<Heal> {
  const connection = quiet(await node.connect('admin'))
  try {
    await connection.query(lock())
  } catch (error) {
    connection.destroy()
    throw error
  }
  return async () => {
    await connection.query('UNLOCK TABLES').catch(() => undefined)
    connection.destroy()
  }
}

/** Copies a table into a new one of the same name, again and again: writes to it wait meanwhile. */
async function rebuildTable(node: ServerNode, random: () => number): Promise<Heal> {
  const table = pick(await tablesOf(node), random)
  const connection = quiet(await node.connect('admin'))
  const healed = new AbortController()
  const rebuild = async (): Promise<void> => {
    // Others refer to the rows of some tables.
    await connection.query('SET SESSION foreign_key_checks = 0')
    while (!healed.signal.aborted) await connection.query(`ALTER TABLE ${table} FORCE, ALGORITHM = COPY`)
  }
  const ended = rebuild().catch(() => undefined) // The server may be hurt in another way too.
  return async () => {
    healed.abort()
    await ended
    connection.destroy()
  }
}

async function tablesOf(node: ServerNode): Promise<readonly string[]> {
  const rows = await node.run(
    "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') AS name FROM information_schema.tables WHERE table_schema = 'store' AND table_type = 'BASE TABLE' ORDER BY 1"
  )
  return rows.map(({ name }) => String(name))
}

async function fillDisk({ node, disk }: HurtServer): Promise<Heal> {
  await disk?.fill()
  return async () => {
    await disk?.free()
    // It may have ended itself.
    await node.start()
  }
}

/** An idle connection that is lost says so by an event, which nobody has to hear: its next statement fails. */
function quiet(connection: Connection): Connection {
  connection.on('error', () => undefined)
  return connection
}

function errnoOf(error: unknown): unknown {
  return error instanceof Error && 'errno' in error ? error.errno : undefined
}
