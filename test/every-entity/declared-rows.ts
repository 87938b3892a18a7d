import type { ReadAccess } from '../../data-service/entity/access.js'
import type { Entity } from '../../data-service/entity/entity.js'
import {
  ROWS_WORDS,
  type Rows,
  type RowsCall,
  type RowsWanted,
  type RowTest
} from '../../data-service/entity/row-predicate.js'
import { parseCondition } from '../oracle/condition.js'
import type { WireValue } from '../oracle/wire-value.js'
import type { Row } from './call.js'
import type { Caller } from './caller.js'
import type { Predicated } from './rule.js'

// Row scopes of an entity without a rule in rules.ts: what its file says, judged in memory and not by SQL.

/** The order in which rejections are told (contract.md section 2). */
const REJECTIONS = ['auth.required', 'capability.denied', 'ownership.denied']

type Judge = Required<Predicated>

/** What an access with a predicate lets a caller see. */
export function declaredRows(entity: Entity, access: ReadAccess): Judge {
  const withToken = ({ token }: Caller): string | undefined => (token === 'none' ? 'auth.required' : undefined)
  switch (access.kind) {
    case 'everyone':
      return { rows: () => true, rejects: () => undefined, asksForBypass: () => false }
    case 'permission':
      return {
        rows: () => true,
        rejects: (caller) =>
          withToken(caller) ?? (caller.permissions.has(access.permission) ? undefined : 'capability.denied'),
        asksForBypass: () => false
      }
    case 'ownRows':
      return {
        rows: (row, { bypass, owner }) => bypass || String(row[access.property]) === String(owner),
        rejects: (caller) =>
          withToken(caller) ?? (caller.bypass || caller.owner !== null ? undefined : 'ownership.denied'),
        asksForBypass: ({ token }) => token !== 'none'
      }
    case 'rows': {
      const rejects = (caller: Caller): string | undefined => (access.anonymous ? undefined : withToken(caller))
      return {
        rows: (row, caller) => holds(entity, ask(access, caller).wanted, row),
        rejects,
        asksForBypass: (caller) => rejects(caller) === undefined && ask(access, caller).asked
      }
    }
    case 'allOf': {
      const parts = access.parts.map((part) => declaredRows(entity, part))
      return {
        rows: (row, caller) => parts.every((part) => part.rows(row, caller)),
        rejects: (caller) => first(parts, caller),
        asksForBypass: (caller) => parts.some((part) => part.asksForBypass(caller))
      }
    }
    case 'anyOf': {
      const parts = access.parts.map((part) => declaredRows(entity, part))
      const open = (caller: Caller): Judge[] => parts.filter((part) => part.rejects(caller) === undefined)
      return {
        rows: (row, caller) => open(caller).some((part) => part.rows(row, caller)),
        rejects: (caller) => (open(caller).length > 0 ? undefined : first(parts, caller)),
        asksForBypass: (caller) => parts.some((part) => part.asksForBypass(caller))
      }
    }
  }
}

function first(parts: readonly Judge[], caller: Caller): string | undefined {
  const codes = parts.map((part) => part.rejects(caller))
  return REJECTIONS.find((code) => codes.includes(code))
}

/** What the predicate wants for a caller, and whether it asked for the bypass role. */
function ask({ predicate }: Rows, caller: Caller): { readonly wanted: RowsWanted; readonly asked: boolean } {
  let asked = false
  const { name, token, claims, permissions, owner, bypass } = caller
  const authenticated = {
    kind: 'authenticated',
    issuer: 'every-entity',
    subject: name,
    roles: [String(claims['role'])],
    permissions,
    owner: owner === null ? null : BigInt(owner),
    claims: { sub: name, ...claims },
    get hasBypassRole() {
      asked = true
      return bypass
    }
  }
  const call = {
    caller: token === 'none' ? { kind: 'anonymous' } : authenticated,
    where: (property: string, operator: string, ...operands: readonly unknown[]) => ({ property, operator, operands }),
    ...ROWS_WORDS
  }
  // The types of an entity file tie `where` to the fields of its own.
  const wanted = predicate(call as unknown as RowsCall<never, never>)
  return { wanted, asked }
}

function holds(entity: Entity, wanted: RowsWanted, row: Row): boolean {
  if (wanted === 'all' || wanted === 'none') return wanted === 'all'
  if ('anyOf' in wanted) return wanted.anyOf.some((part) => holds(entity, part, row))
  if ('allOf' in wanted) return wanted.allOf.every((part) => holds(entity, part, row))
  return meets(entity, wanted, row)
}

function meets(entity: Entity, test: Extract<RowTest, { readonly property: string }>, row: Row): boolean {
  const { property: name, operator, operands } = test
  const column = entity.columns.find((one) => one.name === name)
  if (column === undefined) throw new Error(`${entity.name} has no ${name}`)
  const members = operands.flat().map((one) => String(one))
  if (members.length === 0 && operands.length > 0) return false
  const isList = operands.length > 1 || Array.isArray(operands[0])
  const value = isList ? members.map((one) => `"${one.replaceAll('"', '""')}"`).join() : (members[0] ?? '')
  const { type, nullable, scale } = column.field
  const parsed = parseCondition({ name, type, nullable, scale, sql: name, selectable: true }, operator, value)
  if ('code' in parsed) throw new Error(`${entity.name}.${name} ${operator} ${value}: ${parsed.code}`)
  return parsed((row[name] ?? null) as WireValue) // rows come out of the database as wire values
}
