import type { Record as WireRecord } from '../../shared/gen/entity/v1/Record.js'
import { selectedName } from '../plan/projection.js'
import type { PlannedReference, Projection } from '../plan/read-plan.js'
import type { LoadedRow } from '../plan/read-store.js'
import { rowSerializer } from './row-serializer.js'

/** Makes records of loaded rows; the raw row version goes along exactly when the shaped row shows it. */
export function recordEncoder(plan: {
  readonly projection: Projection
  readonly references: readonly PlannedReference[]
}): (row: LoadedRow) => WireRecord {
  const { projection, references } = plan
  const serialize = rowSerializer(projection, references)
  const showsVersion = projection.shown.some(({ kind }) => kind === 'rowVersion')
  const versionAt = showsVersion ? projection.selected.findIndex((one) => selectedName(one) === 'rowVersion') : -1
  return (row) => {
    const json = Buffer.from(serialize(row))
    const version = row.values[versionAt]
    return Buffer.isBuffer(version) ? { json, rowVersion: version } : { json }
  }
}
