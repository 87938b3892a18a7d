import { entities } from '../../data-service/entities/index.js'
import type { Entity } from '../../data-service/entity/entity.js'
import type { Call, Row } from './call.js'
import { ADMIN, callersOf, OWNERS, ownerCaller, PERMISSIONS, type Caller } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { SECRET } from './made-values.js'
import type { Rule } from './rule.js'
import { ruleOf } from './rule-of.js'
import { tableRows, type StoredRow } from './table-rows.js'
import { neededFor, verdict } from './verdict.js'

/** What comes with rows: referenced rows as far as the caller could read them by id, and the row's own children. */
export function checkIncludes(store: EveryStore, entity: Entity): void {
  checkReferences(store, entity)
  checkChildren(store, entity)
}

function checkReferences(store: EveryStore, entity: Entity): void {
  if (entity.references.length === 0) return
  const rule = ruleOf(entity)
  it('includes of references hold what the caller could read by itself, and nothing else', async () => {
    const findings = new Findings()
    const targets = new Map<string, StoredRow[]>()
    for (const { to } of entity.references) targets.set(to, await tableRows(store.sql, entityNamed(to)))
    const rows = new Map((await tableRows(store.sql, entity)).map((row) => [String(row['id']), row]))
    const call: Call = { resource: entity.name, operation: 'paged', pageSize: '500', includeFKs: 'true' }
    for (const caller of includers(rule, call)) {
      for (const outcome of await answeredByAll(store, { call, caller }, { code: 'ok', findings })) {
        findings.same(`secrets by ${caller.name}`, outcome.text.includes(SECRET), false)
        for (const row of outcome.rows) {
          for (const { name, to, via } of entity.references) {
            const key = rows.get(String(row['id']))?.[via.name] ?? null
            const target = targets.get(to)?.find((one) => one['id'] === key)
            const seen = target !== undefined && readable(entityNamed(to), target, caller)
            const what = `${name} of ${entity.name} ${String(row['id'])} by ${caller.name}`
            findings.same(what, idIn(row[name]), seen ? String(key) : null)
          }
        }
      }
    }
    findings.finish()
  })
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
