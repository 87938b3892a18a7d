import { setTimeout as delay } from 'node:timers/promises'
import { QueryTypes, Transaction, type Sequelize } from 'sequelize'

const WAIT_SECONDS = 600
const SQLITE_POLL_MS = 50

/**
 * Runs `work` in a transaction while no other process runs work under the same `name` against the same database;
 * others wait until it has committed. A process that dies gives the lock back. On MariaDB and MySQL it takes two
 * connections of the pool, on SQLite the one writer's lock of the file, whatever the name.
 */
export async function exclusively<T>(
  sequelize: Sequelize,
  name: string,
  work: (transaction: Transaction) => Promise<T>
): Promise<T> {
  return sequelize.getDialect() === 'sqlite' ? alone(sequelize, work) : locked(sequelize, name, work)
}

/** The lock belongs to a connection of its own, since it must outlast the commit of the work. */
async function locked<T>(
  sequelize: Sequelize,
  name: string,
  work: (transaction: Transaction) => Promise<T>
): Promise<T> {
  return sequelize.transaction(async (holder) => {
    // Lock names are of the whole server and at most 64 characters.
    const lock = "CONCAT(MD5(DATABASE()), ':', $name)"
    const options = { bind: { name }, transaction: holder, type: QueryTypes.SELECT } as const
    const [row] = await sequelize.query<{ got: unknown }>(`SELECT GET_LOCK(${lock}, ${WAIT_SECONDS}) AS got`, options)
    if (Number(row?.got) !== 1) throw new Error(`The database's ${name} lock was not free within ${WAIT_SECONDS} s`)
    try {
      return await sequelize.transaction(work)
    } finally {
      await sequelize.query(`SELECT RELEASE_LOCK(${lock})`, options)
    }
  })
}

async function alone<T>(sequelize: Sequelize, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_SECONDS * 1000
  for (;;) {
    let started = false
    try {
      return await sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, (transaction) => {
        started = true
        return work(transaction)
      })
    } catch (error) {
      if (started || !isBusy(error) || performance.now() > deadline) throw error
      await delay(SQLITE_POLL_MS)
    }
  }
}

/** Whether another connection holds the file. The driver's error may be wrapped by Sequelize. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && (/SQLITE_BUSY|database is locked/.test(error.message) || isBusy(error.cause))
}
