import { QueryTypes, type Sequelize } from 'sequelize'
import type { Field, Value } from '../../../data-service/entity/fields/field.js'

/** A table to read: property to column and field. */
export interface ReadTable {
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly column: string; readonly field: Field }[]
}

/** What the drivers give, as connect sets them up. */
type Stored = string | number | null

export type StoredRow = Readonly<Record<string, Value>>

/** All rows of a table in order of id, in the values that every database has alike, with `rowVersion` in hex. */
export async function storedRows(sequelize: Sequelize, { table, columns }: ReadTable): Promise<StoredRow[]> {
  const sqlite = sequelize.getDialect() === 'sqlite'
  const names = columns.map(({ column }) => column).join(', ')
  const rows = await sequelize.query<Readonly<Record<string, Stored>>>(
    `SELECT ${names}, LOWER(HEX(row_version)) AS row_version FROM ${table} ORDER BY id`,
    { type: QueryTypes.SELECT }
  )
  return rows.map((row) => ({
    ...Object.fromEntries(columns.map(({ name, column, field }) => [name, valueOf(field, row[column], sqlite)])),
    rowVersion: String(row['row_version'])
  }))
}

function valueOf(field: Field, raw: Stored | undefined, sqlite: boolean): Value {
  if (raw === null || raw === undefined) return null
  switch (field.type) {
    case 'bool':
      return Number(raw) === 1
    case 'int':
      return Number(raw)
    case 'decimal':
      return sqlite
        ? String(raw)
            .padStart(field.scale + 1, '0')
            .replace(/(\d\d)$/, '.$1')
        : String(raw)
    case 'dateTime':
      return sqlite ? String(raw) : `${String(raw).replace(' ', 'T')}Z`
    default:
      return String(raw)
  }
}
