import type { Column } from '../../entity/fields/columns.js'
import type { Field, Value } from '../../entity/fields/field.js'
import type { ResolvedShape } from '../../entity/fields/shape.js'
import { storedValue, valueEncoder } from '../../entity/types/types.js'

/** Writes what a handler answered as JSON. Throws TypeError for an answer that does not have its declared shape. */
export type AnswerEncoder = (answer: unknown) => string

/**
 * Compiled once for each operation. Only declared members are written, each value in the form that its field has on the
 * wire, so that a handler can pass a whole row on and no other member gets out.
 */
export function answerEncoder(shape: ResolvedShape, at = 'the answer'): AnswerEncoder {
  if (shape.kind === 'list') {
    const { item, min, max } = shape
    const encode =
      'kind' in item
        ? answerEncoder(item, `an item of ${at}`)
        : fieldEncoder({ name: `an item of ${at}`, column: '', field: item })
    return (answer) => {
      if (!Array.isArray(answer)) throw new TypeError(`${at} is no array`)
      if (answer.length < min || answer.length > max)
        throw new TypeError(`${at} has ${answer.length} items, and is of ${min} to ${max}`)
      return `[${answer.map(encode).join()}]`
    }
  }
  const members = shape.members.map((member) => {
    const name = member.kind === 'value' ? member.column.name : member.name
    return {
      name,
      prefix: `${JSON.stringify(name)}:`,
      encode: member.kind === 'value' ? fieldEncoder(member.column) : answerEncoder(member.shape, name)
    }
  })
  return (answer) => {
    if (typeof answer !== 'object' || answer === null) throw new TypeError(`${at} is no object`)
    const own = new Map(Object.entries(answer))
    return `{${members.map(({ name, prefix, encode }) => prefix + encode(own.get(name))).join()}}`
  }
}

/** A value that is left out is null. */
function fieldEncoder(column: Column): AnswerEncoder {
  const encode = valueEncoder(column.field.type)
  return (value) => encode(storedValue(valueOf(value, column.field), column))
}

function valueOf(value: unknown, { type }: Field): Value {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Buffer.isBuffer(value) || isTexts(value)) return value
  throw new TypeError(`a ${type} is no ${typeof value}`)
}

/** The words of a set. */
function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
