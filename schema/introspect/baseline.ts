import { permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import type { Entity } from '../../data-service/entity/entity.js'
import { column } from '../../data-service/entity/fields/words.js'
import { type ColumnWord, fieldOfWord, isColumnWord } from '../model/column-types.js'
import type { ColumnType, TableStep } from '../model/tables.js'
import { difference } from '../migrations/difference.js'
import { entityTables } from '../migrations/entity-tables.js'
import { migrationFile } from '../migrations/migration-file.js'
import type { EntityDraft } from './entity-draft.js'

/**
 * The text of the migration that states the tables and views as the entity files see them. A database that has them records
 * it and runs no statement; an empty one of any kind, such as that of a test, gets them by it, a table in place of each view.
 */
export function baselineFile(name: string, drafts: readonly EntityDraft[], isTyped: boolean): string {
  const wanted = entityTables(drafts.map(entityOf), 'primary')
  const { steps, problems } = difference(new Map(), wanted, { engineTables: new Set() })
  const made = new Set(steps.map(({ table }) => table))
  const missing = [...wanted.tables.keys()].filter((table) => !made.has(table))
  if (missing.length > 0) {
    throw new Error(
      `The baseline has no step for ${missing.join(', ')}, since no migration can say: ${problems.join('; ')}`
    )
  }
  const filled = new Set(
    drafts.flatMap(({ table, fields }) =>
      fields.filter(({ word }) => hasFilled(word)).map(({ column: filledColumn }) => `${table}.${filledColumn}`)
    )
  )
  return migrationFile(
    name,
    steps.map((step) => withFilled(step, filled)),
    { isTyped, isBaseline: true }
  )
}

/** Words for columns that the database fills, by an expression that no builder of migrations can say. */
function isFilled({ word }: ColumnWord): boolean {
  return word === 'generated' || word === 'filledByDatabase'
}

/** Whether one of them stands anywhere in the word: `hidden(filledByDatabase(text(60)))`. */
function hasFilled(word: ColumnWord): boolean {
  return isFilled(word) || word.args.some((one) => isColumnWord(one) && hasFilled(one))
}

/**
 * A column that the database fills gets a default that is the same for all rows: the expression is in the database alone, and
 * an empty one needs some value.
 */
function withFilled(step: TableStep, filled: ReadonlySet<string>): TableStep {
  if (step.kind !== 'createTable') return step
  const columns = step.definition.columns.map((one) => {
    const value = filled.has(`${step.table}.${one.name}`) && !one.nullable ? anyValueOf(one.type) : undefined
    return value === undefined ? one : { ...one, defaultTo: value }
  })
  return { ...step, definition: { ...step.definition, columns } }
}

function anyValueOf(type: ColumnType): string | number | boolean | undefined {
  switch (type.kind) {
    case 'varchar':
    case 'text':
    case 'set':
    case 'varbinary':
      return ''
    case 'guid':
      return '00000000-0000-0000-0000-000000000000'
    case 'boolean':
      return false
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'double':
    case 'float':
    case 'bit':
      return 0
    case 'bigint':
    case 'decimal':
      return '0'
    case 'year':
      return 2000
    case 'datetime':
      return '1970-01-01T00:00:00.000Z'
    case 'date':
      return '1970-01-01'
    case 'time':
      return '00:00:00'
    case 'enum':
      return type.words[0]
    case 'json':
      return '{}'
    case 'binary':
      return Buffer.alloc(type.length).toString('base64')
    case 'rowVersion':
      return undefined
  }
}

/** The entity that the file of a draft defines. Its words are called by name, which the compiler cannot follow. */
function entityOf(draft: EntityDraft): Entity {
  const { resource, table, key, label, writes, filterable, sortable, fullText, references, versionColumn } = draft
  const fields = Object.fromEntries(
    draft.fields.map((field) => [field.property, column(field.column, fieldOfWord(plainWord(field.word)))])
  )
  const definition = {
    name: resource,
    table,
    description: resource,
    ...(versionColumn !== undefined ? { writes } : key.length === 0 ? {} : { rowVersion: 'none' }),
    ...(key.length === 0 ? { key: 'none' } : key.length > 1 ? { key } : {}),
    fields,
    ...(label === undefined ? {} : { label }),
    filterable,
    sortable,
    searchable: fullText.length === 0 ? [] : { fullText },
    references: Object.fromEntries(
      references.map(({ name, to, via }) => [name, { to, via: via.length === 1 ? via[0] : via }])
    ),
    access: { read: permission('tables:read'), write: permission('tables:write') }
  }
  return defineEntity(definition as never)
}

/** The word without what says that the database fills the column, which migrations have no word for. */
function plainWord({ word, args }: ColumnWord): ColumnWord {
  const plain = args.map((one) => (isColumnWord(one) ? plainWord(one) : one))
  const [inner] = plain
  return isFilled({ word, args }) && inner !== undefined && isColumnWord(inner) ? inner : { word, args: plain }
}
