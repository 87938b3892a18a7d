import type { NamedValues } from '../entity/action.js'
import type { Column } from '../entity/fields/columns.js'
import type { Field, Operand, Value } from '../entity/fields/field.js'
import { fitDecimal, parseDecimal } from '../entity/fields/numbers.js'
import { isTooLong, MAX_VALUE_CHARACTERS } from './parsing/filters.js'
import { rejectUnknownParameters } from './planning.js'
import { quoted, type Violations } from './parsing/violations.js'
import { parseCustom } from '../entity/types/type-rules.js'
import { expected, outOfBounds, parseValue } from '../entity/types/types.js'

/**
 * The values of declared parameters by name, those of custom reads and operations. A parameter that was not sent has its
 * default, or null if it is optional. `sent` comes from a transport: each name that is not declared is a violation, and
 * so is each value that its field does not take. Nothing is rounded or cut to fit.
 */
export function readParameters(
  sent: Readonly<Record<string, string>>,
  declared: readonly Column[],
  { violations, code = 'filter.value.invalid' }: { readonly violations: Violations; readonly code?: ParameterCode }
): NamedValues {
  const names = new Set(declared.map(({ name }) => name))
  const values = declared.map(({ name, field }): [string, Value] => {
    const text = Object.hasOwn(sent, name) ? sent[name] : undefined
    if (text !== undefined) return [name, parseParameter(text, { name, field, code }, violations) ?? null]
    if (!field.nullable && field.defaultTo === undefined) {
      violations.add(code, name, {
        detail: `${name} is missing: it must be ${expected(field)}.`,
        rule: { rule: 'required' }
      })
    }
    return [name, field.defaultTo ?? null]
  })
  rejectUnknownParameters({ parameters: Object.keys(sent).filter((name) => !names.has(name)) }, violations)
  return Object.fromEntries(values)
}

/** The code of a value that does not fit: `id.invalid` for a part of a path. */
type ParameterCode = 'filter.value.invalid' | 'id.invalid'

function parseParameter(
  text: string,
  { name, field, code }: Pick<Column, 'name' | 'field'> & { readonly code: ParameterCode },
  violations: Violations
): Operand | undefined {
  if (isTooLong(text)) {
    violations.add(
      code === 'id.invalid' ? code : 'filter.too-many',
      name,
      `${name} has at most ${MAX_VALUE_CHARACTERS} characters.`
    )
    return undefined
  }
  // The bounds of the base type come first, so that the parser of an own type never gets a value beyond them.
  const value = parseValue(text, { ...field, custom: undefined })
  const violation = value === undefined ? undefined : outOfBounds(value, field)
  const parsed = value === undefined || violation !== undefined ? undefined : fitted(value, field)
  if (parsed !== undefined) return parsed
  const must = violation === undefined ? '' : `${name} must ${violation.message}.`
  violations.add(code, name, {
    detail: must || `${quoted(text)} is not ${expected(field)}.`,
    rule: violation?.rule
  })
  return undefined
}

function fitted(value: Operand, field: Field): Operand | undefined {
  const decimal = field.type === 'decimal' ? parseDecimal(String(value)) : undefined
  return parseCustom(decimal === undefined ? value : fitDecimal(decimal, field, 'exact'), field)
}
