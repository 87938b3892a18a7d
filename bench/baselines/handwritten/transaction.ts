import type { Pool, PoolConnection } from 'mysql2/promise'

const TRIES = 5

/** Deadlock and lock time-out. */
const REPEATABLE: readonly unknown[] = [1213, 1205]

/** Runs work in one transaction, again where it lost a race. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<Result>
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const result = await work(connection)
      await connection.commit()
      return result
    } catch (error) {
      await connection.rollback()
      const repeatable = error instanceof Error && 'errno' in error && REPEATABLE.includes(error.errno)
      if (!repeatable || tries === TRIES) throw error
    } finally {
      connection.release()
    }
  }
}
