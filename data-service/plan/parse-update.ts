import type { Operand } from '../entity/value.js'
import type { BodyFindings } from './body-findings.js'
import type { Resource } from './catalogue.js'
import { isObject, parseJson, type JsonValue } from './json-value.js'
import { parseId } from './parse-id.js'
import { parseMember } from './parse-member.js'
import { requiredVersions, type PreconditionFound } from './parse-precondition.js'
import { readWrite, type ParsedUpdate, type WriteTexts } from './parse-write.js'
import type { PlanningCall } from './planning.js'
import { readMembers } from './read-members.js'
import { admitWriter, requireOperation } from './write-access.js'

export interface UpdateTexts extends WriteTexts {
  readonly id: string
  readonly precondition: PreconditionFound
}

/** A PUT: every member that it may set gets a value, null where it is left out. */
export function parseUpdate(texts: UpdateTexts, { planning, caller: anyone }: PlanningCall): ParsedUpdate {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'update')
  const caller = admitWriter({ resource, route: 'update', texts }, anyone, planning.ownership)
  const expected = requiredVersions(texts.precondition)
  const body = parseJson(texts.body)
  const { entity } = resource
  const settable = entity.columns.filter((column) => column !== resource.id && column.field.writability === 'always')
  return readWrite(texts, { resource, caller, planning, body, keyRequired: false }, (findings) => {
    const id = parseId(texts.id, resource.id.field, findings.faults)
    checkId(body, { resource, id }, findings)
    const values = readMembers(body, { columns: settable, at: '', defaults: false, others: ['id'] }, findings)
    return { expected, id, values }
  })
}

/** An id in the body is allowed where it is the path's own. */
function checkId(
  body: JsonValue,
  of: { readonly resource: Resource; readonly id: Operand },
  findings: BodyFindings
): void {
  // A bad id of the path is a fault already.
  if (of.id === '' || !isObject(body) || !Object.hasOwn(body, 'id')) return
  const named = parseMember(body['id'] ?? null, of.resource.id.field)
  if (named !== of.id) findings.faults.addAt('/id', 'id differs from the id of the path.', 'id.mismatch')
}
