import type { Entity } from './entity.js'
import type { FieldType } from './field.js'
import { OPERATORS } from './operator.js'
import { suggestion } from './suggestion.js'

const LABEL_TYPES: readonly FieldType[] = ['string', 'int', 'long', 'guid']

/** Mistakes in what may be filtered, sorted and looked up. */
export function queryMistakes(entity: Entity): string[] {
  const { columns, joined, computed, filterable, sortable, label } = entity
  const visible = [...columns.filter((one) => !one.field.hidden), ...joined]
  const unfit = (name: string, list: string): string[] => {
    if (visible.some((one) => one.name === name)) return []
    if (columns.some((one) => one.name === name)) return [`${list} names the hidden \`${name}\`.`]
    if (computed.some((one) => one.name === name))
      return [`${list} names the computed \`${name}\`, which has no column.`]
    const near = suggestion(
      name,
      visible.map((one) => one.name)
    )
    return [`${list} names \`${name}\`, which is not a field.${near}`]
  }
  const mistakes = [
    ...[...filterable.keys()].flatMap((name) => unfit(name, 'filterable')),
    ...[...sortable].flatMap((name) => unfit(name, 'sortable'))
  ]
  for (const [name, operators] of filterable) {
    const type = visible.find((one) => one.name === name)?.field.type
    if (type === undefined) continue
    const known: readonly string[] = OPERATORS[type]
    if (operators.length === 0) mistakes.push(`filterable \`${name}\` is left without an operator.`)
    for (const operator of operators) {
      if (!known.includes(operator)) {
        mistakes.push(`\`${operator}\` is no operator of ${type} \`${name}\`, which has ${known.join(', ')}.`)
      }
    }
  }
  if (label.field.hidden || label.field.nullable || !LABEL_TYPES.includes(label.field.type)) {
    mistakes.push(`label \`${label.name}\` must be a visible string, int, long or guid that is never null.`)
  }
  return mistakes
}
