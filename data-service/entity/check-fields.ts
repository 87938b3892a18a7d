import type { Column, Entity } from './entity.js'
import type { FieldType } from './field.js'

const CAMEL_CASE = /^[a-z][a-zA-Z0-9]*$/
const KEY_TYPES: readonly FieldType[] = ['int', 'long', 'guid']
/** SQLite holds decimals as scaled 64-bit integers, with one digit to spare for operands beyond the column. */
const MAX_PRECISION = 18

/** Mistakes in the columns of an entity and of its children, and in how their names get along. */
export function fieldMistakes(entity: Entity): string[] {
  const { columns, computed, joined, references, children } = entity
  return [
    ...nameMistakes([...columns, ...computed, ...joined, ...references, ...children].map((one) => one.name)),
    ...idMistakes(columns),
    ...columnMistakes(columns),
    ...computed.flatMap(({ name, from }) =>
      from
        .filter((source) => source.field.hidden)
        .map((source) => `computed \`${name}\` would show the hidden \`${source.name}\`.`)
    ),
    ...children.flatMap((child) =>
      [
        ...nameMistakes(child.columns.map((one) => one.name)),
        ...idMistakes(child.columns),
        ...columnMistakes(child.columns)
      ].map((mistake) => `children \`${child.name}\`: ${mistake}`)
    )
  ]
}

/** Names that are not camelCase, or the same but for case. */
export function nameMistakes(names: readonly string[]): string[] {
  const seen = new Map([['rowversion', 'rowVersion']])
  const mistakes: string[] = []
  for (const name of names) {
    const other = seen.get(name.toLowerCase())
    if (other !== undefined) mistakes.push(`\`${name}\` clashes with \`${other}\`: names are told apart without case.`)
    else seen.set(name.toLowerCase(), name)
    if (!CAMEL_CASE.test(name)) mistakes.push(`\`${name}\` must be camelCase.`)
  }
  return mistakes
}

function idMistakes([id]: readonly Column[]): string[] {
  const sound = id?.name === 'id' && KEY_TYPES.includes(id.field.type) && !id.field.nullable && !id.field.hidden
  return sound ? [] : [`\`id\` must be a visible int, long or guid that is never null.`]
}

/** Mistakes in what columns hold, and in their names in the database. */
export function columnMistakes(columns: readonly Column[]): string[] {
  const mistakes: string[] = []
  const named = new Map([['row_version', 'rowVersion']])
  for (const { name, column, field } of columns) {
    const other = named.get(column)
    if (other !== undefined && other !== name) {
      mistakes.push(`\`${name}\` and \`${other}\` share the column \`${column}\`.`)
    }
    named.set(column, name)
    if (field.type === 'string' && field.maxLength < 1) mistakes.push(`\`${name}\` needs a maximum length.`)
    if (field.type === 'string' && field.minLength > field.maxLength) {
      mistakes.push(`\`${name}\` has a minimum length above its maximum.`)
    }
    if (field.type !== 'decimal') continue
    if (!Number.isInteger(field.precision) || field.precision < 1 || field.precision > MAX_PRECISION) {
      mistakes.push(`\`${name}\` has precision ${field.precision}; it must be 1 to ${MAX_PRECISION} digits in all.`)
    }
    if (!Number.isInteger(field.scale) || field.scale < 0 || field.scale > field.precision) {
      mistakes.push(`\`${name}\` has scale ${field.scale}; it must be 0 to its precision, ${field.precision}.`)
    }
  }
  return mistakes
}
