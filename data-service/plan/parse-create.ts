import { parseJson } from './json-value.js'
import { readWrite, type ParsedCreate, type WriteTexts } from './parse-write.js'
import type { PlanningCall } from './planning.js'
import { readChildren } from './read-children.js'
import { readMembers } from './read-members.js'
import { admitWriter, claimedColumn, requireOperation } from './write-access.js'

export function parseCreate(
  texts: WriteTexts,
  { planning, caller: anyone }: PlanningCall,
  keyRequired: boolean
): ParsedCreate {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'create')
  const caller = admitWriter(resource, anyone)
  const claimed = claimedColumn(resource, { caller, ownership: planning.ownership })
  const body = parseJson(texts.body)
  const { columns, creation } = resource.entity
  const settable = columns.filter((column) => column !== resource.id && column.field.writability !== 'never')
  return readWrite(texts, { resource, caller, planning, body, keyRequired }, (findings) => ({
    claimed,
    values: readMembers(
      body,
      {
        columns: settable,
        at: '',
        defaults: true,
        others: creation.children.map(({ children }) => children.name),
        lenient: claimed
      },
      findings
    ),
    children: creation.children.map((one) => ({ children: one.children, rows: readChildren(body, one, findings) }))
  }))
}
