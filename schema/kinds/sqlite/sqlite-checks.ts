import type { Column } from '../../../data-service/entity/fields/columns.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import type { LiveColumn, LiveIndexKey, NativeType } from '../../model/live-schema.js'
import type {
  AddedIndex,
  MissingIndex,
  Misfit,
  SchemaChecks,
  VersionedTable,
  VersionTrigger
} from '../../model/schema-checks.js'
import { quotedIdentifier } from '../../../data-service/sql/engines/statement.js'
import { LONGEST_VARCHAR } from '../../model/tables.js'

/** SQLite, whose columns have an affinity, which decides what becomes of a value that is stored. */
export function sqliteChecks(): SchemaChecks {
  return {
    misfit: affinityMisfit,
    // Texts are compared by their sort key, whatever the collation of the column.
    comparesOtherwise: () => undefined,
    holdsVersions: ({ type }) => type.base === 'blob',
    isSortedBy,
    knowsNulls: ({ kind }) => kind === 'table',
    mend: {
      changeEngine: () => undefined,
      addVersion: ({ table, column }) =>
        `ALTER TABLE ${quotedIdentifier(table)} ADD COLUMN ${quotedIdentifier(column)} BLOB NOT NULL DEFAULT x'${'00'.repeat(8)}'`,
      versionTriggers: sqliteVersionTriggers,
      // It changes no column of a table that is there.
      changeColumn: () => undefined,
      addIndex: addSqliteIndex,
      addForeignKey: () => undefined
    }
  }
}

type Affinity = NonNullable<NativeType['affinity']>

/** The affinities of columns that keep the values of a field as they are. Those that hold no type are `blob`. */
function affinitiesOf({ type, unsigned }: Field): readonly Affinity[] {
  switch (type) {
    case 'string':
    case 'guid':
    case 'enum':
    case 'set':
    case 'json':
      return ['text']
    // What looks like no number stays text in a column that is declared DATETIME.
    case 'dateTime':
    case 'date':
    case 'time':
      return ['text', 'numeric']
    case 'bool':
    case 'int':
      return ['integer', 'numeric']
    case 'long':
      return unsigned ? ['text', 'integer'] : ['integer', 'numeric']
    // Whole numbers of the smallest unit: a column that is declared DECIMAL holds amounts as floating-point numbers.
    case 'decimal':
      return ['integer']
    case 'double':
      return ['real', 'numeric']
    case 'binary':
    case 'base64url':
      return ['blob']
  }
}

function affinityMisfit(field: Field, { nativeType, type }: LiveColumn): Misfit | undefined {
  const affinities = affinitiesOf(field)
  // A column of a view that is computed declares no type, and a BLOB keeps every value as it is.
  if (type.affinity === undefined || type.affinity === 'blob' || affinities.includes(type.affinity)) return undefined
  const declared = nativeType === '' ? 'without a type' : `declared ${nativeType}`
  return {
    // A DATE column makes a number of a text that looks like one. What is a text there is read as it is.
    harms: affinities.includes('text') && type.affinity === 'numeric' ? 'writes' : 'reads',
    why: `a column ${declared} does not keep such values as they are`,
    word: WORDS[type.affinity],
    columnType: undefined
  }
}

const WORDS: Readonly<Record<Affinity, string | undefined>> = {
  integer: 'long()',
  text: 'text(…)',
  blob: 'binary(…)',
  real: 'double()',
  numeric: 'double()'
}

/** Texts are sorted by a key of their own (sqlite-dialect.ts). */
function isSortedBy(key: LiveIndexKey, { column, field }: Column): boolean {
  if (key.column?.toLowerCase() !== column.toLowerCase()) return false
  return hasSortKey(field) ? key.expression?.startsWith('sort_key(') === true : key.expression === undefined
}

function hasSortKey({ type }: Field): boolean {
  return type === 'string' || type === 'enum'
}

/**
 * A program that has no `sort_key` cannot make an index by it, and cannot write its table afterwards. So a migration makes
 * such an index, and no statement that is pasted anywhere.
 */
function addSqliteIndex({ table, column: { column, field }, key }: MissingIndex): AddedIndex {
  if (field.maxBytes !== undefined || field.maxLength > LONGEST_VARCHAR) {
    return {
      statements: [],
      note: 'No migration makes an index of such long texts: it sorts well on small tables alone'
    }
  }
  if (hasSortKey(field)) {
    return {
      statements: [],
      note:
        `addIndexes(${JSON.stringify(table)}, (t) => [t.sorted(${JSON.stringify(column)})]) in a migration makes what serves it. Other programs could not ` +
        'write the table any more, since only the service has the order of texts'
    }
  }
  const more = key.filter((one) => one !== column).map((one) => `, ${quotedIdentifier(one)}`)
  const name = quotedIdentifier(`${table}_${column}`)
  return {
    statements: [`CREATE INDEX ${name} ON ${quotedIdentifier(table)} (${quotedIdentifier(column)}${more.join('')})`]
  }
}

const VERSION_BYTES = 8
/** All bytes in order, so that the one behind a byte stands behind it. */
const ALL_BYTES = `x'${Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('')}'`
const zeroBytes = (count: number): string => `x'${'00'.repeat(count)}'`

/**
 * The version after the one in `v`, in SQL alone: programs that do not know `next_row_version` run it. SQLite reads no
 * number out of bytes, so the last byte that is not the highest is looked up among `t`, all bytes, and those behind it
 * become zero.
 */
function sqliteNextVersion(column: string): string {
  const cases = Array.from({ length: VERSION_BYTES }, (_, zeros) => {
    const at = VERSION_BYTES - zeros
    const next = `substr(t, instr(t, substr(v, ${at}, 1)) + 1, 1)`
    const parts = [...(at > 1 ? [`substr(v, 1, ${at - 1})`] : []), next, ...(zeros > 0 ? [zeroBytes(zeros)] : [])]
    return `WHEN substr(v, ${at}, 1) <> x'ff' THEN ${parts.join(' || ')}`
  })
  return `(SELECT CAST(CASE ${cases.join(' ')} ELSE ${zeroBytes(VERSION_BYTES)} END AS BLOB) FROM (SELECT ${column} AS v, ${ALL_BYTES} AS t))`
}

/**
 * A row whose version was left as it was gets the next one, and a new row without one 64 random bits, since a row that was
 * deleted and is inserted again under its key must have no version that it had before. An UPDATE of the service, which
 * sets the next version itself, is left alone.
 */
function sqliteVersionTriggers({ table, column, key }: VersionedTable): VersionTrigger[] {
  const [version, old] = [`NEW.${quotedIdentifier(column)}`, `OLD.${quotedIdentifier(column)}`]
  const row = key.map((one) => `${quotedIdentifier(one)} IS NEW.${quotedIdentifier(one)}`).join(' AND ')
  const trigger = (event: 'insert' | 'update', when: string, value: string): VersionTrigger => {
    const name = `${table}_version_${event}`
    const statement =
      `CREATE TRIGGER ${quotedIdentifier(name)} AFTER ${event.toUpperCase()} ON ${quotedIdentifier(table)} WHEN ${when} BEGIN ` +
      `UPDATE ${quotedIdentifier(table)} SET ${quotedIdentifier(column)} = ${value} WHERE ${row}; END`
    return { name, event, statement }
  }
  return [
    trigger('insert', `${version} IS ${zeroBytes(VERSION_BYTES)}`, `randomblob(${VERSION_BYTES})`),
    trigger('update', `${version} IS ${old}`, sqliteNextVersion(old))
  ]
}
