import { isDeepStrictEqual } from 'node:util'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import type { Column } from '../entity/entity.js'
import type { Field, Value } from '../entity/fields/field.js'
import { presetFor } from '../entity/preset.js'
import type { TokenCaller } from '../entity/row-predicate.js'
import { storedJson } from '../entity/fields/json-parser.js'
import { Unmet } from '../entity/types/type-rules.js'
import { parseMember } from '../entity/types/types.js'

/** The values of a row that a request names. `at` is the JSON pointer of the row in the body. */
export interface NamedRow {
  readonly named: ReadonlyMap<Column, Value>
  readonly at: string
}

/**
 * The values that the presets of some columns give a new row. Throws `ownership.denied` where the caller has no value for
 * one, and where the request names another one.
 */
export function presetValues(
  columns: readonly Column[],
  { named, at }: NamedRow,
  caller: () => TokenCaller
): ReadonlyMap<Column, Value> {
  const preset = columns.filter(({ field }) => field.preset !== undefined)
  return new Map(
    preset.map((column): [Column, Value] => {
      const value = valueFor(column.field, caller())
      // The column may be one that the caller does not know of, so it has no name here.
      if (value === undefined) {
        throw new DomainError('ownership.denied', 'The access token lacks what a new row of this resource needs.')
      }
      if (named.has(column) && !isDeepStrictEqual(named.get(column), value)) {
        throw rejectionAt(
          'ownership.denied',
          `${column.name} may be left out; no other value than that of the access token is taken.`,
          { place: { in: 'pointer', name: `${at}/${column.name}` } }
        )
      }
      return [column, value]
    })
  )
}

/** The value as the body of a request would have it; undefined for none, and for one that the column does not take. */
function valueFor(field: Field, caller: TokenCaller): Exclude<Value, null> | undefined {
  const value = presetFor(field, caller)
  if (value === undefined || value === null) return undefined
  const parsed = parseMember(storedJson(bodyText(value, field)), field)
  return parsed instanceof Unmet || parsed === null ? undefined : parsed
}

function bodyText(value: NonNullable<unknown>, { type }: Field): string {
  if (typeof value === 'bigint') return type === 'long' ? `"${value}"` : String(value)
  if (Buffer.isBuffer(value)) return JSON.stringify(value.toString('base64'))
  // As rows have it, a json is a text.
  return type === 'json' && typeof value === 'string' ? value : JSON.stringify(value)
}
