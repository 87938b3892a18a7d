import type { Action, GuardedChild } from '../entity/action.js'
import { asRowVersion, type RowVersion } from '../entity/row-version.js'
import { decodeBase64 } from '../../shared/strict-base64.js'
import { DomainError } from '../../shared/domain-error.js'
import type { BodyFindings } from './body-findings.js'
import { isObject, parseJson, type JsonValue } from './json-value.js'
import { parseId } from './parse-id.js'
import { requiredVersions } from './parse-precondition.js'
import type { UpdateTexts } from './parse-update.js'
import { readWrite, type ParsedUpdate } from './parse-write.js'
import type { PlanningCall } from './planning.js'
import { readMembers } from './read-members.js'
import { admitWriter } from './write-access.js'

export interface ActTexts extends UpdateTexts {
  readonly action: string
}

/** An action's call; `values` are its input. */
export interface ParsedAct extends ParsedUpdate {
  readonly action: Action
  readonly childVersion: RowVersion | undefined
}

export function parseAct(texts: ActTexts, { planning, caller: anyone }: PlanningCall): ParsedAct {
  const resource = planning.catalogue.resource(texts.resource)
  const action = resource.entity.actions.get(texts.action)
  if (action === undefined) throw new DomainError('route.not-found', 'There is no such action.')
  const { permission } = action
  const caller = admitWriter({ resource, route: action.name, texts, permission }, anyone, planning.ownership)
  const expected = requiredVersions(texts.precondition)
  const body = texts.body.length === 0 ? {} : parseJson(texts.body)
  const { input, guardedChild } = action
  return readWrite(texts, { resource, caller, planning, body, keyRequired: false }, (findings) => {
    const id = parseId(texts.id, resource.id.field, findings.faults)
    const others = guardedChild === undefined ? [] : [guardedChild.versionMember]
    const values = readMembers(body, { columns: input, at: '', defaults: true, others }, findings)
    const childVersion = guardedChild && readVersion(body, guardedChild, findings)
    return { action, expected, id, values, childVersion }
  })
}

/** The child's version, in the base64 that reads show it in (contract.md section 5, child precondition). */
function readVersion(body: JsonValue, { versionMember }: GuardedChild, findings: BodyFindings): RowVersion | undefined {
  if (!isObject(body)) return undefined
  const member = Object.hasOwn(body, versionMember) ? body[versionMember] : undefined
  const bytes = typeof member === 'string' ? decodeBase64(member) : undefined
  const version = bytes && asRowVersion(bytes)
  if (version === undefined) {
    const detail = `${versionMember} must be the rowVersion that the row was last read with, in base64.`
    findings.faults.addAt(`/${versionMember}`, detail)
  }
  return version
}
