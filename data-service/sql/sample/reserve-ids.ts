import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { exclusively } from '../migrations/exclusively.js'

/**
 * Takes `count` ids in a row out of the table's own numbering, above all that were ever given, and returns the first.
 * Rows that a running service adds meanwhile are numbered behind them.
 */
export async function reserveIds(sequelize: Sequelize, table: string, count: number): Promise<number> {
  return exclusively(sequelize, 'sample', (transaction) => {
    const numbering = { table, count, transaction }
    return sequelize.getDialect() === 'sqlite'
      ? reserveSqlite(sequelize, numbering)
      : reserveMysql(sequelize, numbering)
  })
}

interface Numbering {
  readonly table: string
  readonly count: number
  readonly transaction: Transaction
}

async function reserveSqlite(sequelize: Sequelize, { table, count, transaction }: Numbering): Promise<number> {
  const bind = { table, count }
  const [row] = await sequelize.query<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = $table', {
    bind: { table },
    transaction,
    type: QueryTypes.SELECT
  })
  const statement =
    row === undefined
      ? 'INSERT INTO sqlite_sequence (name, seq) VALUES ($table, $count)'
      : 'UPDATE sqlite_sequence SET seq = seq + $count WHERE name = $table'
  await sequelize.query(statement, { bind, transaction })
  return (row?.seq ?? 0) + 1
}

/** The table's DDL tells the counter as it is, information_schema a cached one on MySQL. */
async function reserveMysql(sequelize: Sequelize, { table, count, transaction }: Numbering): Promise<number> {
  await sequelize.query(`LOCK TABLES \`${table}\` WRITE`, { transaction })
  try {
    const [row] = await sequelize.query<{ 'Create Table': string }>(`SHOW CREATE TABLE \`${table}\``, {
      transaction,
      type: QueryTypes.SELECT
    })
    const first = Number(/ AUTO_INCREMENT=(\d+)/.exec(row?.['Create Table'] ?? '')?.[1] ?? 1)
    await sequelize.query(`ALTER TABLE \`${table}\` AUTO_INCREMENT = ${first + count}`, { transaction })
    return first
  } finally {
    await sequelize.query('UNLOCK TABLES', { transaction })
  }
}
