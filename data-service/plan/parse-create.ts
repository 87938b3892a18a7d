import type { FaultList } from './fault-list.js'
import { parseJson } from './json-value.js'
import { readWrite, type ParsedCreate, type WriteTexts } from './parse-write.js'
import type { PlanningCall } from './planning.js'
import { readChildren } from './read-children.js'
import { readMembers } from './read-members.js'
import { admitWriter, claimedColumn, requireOperation } from './write-access.js'

export interface CreateTexts extends WriteTexts {
  /** What the location of the new row begins with. */
  readonly linkBase: string
}

const LONGEST_LINK_BASE = 2048
/** Visible ASCII, as all of it goes into a header. */
const LINK_BASE = /^https?:\/\/[\x21-\x7e]+$/

export function parseCreate(
  texts: CreateTexts,
  { planning, caller: anyone }: PlanningCall,
  keyRequired: boolean
): ParsedCreate {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'create')
  const caller = admitWriter({ resource, route: 'create', texts }, anyone, planning.ownership)
  const claimed = claimedColumn(resource, { caller, ownership: planning.ownership })
  const body = parseJson(texts.body)
  const { columns, creation } = resource.entity
  const settable = columns.filter((column) => column !== resource.id && column.field.writability !== 'never')
  return readWrite(texts, { resource, caller, planning, body, keyRequired }, (findings) => {
    checkLinkBase(texts.linkBase, findings.faults)
    return {
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
    }
  })
}

function checkLinkBase(linkBase: string, faults: FaultList): void {
  if (linkBase === '') return
  if (linkBase.length > LONGEST_LINK_BASE) {
    faults.add('request.malformed', 'linkBase', `linkBase has at most ${LONGEST_LINK_BASE} characters.`)
  } else if (!LINK_BASE.test(linkBase)) {
    faults.add('request.malformed', 'linkBase', 'linkBase must be an http or https URL in ASCII.')
  }
}
