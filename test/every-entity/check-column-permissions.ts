import type { Entity } from '../../data-service/entity/entity.js'
import { createBody, updateBody } from './bodies.js'
import type { Call, Row } from './call.js'
import { type Caller, callersOf, OWNERS, ownerCaller } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answered, answeredByAll, Findings } from './findings.js'
import { ruleOf } from './rule-of.js'
import { mayRead, type Rule } from './rule.js'
import { tableRows } from './table-rows.js'
import { withOwners } from './tries.js'
import { neededFor, verdict } from './verdict.js'

const READS = [
  { operation: 'list', includeChildren: 'true' },
  { operation: 'paged', includeChildren: 'true' },
  { operation: 'get', includeChildren: 'true' },
  { operation: 'export' }
] as const

/** Who sees the properties that take a permission, and what becomes of them in the bodies of all others. */
export function checkColumnPermissions(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  const names = Object.keys(rule.byPermission)
  if (names.length === 0) return

  it('shows each caller the properties that the caller has the permission for, and no other', async () => {
    const findings = new Findings()
    const [first] = await tableRows(store.sql, entity)
    for (const read of READS) {
      const id = read.operation === 'get' ? { id: String(first?.['id']) } : {}
      for (const call of withOwners(rule, { resource: entity.name, ...read, ...id })) {
        for (const caller of readers(rule, call, first ?? {})) {
          for (const { rows } of await answeredByAll(store, { call, caller }, { code: 'ok', findings })) {
            for (const name of names.filter((one) => read.operation !== 'export' || !one.includes('.'))) {
              const shown = rows.flatMap((row) => membersNamed(name, row))
              const expected = shown.map(() => mayRead(rule, name, caller.permissions))
              findings.same(`${name} in ${read.operation} by ${caller.name}`, shown, expected)
            }
          }
        }
      }
    }
    findings.finish()
  })

  const writer = writerWithout(rule, names)
  if (writer === undefined || !entity.writes.has('create') || !entity.writes.has('update')) return

  it('ignores in bodies what the caller may not read: a create leaves it empty, PUT and PATCH keep it', async () => {
    const findings = new Findings()
    const owner = OWNERS[0]
    const kept = names.filter((name) => !mayRead(rule, name, writer.permissions))
    const columns = entity.columns.filter(({ name, field }) => kept.includes(name) && field.writability === 'always')
    const stored = async (id: string): Promise<readonly unknown[]> => {
      const row = (await tableRows(store.sql, entity)).find((one) => String(one['id']) === id)
      return columns.map(({ name }) => row?.[name] ?? null)
    }
    for (const transport of store.transports) {
      const { id, version } = await store.maker.row(entity, { owner })
      const before = await stored(id)
      findings.same('the row has values to lose', before.includes(null), false)
      const base = { resource: entity.name, ...ownerOf(rule, owner) }
      let ifMatch = { version }
      for (const patch of [false, true]) {
        const body = await updateBody(store.maker, entity)
        const call: Call = { ...base, operation: 'update', id, body, ifMatch, patch }
        const updated = await answered(store, { call, caller: writer, transport }, { code: 'ok', findings })
        const what = `${transport.name} ${patch ? 'PATCH' : 'PUT'}`
        findings.same(`what ${what} kept`, await stored(id), before)
        const members = updated.rows.flatMap(Object.keys).filter((name) => kept.includes(name))
        findings.same(`members of the answer to ${what}`, members, [])
        ifMatch = { version: String(updated.rows[0]?.['rowVersion']) }
      }
      const body = await createBody(store.maker, entity, { owner, named: false })
      const create: Call = { ...base, operation: 'create', body }
      const created = await answered(store, { call: create, caller: writer, transport }, { code: 'ok', findings })
      const empty = columns.map(({ field }) => field.defaultTo ?? null)
      findings.same(`what ${transport.name} create left empty`, await stored(String(created.rows[0]?.['id'])), empty)
    }
    findings.finish()
  })
}

/** Callers whom the read is answered with at least this row, with and without each permission. */
function readers(rule: Rule, call: Call, row: Row): Caller[] {
  const permissions = Object.values(rule.byPermission).flat()
  return callersOf([...new Set([...neededFor(rule, call), ...permissions])]).filter((caller) => {
    const { code, reaches } = verdict(rule, call, caller)
    return code === 'ok' && reaches(row)
  })
}

/** Whether the row, or each child of `lines.unitCost`, has the member. */
function membersNamed(name: string, row: Row): boolean[] {
  const [first = '', child] = name.split('.')
  if (child === undefined) return [Object.hasOwn(row, first)]
  const children = row[first]
  if (!Array.isArray(children)) throw new TypeError(`no ${first}`)
  return children.map((one: object) => Object.hasOwn(one, child))
}

/** Somebody who may write but not read all of it. */
function writerWithout(rule: Rule, names: readonly string[]): Caller | undefined {
  if (rule.kind !== 'CRUD') return undefined
  const caller = ownerCaller(OWNERS[0], neededFor(rule, { resource: '', operation: 'update' }))
  return names.every((name) => mayRead(rule, name, caller.permissions)) ? undefined : caller
}

function ownerOf({ ownerFilter }: Rule, owner: number): Pick<Call, 'owner'> {
  if (ownerFilter === undefined || ownerFilter.parameter === 'id') return {}
  return { owner: { parameter: ownerFilter.parameter, values: [String(owner)] } }
}
