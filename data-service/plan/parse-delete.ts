import { FaultList } from './fault-list.js'
import { parseId } from './parse-id.js'
import { optionalVersions } from './parse-precondition.js'
import type { UpdateTexts } from './parse-update.js'
import type { ParsedDelete } from './parse-write.js'
import { refuseUnplaced, type PlanningCall } from './planning.js'
import { admitWriter, requireOperation } from './write-access.js'

export function parseDelete(
  texts: Pick<UpdateTexts, 'resource' | 'id' | 'ownerParameter' | 'precondition' | 'unplaced'>,
  { planning, caller: anyone }: PlanningCall
): ParsedDelete {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'delete')
  const caller = admitWriter({ resource, route: 'delete', texts }, anyone, planning.ownership)
  const expected = optionalVersions(texts.precondition)
  const faults = new FaultList()
  const id = parseId(texts.id, resource.id.field, faults)
  refuseUnplaced(texts.unplaced, faults)
  faults.finish()
  return { resource, writer: { caller, ownership: planning.ownership }, id, expected }
}
