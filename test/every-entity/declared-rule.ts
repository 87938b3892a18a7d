import type { ReadAccess, WriteAccess } from '../../data-service/entity/access.js'
import type { CustomRead } from '../../data-service/entity/custom-read.js'
import { type Children, type Column, type Entity, tellingColumns } from '../../data-service/entity/entity.js'
import { hasRowVersion } from '../../data-service/entity/fields/row-version.js'
import { presetFor } from '../../data-service/entity/preset.js'
import {
  ROWS_WORDS,
  type Rows,
  type RowsCall,
  type RowsWanted,
  type RowTest,
  type TokenCaller
} from '../../data-service/entity/row-predicate.js'
import { parseCondition } from '../oracle/condition.js'
import { propertyOf } from '../oracle/entity-oracle.js'
import type { WireValue } from '../oracle/wire-value.js'
import type { Caller } from './callers.js'
import type { CustomReadRule, EntityRule, Guard, OwnerFilter, Predicated, Rule } from './rule.js'
import type { Row } from './transports.js'

/** The rule of each entity: what its file declares, and above it what was written by hand. */
export function rulesOf(
  entities: readonly Entity[],
  byHand: Readonly<Record<string, EntityRule>>
): (entity: Entity) => Rule {
  const strangers = Object.keys(byHand).filter((name) => entities.every((one) => one.name !== name))
  if (strangers.length > 0) throw new TypeError(`There are rules of ${strangers.join(', ')}, which is no entity.`)
  const rules = new Map<string, Rule>()
  return (entity) => {
    const known = rules.get(entity.name)
    if (known !== undefined) return known
    const declared = declaredRule(entity, entities)
    const own = byHand[entity.name] ?? {}
    const reads = own.reads ?? (own.read === undefined ? declared.reads : {})
    const singleWrites = own.singleWrites ?? (own.write === undefined ? declared.singleWrites : {})
    const rule = { ...declared, ...own, reads, singleWrites, states: { ...declared.states, ...own.states } }
    rules.set(entity.name, rule)
    return rule
  }
}

/** What an entity file says, in the form in which the tests judge by it. */
function declaredRule(entity: Entity, entities: readonly Entity[]): Rule {
  const { columns, computed, joined, access, writeAccess, writesUnseen, writes, deletion, actions, customReads } =
    entity
  const visible = columns.filter(({ field }) => !field.hidden)
  const byPermission = permissionsIn(entity, entities)
  const { list, ...others } = access
  const differing = Object.entries(others).filter(([, one]) => one !== list)
  const ownAccess = [...customReads.values()].filter((read) => read.access !== list)
  return {
    writes: [...writes],
    versioned: hasRowVersion(entity),
    properties: [
      ...(entity.key.length > 1 ? ['id'] : []),
      ...[...visible, ...computed, ...joined].map(({ name }) => name)
    ].filter((name) => !Object.hasOwn(byPermission, name)),
    byPermission,
    searchable: entity.searchable,
    fullText: entity.fullText,
    read: guard(entity, list),
    reads: Object.fromEntries([
      ...differing.map(([name, one]) => [name, guard(entity, one)] as const),
      ...ownAccess.map((read) => [read.name, guard(entity, read.access)] as const)
    ]),
    write: undefined,
    singleWrites: Object.fromEntries(Array.from(writeAccess, ([name, one]) => [name, guard(entity, one)] as const)),
    writesUnseen,
    deletable: Object.fromEntries(deletion.required.map(({ column, anyOf }) => [column.name, anyOf])),
    actions: Object.fromEntries(Array.from(actions.values(), ({ name, permission }) => [name, permission])),
    states: Object.fromEntries(
      Array.from(actions.values(), ({ name, required }) => [
        name,
        Object.fromEntries(required.map(({ column, anyOf }) => [column.name, anyOf]))
      ])
    ),
    customReads: Object.fromEntries(Array.from(customReads.values(), (read) => [read.name, customRead(read)])),
    ownerFilter: filter(entity)
  }
}

/** The properties that take a permission, by the columns that they come from. */
function permissionsIn(
  { columns, computed, joined, children }: Entity,
  entities: readonly Entity[]
): Rule['byPermission'] {
  const taken = (...sources: readonly Column[]): string[] => sources.flatMap(({ field }) => field.readableBy ?? [])
  const ofChildren = (child: Children, path: string, root: readonly Column[] = []): (readonly [string, string[]])[] => {
    // Without the foreign key of a resource there are no children at all, and none of theirs.
    const telling = [...root, ...tellingColumns(child)]
    return [
      ...child.columns.map((column) => [`${path}${child.name}.${column.name}`, taken(column, ...telling)] as const),
      ...child.children.flatMap((one) => ofChildren(one, `${path}${child.name}.`, telling))
    ]
  }
  const named: readonly (readonly [string, readonly string[]])[] = [
    ...columns.map((column) => [column.name, taken(column)] as const),
    ...computed.map(({ name, from }) => [name, taken(...from)] as const),
    ...joined.map(({ name, through, further, property }) => {
      const sources = [...through.via]
      let target = entities.find((one) => one.name === through.to)
      for (const step of further) {
        const reference = target?.references.find((one) => one.name === step)
        sources.push(...(reference === undefined ? [] : reference.via))
        target = entities.find((one) => one.name === reference?.to)
      }
      return [name, taken(...sources, ...(target?.columns.filter((one) => one.name === property) ?? []))] as const
    }),
    ...children.flatMap((child) => ofChildren(child, ''))
  ]
  return Object.fromEntries(named.filter(([, permissions]) => permissions.length > 0))
}

function guard(entity: Entity, access: ReadAccess | WriteAccess): Guard {
  switch (access.kind) {
    case 'everyone':
      return 'everyone'
    case 'permission':
      return { permission: access.permission }
    case 'ownRows':
      return access.owner === undefined ? { column: access.property } : declaredRows(entity, access)
    case 'rows':
    case 'anyOf':
    case 'allOf':
      return declaredRows(entity, access)
  }
}

function customRead({ items: [first], bare, where, params }: CustomRead): CustomReadRule {
  const values = new Map(where.map(({ column, value }) => [column.name, value]))
  return { property: first?.name ?? 'id', bare, where: Object.fromEntries(values), hasParameters: params.length > 0 }
}

function filter({ ownerFilter }: Entity): OwnerFilter | undefined {
  if (ownerFilter === undefined) return undefined
  const { owner, parameter = 'id', routes } = ownerFilter
  const excused = [...routes].flatMap(([route, replacement]) => (replacement === undefined ? [] : [route]))
  return { column: owner.name, parameter, on: [...routes.keys()], mayBeAbsent: excused }
}

// Row scopes by a predicate, where no rule was written by hand: what the file says, judged in memory and not by SQL.

/** The order in which rejections are told (contract.md section 2). */
const REJECTIONS = ['auth.required', 'capability.denied', 'ownership.denied']

interface Judge extends Required<Omit<Predicated, 'owner'>> {
  readonly owner: string | undefined
}

const NO_OWNER = { owner: undefined, claims: () => false } as const

/** What an access with a predicate lets a caller see. */
function declaredRows(entity: Entity, access: ReadAccess): Judge {
  const withToken = ({ token }: Caller): string | undefined => (token === 'none' ? 'auth.required' : undefined)
  switch (access.kind) {
    case 'everyone':
      return { rows: () => true, rejects: () => undefined, asksForBypass: () => false, ...NO_OWNER }
    case 'permission':
      return {
        rows: () => true,
        rejects: (caller) =>
          withToken(caller) ?? (caller.permissions.has(access.permission) ? undefined : 'capability.denied'),
        asksForBypass: () => false,
        ...NO_OWNER
      }
    case 'ownRows': {
      const ownerOf = ({ owner, owners }: Caller): number | null =>
        access.owner === undefined ? owner : (owners[access.owner] ?? null)
      return {
        rows: (row, caller) => caller.bypass || String(row[access.property]) === String(ownerOf(caller)),
        rejects: (caller) =>
          withToken(caller) ?? (caller.bypass || ownerOf(caller) !== null ? undefined : 'ownership.denied'),
        asksForBypass: ({ token }) => token !== 'none',
        owner: access.property,
        claims: ({ bypass }) => !bypass
      }
    }
    case 'rows': {
      const rejects = (caller: Caller): string | undefined => (access.anonymous ? undefined : withToken(caller))
      return {
        rows: (row, caller) => holds(entity, ask(access, caller).wanted, row),
        rejects,
        asksForBypass: (caller) => rejects(caller) === undefined && ask(access, caller).asked,
        ...NO_OWNER
      }
    }
    case 'allOf': {
      const parts = access.parts.map((part) => declaredRows(entity, part))
      return {
        rows: (row, caller) => parts.every((part) => part.rows(row, caller)),
        rejects: (caller) => first(parts, caller),
        asksForBypass: (caller) => parts.some((part) => part.asksForBypass(caller)),
        owner: parts.find(({ owner }) => owner !== undefined)?.owner,
        claims: (caller) => parts.some((part) => part.claims(caller))
      }
    }
    case 'anyOf': {
      const parts = access.parts.map((part) => declaredRows(entity, part))
      const open = (caller: Caller): Judge[] => parts.filter((part) => part.rejects(caller) === undefined)
      const owner = parts.find((part) => part.owner !== undefined)?.owner
      return {
        rows: (row, caller) => open(caller).some((part) => part.rows(row, caller)),
        rejects: (caller) => (open(caller).length > 0 ? undefined : first(parts, caller)),
        asksForBypass: (caller) => parts.some((part) => part.asksForBypass(caller)),
        owner,
        claims: (caller) =>
          open(caller).length > 0 && open(caller).every((part) => part.owner === owner && part.claims(caller))
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
  const known = knownCaller(caller, () => (asked = true))
  const call = {
    caller: caller.token === 'none' ? { kind: 'anonymous' } : known,
    where: (property: string, operator: string, ...operands: readonly unknown[]) => ({ property, operator, operands }),
    ...ROWS_WORDS
  }
  // The types of an entity file tie `where` to the fields of its own.
  const wanted = predicate(call as unknown as RowsCall<never, never>)
  return { wanted, asked }
}

/** Property to the wire value that a preset gives a new row of the caller; null where its token has no value. */
export function presetsFor({ columns }: Entity, caller: Caller): Readonly<Record<string, unknown>> {
  const known = knownCaller(caller, () => undefined)
  return Object.fromEntries(
    columns
      .filter(({ field }) => field.preset !== undefined)
      .map(({ name, field }) => {
        const value = presetFor(field, known) ?? null
        return [name, typeof value === 'bigint' ? (field.type === 'long' ? String(value) : Number(value)) : value]
      })
  )
}

/** A caller with a token as the code of an application knows it; `asked` is called where it reads `hasBypassRole`. */
function knownCaller({ name, claims, permissions, owner, owners, bypass }: Caller, asked: () => unknown): TokenCaller {
  return {
    kind: 'authenticated',
    issuer: 'every-entity',
    subject: typeof claims['sub'] === 'string' ? claims['sub'] : name,
    roles: typeof claims['role'] === 'string' ? [claims['role']] : [],
    permissions,
    owner: owner === null ? null : BigInt(owner),
    owners: Object.fromEntries(
      Object.entries(owners).map(([kind, one]) => [kind, one === null ? null : BigInt(one)] as const)
    ),
    claims: { sub: name, ...claims },
    get hasBypassRole() {
      asked()
      return bypass
    }
  }
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
  const parsed = parseCondition({ ...propertyOf(name, column.field), exact: true }, operator, value)
  if ('code' in parsed) throw new Error(`${entity.name}.${name} ${operator} ${value}: ${parsed.code}`)
  return parsed((row[name] ?? null) as WireValue) // rows come out of the database as wire values
}
