import type { Entity, Joined } from './entity.js'
import type { Field } from './field.js'
import { suggestion } from './suggestion.js'

/** Mistakes in references and in the properties joined through them: targets, key types, value types. */
export function navigationMistakes(entity: Entity, entities: readonly Entity[]): string[] {
  const targetOf = (name: string): Entity | undefined => entities.find((one) => one.name === name)
  const names = entities.map((one) => one.name)
  const mistakes: string[] = []
  for (const { name, to, via } of entity.references) {
    const key = targetOf(to)?.columns[0]
    if (key === undefined) {
      mistakes.push(`reference \`${name}\` leads to \`${to}\`, no resource.${suggestion(to, names)}`)
    } else if (key.field.type !== via.field.type) {
      mistakes.push(
        `reference \`${name}\`: \`${via.name}\` is ${via.field.type}, but the id of \`${to}\` is ${key.field.type}.`
      )
    }
  }
  for (const joined of entity.joined) {
    const target = targetOf(joined.through.to)
    if (target !== undefined) mistakes.push(...joinedMistakes(joined, target))
  }
  return mistakes
}

function joinedMistakes({ name, property, field, through }: Joined, target: Entity): string[] {
  const visible = target.columns.filter((one) => !one.field.hidden)
  const column = visible.find((one) => one.name === property)
  if (column === undefined) {
    const near = suggestion(
      property,
      visible.map((one) => one.name)
    )
    return [`joined \`${name}\`: \`${property}\` is not a field of \`${target.name}\`.${near}`]
  }
  const mistakes: string[] = []
  if (shape(field) !== shape(column.field)) {
    mistakes.push(
      `joined \`${name}\` is ${shape(field)}, but \`${target.name}.${property}\` is ${shape(column.field)}.`
    )
  }
  if (!field.nullable && (through.via.field.nullable || column.field.nullable)) {
    mistakes.push(`joined \`${name}\` must be optional: what it comes from may be null.`)
  }
  return mistakes
}

function shape(field: Field): string {
  if (field.type === 'decimal') return `decimal(${field.precision},${field.scale})`
  return field.type === 'string' ? `string(${field.maxLength})` : field.type
}
