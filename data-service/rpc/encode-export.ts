import type { ExportRows } from '../../shared/gen/entity/v1/ExportRows.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Value } from '../entity/value.js'
import type { Resource } from '../plan/catalogue.js'
import type { ExportPlan, Projection } from '../plan/read-plan.js'
import { describeProperty } from './describe-property.js'
import { valueReader } from './value-reader.js'

/** Characters of JSON a message aims at: large enough to be cheap, small enough for a slow reader to take it soon. */
const MESSAGE_CHARACTERS = 64 * 1024

/** The columns of an export, as the header describes them. */
export function exportColumns(plan: ExportPlan, resource: Resource): readonly Property[] {
  return plan.projection.shown.flatMap((property) => describeProperty(property, resource) ?? [])
}

/** Rows as JSON arrays of arrays of bounded size. */
export function* exportMessages(rows: readonly (readonly Value[])[], projection: Projection): Generator<ExportRows> {
  const cells = projection.shown.map((property) => {
    if (property.kind === 'reference' || property.kind === 'children') {
      throw new TypeError('a navigation cannot be exported')
    }
    return valueReader(property, projection)
  })
  let json = ''
  let count = 0
  for (const values of rows) {
    json += `${count === 0 ? '[' : ','}[${cells.map(({ read, encode }) => encode(read(values))).join()}]`
    count++
    if (json.length < MESSAGE_CHARACTERS) continue
    yield { json: Buffer.from(`${json}]`), count }
    json = ''
    count = 0
  }
  if (count > 0) yield { json: Buffer.from(`${json}]`), count }
}
