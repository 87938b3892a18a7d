import type { Entity, Reference } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import type { Call, Row } from './call.js'
import { ADMIN, type Caller, callersOf, ownerCaller, OWNERS, PERMISSIONS } from './caller.js'
import { PARENT_VALUES } from '../examples/every-entity/domain-values.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { SECRET } from './made-values.js'
import { ruleOf } from './rule-of.js'
import { ownerColumn, type Rule } from './rule.js'
import { type StoredRow, tableRows } from './table-rows.js'
import { neededFor, verdict } from './verdict.js'

/** What comes with rows: referenced rows as far as the caller could read them by id, and the row's own children. */
export function checkIncludes(store: EveryStore, entity: Entity): void {
  checkReferences(store, entity)
  checkChildren(store, entity)
}

function checkReferences(store: EveryStore, entity: Entity): void {
  if (entity.references.length === 0) return
  const rule = ruleOf(entity)
  const crossed = entity.references.filter((reference) => mayCross(entity, reference))
  it('includes of references hold what the caller could read by itself, and nothing else', async () => {
    const findings = new Findings()
    const foreign: string[] = []
    for (const reference of crossed) foreign.push(await rowOfAnotherOwner(store, entity, reference))
    const targets = new Map<string, StoredRow[]>()
    for (const { to } of entity.references) targets.set(to, await tableRows(store.sql, entityNamed(to)))
    const rows = new Map((await tableRows(store.sql, entity)).map((row) => [String(row['id']), row]))
    const shape = { resource: entity.name, includeFKs: 'true' } as const
    const calls: Call[] = [
      { ...shape, operation: 'paged', pageSize: '500' },
      { ...shape, operation: 'list' },
      ...foreign.map((id): Call => ({ ...shape, operation: 'get', id }))
    ]
    const hidden = new Set<string>()
    for (const [call, caller] of calls.flatMap((one) => includers(rule, one).map((by) => [one, by] as const))) {
      const { reaches } = verdict(rule, call, caller)
      const reached = rows.get(call.id ?? '')
      if (call.operation === 'get' && (reached === undefined || !reaches(reached))) continue
      for (const outcome of await answeredByAll(store, { call, caller }, { code: 'ok', findings })) {
        findings.same(`secrets by ${caller.name}`, outcome.text.includes(SECRET), false)
        for (const row of outcome.rows) {
          for (const { name, to, via } of entity.references) {
            const key = rows.get(String(row['id']))?.[via.name] ?? null
            const target = targets.get(to)?.find((one) => one['id'] === key)
            const seen = target !== undefined && readable(entityNamed(to), target, caller)
            const what = `${name} of ${entity.name} ${String(row['id'])} in ${call.operation} by ${caller.name}`
            if (target !== undefined && !seen) hidden.add(name)
            findings.same(what, idIn(row[name]), seen ? String(key) : null)
          }
        }
      }
    }
    const unhidden = crossed.map(({ name }) => name).filter((name) => !hidden.has(name))
    findings.same('references to rows of other owners that nobody was shown a row of', unhidden, [])
    findings.finish()
  })
}

/** Whether a row of one owner may refer to a row that only another one reads. */
function mayCross(entity: Entity, { to, via }: Reference): boolean {
  const target = ruleOf(entityNamed(to)).get
  return typeof target === 'object' && 'column' in target && via.name !== ownerColumn(ruleOf(entity))
}

/** The id of a new row of the first owner that refers to a row of the second one. */
async function rowOfAnotherOwner(store: EveryStore, entity: Entity, { name, to, via }: Reference): Promise<string> {
  const [owner, other] = OWNERS
  const values = PARENT_VALUES[`${entity.name}.${via.name}`]
  const target = await store.maker.row(entityNamed(to), { owner: other, values: { ...values } })
  const made = await store.maker.row(entity, { owner, values: { [via.name]: target.values['id'] ?? null } })
  if (made.values[via.name] === undefined) throw new Error(`${entity.name} has no key of ${name}`)
  return made.id
}

/** By SQL of our own. */
function checkChildren(store: EveryStore, entity: Entity): void {
  const children = entity.children.filter(({ store: one }) => one === 'primary')
  if (children.length === 0) return
  it('includes of children are those of the row', async () => {
    const findings = new Findings()
    const call: Call = { resource: entity.name, operation: 'paged', pageSize: '500', includeChildren: 'true' }
    const outcomes = await answeredByAll(store, { call, caller: ADMIN }, { code: 'ok', findings })
    for (const { name, table, foreignKey } of children) {
      const stored = await store.sql.run(`SELECT id, ${foreignKey} AS root FROM ${table} ORDER BY id`)
      for (const { rows } of outcomes) {
        for (const row of rows) {
          const own = stored.filter(({ root }) => String(root) === String(row['id'])).map(({ id }) => String(id))
          const found = row[name]
          const shown = Array.isArray(found) ? found.map((one: Row) => String(one['id'])) : found
          findings.same(`${name} of ${String(row['id'])}`, shown, own)
        }
      }
    }
    findings.finish()
  })
}

/** Those who may read the collection. */
function includers(rule: Rule, call: Call): Caller[] {
  const callers = [...callersOf(neededFor(rule, call)), ownerCaller(OWNERS[0], PERMISSIONS)]
  return callers.filter((caller) => verdict(rule, call, caller).code === 'ok')
}

/** Whether the caller could read the row by its id. */
function readable(target: Entity, row: StoredRow, caller: Caller): boolean {
  const call: Call = { resource: target.name, operation: 'get', id: String(row['id']) }
  const { code, reaches } = verdict(ruleOf(target), call, caller)
  return code === 'ok' && reaches(row)
}

function entityNamed(name: string): Entity {
  const found = entities.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no entity ${name}`)
  return found
}

function idIn(included: unknown): string | null {
  if (included === null || included === undefined) return null
  return String((included as Row)['id']) // an included row is an object
}
