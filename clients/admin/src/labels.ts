import type { Property, Resource, Row } from './catalogue.js'
import { valueText } from './words.js'

// What rows are called.

type Named = Pick<Resource, 'label' | 'properties'>

/** The name of a row; its id where it has none. */
export function labelText(row: Row, { label, properties }: Named): string {
  const shown = (row[label] ?? null) === null ? 'id' : label
  return valueText(row[shown], properties.find(({ name }) => name === shown)?.type ?? 'string')
}

/** What people tell rows of the same name apart by: the first of these types that does, and else the id. */
const TELLING: readonly string[] = ['string', 'enum', 'date', 'int', 'long', 'decimal', 'guid']

/** How rows are called among each other: by their name, and by a second property where names repeat. */
export function distinctLabels(rows: readonly Row[], target: Named): (row: Row) => string {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(labelText(row, target), (counts.get(labelText(row, target)) ?? 0) + 1)
  const isRepeated = (row: Row): boolean => (counts.get(labelText(row, target)) ?? 0) > 1
  const repeated = rows.filter(isRepeated)
  const second = secondProperty(repeated, target)
  return (row) => (isRepeated(row) ? `${labelText(row, target)} (${secondText(row, second)})` : labelText(row, target))
}

function secondProperty(rows: readonly Row[], target: Named): Property | undefined {
  const candidates = target.properties.filter(
    ({ name, type, maxLength }) => name !== target.label && name !== 'id' && TELLING.includes(type) && maxLength <= 200
  )
  const tellsApart = (property: Property): boolean =>
    new Set(rows.map((row) => `${labelText(row, target)} ${secondText(row, property)}`)).size === rows.length
  return [...candidates.filter(({ unique }) => unique), ...candidates].find(tellsApart)
}

function secondText(row: Row, property: Property | undefined): string {
  return property === undefined ? valueText(row['id'], 'string') : valueText(row[property.name], property.type)
}
