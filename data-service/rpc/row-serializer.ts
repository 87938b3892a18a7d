import type { Children } from '../entity/entity.js'
import type { PlannedReference, Projection, ShapedProperty } from '../plan/read-plan.js'
import type { LoadedRow } from '../plan/read-store.js'
import { propertyName } from '../plan/property-name.js'
import { valueReader } from './value-reader.js'
import { valueEncoder } from './value-encoder.js'

/** A row as the JSON object of the wire contract. */
export type RowSerializer = (row: LoadedRow) => string

const compiled = new WeakMap<Projection, RowSerializer>()

/** Compiled once a projection: each property becomes a closure that knows its place in the row and its type. */
export function rowSerializer(projection: Projection, references: readonly PlannedReference[]): RowSerializer {
  const known = compiled.get(projection)
  if (known !== undefined) return known
  const serializer = compile(projection, references)
  compiled.set(projection, serializer)
  return serializer
}

function compile(projection: Projection, references: readonly PlannedReference[]): RowSerializer {
  const members = projection.shown.map((property) => ({
    prefix: `${JSON.stringify(propertyName(property))}:`,
    text: memberText(property, projection, references)
  }))
  return (row) => {
    let json = '{'
    for (const { prefix, text } of members) json += (json.length === 1 ? prefix : `,${prefix}`) + text(row)
    return `${json}}`
  }
}

function memberText(
  property: ShapedProperty,
  projection: Projection,
  references: readonly PlannedReference[]
): RowSerializer {
  if (property.kind === 'reference') {
    const { name } = property.reference
    const planned = references.find((one) => one.reference === property.reference)
    if (planned === undefined) throw new TypeError(`reference ${name} is shown but not planned`)
    const nested = rowSerializer(planned.projection, [])
    return (row) => {
      const referenced = row.references.get(name)
      return referenced ? nested(referenced) : 'null'
    }
  }
  if (property.kind === 'children') {
    const { name } = property.children
    const item = childSerializer(property.children)
    return (row) => `[${(row.children.get(name) ?? []).map(item).join()}]`
  }
  const { read, encode } = valueReader(property, projection)
  return (row) => encode(read(row.values))
}

/** Columns in order, then the row version; hidden ones are loaded but not shown. */
function childSerializer({ columns }: Children): (values: LoadedRow['values']) => string {
  const versionAt = columns.length
  const encodeVersion = valueEncoder('bytes')
  const members = columns.flatMap(({ name, field }, index) =>
    field.hidden ? [] : [{ prefix: `${JSON.stringify(name)}:`, index, encode: valueEncoder(field.type) }]
  )
  return (values) => {
    let json = '{'
    for (const { prefix, index, encode } of members) json += `${prefix}${encode(values[index] ?? null)},`
    return `${json}"rowVersion":${encodeVersion(values[versionAt] ?? null)}}`
  }
}
