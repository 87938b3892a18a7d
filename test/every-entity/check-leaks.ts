import { entities } from '../../data-service/entities/index.js'
import type { Entity } from '../../data-service/entity/entity.js'
import type { Call, Row } from './call.js'
import { ADMIN, callersOf, OWNERS, ownerCaller, PERMISSIONS, type Caller } from './caller.js'
import { describedResource } from './described.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { SECRET } from './made-values.js'
import { ownerColumn, type Rule } from './rule.js'
import { ruleOf } from './rule-of.js'
import { tableRows, type StoredRow } from './table-rows.js'
import { collections } from './tries.js'
import { filterOf, neededFor, verdict } from './verdict.js'

const [OWN, OTHER] = OWNERS

/** Ways by which rows of others might come to light besides the plain reads. */
export function checkLeaks(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  if (entity.references.length > 0) {
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

  const owner = ownerColumn(rule)
  if (owner === undefined || !entity.filterable.has(owner) || typeof rule.read !== 'object' || !('column' in rule.read))
    return
  it('filters by a foreign owner, a foreign row or anything else reveal nothing', async () => {
    const findings = new Findings()
    const foreign = (await tableRows(store.sql, entity)).find((row) => row[owner] === OTHER)
    const filters = [
      { property: owner, operator: 'equals', value: String(OTHER) },
      { property: owner, operator: 'not equals', value: String(OWN) },
      { property: owner, operator: 'in', value: `${OTHER},3` },
      { property: owner, operator: 'greater than', value: String(OWN) },
      { property: 'id', operator: 'equals', value: String(foreign?.['id']) }
    ]
    for (const caller of [ownerCaller(OWN), ownerCaller(OWN, PERMISSIONS)]) {
      for (const operation of ['paged', 'export'] as const) {
        for (const filter of filters) {
          const call: Call = { resource: entity.name, operation, filters: [filter] }
          for (const outcome of await answeredByAll(store, { call, caller }, { code: 'ok', findings })) {
            const what = `${operation} by ${filter.property} ${filter.operator} ${filter.value}`
            findings.same(what, outcome.rows, [])
            if (operation === 'paged') findings.same(`total of ${what}`, outcome.total, '0')
          }
        }
      }
    }
    findings.finish()
  })
}

const SPELLINGS: readonly (readonly string[])[] = [
  ...['1', '01', '-1', '+1', ' 1', '1.0', '1e0', '1abc', 'abc?id=1', '', ' ', '٢', '9'.repeat(30)].map((one) => [one]),
  ['1', '1'],
  ['1', '2'],
  ['2', '1']
]

/** The owner filter before each of its routes, by each way to write an owner. */
export function checkOwnerFilter(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  const { ownerFilter } = rule
  if (ownerFilter === undefined) return
  const reads = [...collections(rule), { operation: 'get' as const }].filter(
    (one) => filterOf(rule, { resource: entity.name, ...one }) !== undefined
  )
  it('takes an owner in digits alone, and narrows to it', async () => {
    const findings = new Findings()
    const rows = await tableRows(store.sql, entity)
    for (const read of reads) {
      for (const values of SPELLINGS) {
        const byRoute = ownerFilter.parameter === 'id'
        if (byRoute && values.some((one) => one.trim() === '')) continue
        const owner = { parameter: ownerFilter.parameter, values }
        const id = byRoute ? (values[0] ?? '') : String(rows[0]?.['id'])
        const call: Call = { resource: entity.name, ...read, owner, ...(read.operation === 'get' ? { id } : {}) }
        for (const caller of [ownerCaller(OWN), ownerCaller(OTHER), ...(byRoute ? [] : [ADMIN])]) {
          const { code, reaches } = verdict(rule, call, caller)
          const seen = rows
            .filter(reaches)
            .filter((row) => read.operation !== 'get' || Number(row['id']) === Number(id))
          const missing = code === 'ok' && read.operation === 'get' && seen.length === 0
          const outcomes = await answeredByAll(
            store,
            { call, caller },
            { code: missing ? 'not-found' : code, findings }
          )
          for (const outcome of outcomes) {
            const what = `${read.name ?? read.operation} ${JSON.stringify(values)} by ${caller.name}`
            findings.same(what, outcome.rows.length, code === 'ok' ? seen.length : 0)
          }
        }
      }
    }
    findings.finish()
  })
}

/** Each child collection of each row by SQL of our own. */
export function checkChildren(store: EveryStore, entity: Entity): void {
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
    const hidden = children.flatMap(({ columns }) => columns.filter(({ field }) => field.hidden))
    const known = (await describedResource(store, entity)).map(({ name }) => name)
    findings.same(
      'hidden columns of children',
      hidden.filter(({ name }) => known.includes(name)),
      []
    )
    findings.finish()
  })
}

/** Those who may read the collection. */
function includers(rule: Rule, call: Call): Caller[] {
  const callers = [...callersOf(neededFor(rule, call)), ownerCaller(OWN, PERMISSIONS)]
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
