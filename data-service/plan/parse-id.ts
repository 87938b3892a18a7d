import type { Field } from '../entity/field.js'
import type { Operand } from '../entity/value.js'
import { quoted, type FaultList } from './fault-list.js'
import { expected, parseValue } from './parse-value.js'

/** No id of any type needs more; leading zeros included. */
const MAX_ID_CHARACTERS = 100

/** The id of a path; one that is none goes on the list. */
export function parseId(text: string, field: Field, faults: FaultList): Operand {
  const wellFormed = text.length <= MAX_ID_CHARACTERS && !text.startsWith('+')
  const id = wellFormed ? parseValue(text, field) : undefined
  if (id !== undefined) return id
  faults.add('id.invalid', 'id', `${quoted(text)} is no id here: it must be ${expected(field)}.`)
  return ''
}
