import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Entity } from '../../entity/entity.js'
import { exclusively } from '../migrations/exclusively.js'
import { NUMBERED_GUIDS, numberOfGuid } from './numbered-guid.js'

/**
 * Takes `count` numbers in a row for new roots and returns the first. Ids that are int or long come out of the table's
 * own numbering, above all that were ever given, and rows that a running service adds meanwhile are numbered behind
 * them. Guids are numbered behind those of the sample rows that are there, and nothing keeps another loader off them.
 */
export async function reserveIds(sequelize: Sequelize, { table, columns }: Entity, count: number): Promise<number> {
  if (columns[0]?.field.type === 'guid') return nextGuidNumber(sequelize, table)
  return exclusively(sequelize, 'sample', (transaction) => {
    const numbering = { table, count, transaction }
    return sequelize.getDialect() === 'sqlite'
      ? reserveSqlite(sequelize, numbering)
      : reserveMysql(sequelize, numbering)
  })
}

async function nextGuidNumber(sequelize: Sequelize, table: string): Promise<number> {
  const [row] = await sequelize.query<{ last: string | null }>(
    `SELECT MAX(id) AS last FROM \`${table}\` WHERE id BETWEEN $first AND $beyond`,
    { bind: { first: NUMBERED_GUIDS, beyond: `${NUMBERED_GUIDS}g` }, type: QueryTypes.SELECT }
  )
  const last = row?.last ?? undefined
  return last === undefined ? 1 : numberOfGuid(last) + 1
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
