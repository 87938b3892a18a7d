import type { Entity } from '../../data-service/entity/entity.js'
import type { Call, Outcome } from './call.js'
import { OWNERS } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { SECRET } from './made-values.js'
import { ruleOf } from './rule-of.js'
import { isAbout, ownerColumn, type Rule } from './rule.js'
import { type StoredRow, tableRows } from './table-rows.js'
import { absentId, collections, everyCaller, withoutInstance, withOwners } from './tries.js'
import { verdict } from './verdict.js'

/** Every read by every caller: the status, the code and exactly the rows, over HTTP and over gRPC. */
export function checkReads(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  for (const read of collections(rule)) {
    it(`${read.name ?? read.operation} answers each caller with exactly the rows that are theirs`, async () => {
      const findings = new Findings()
      const rows = await tableRows(store.sql, entity)
      for (const call of withOwners(rule, { resource: entity.name, ...read })) {
        for (const caller of everyCaller(rule, call)) {
          const { code, reaches } = verdict(rule, call, caller)
          const outcomes = await answeredByAll(store, { call, caller }, { code, findings })
          const expected = code === 'ok' ? shown(entity, call, rows.filter(reaches)) : []
          for (const outcome of outcomes) {
            const what = `${read.name ?? read.operation} by ${caller.name} ${JSON.stringify(call.owner ?? '')}`
            findings.same(`rows of ${what}`, found(entity, call, outcome), expected)
            if (read.operation === 'paged' && code === 'ok')
              findings.same(`total of ${what}`, outcome.total, String(expected.length))
            findings.same(`secrets in ${what}`, outcome.text.includes(SECRET), false)
          }
        }
      }
      findings.finish()
    })
  }

  it('get answers each caller with rows that are theirs and knows no other', async () => {
    const findings = new Findings()
    const unknown = new Set<string>()
    const rows = await tableRows(store.sql, entity)
    for (const id of [...idsOf(rule, rows), absentId(entity)]) {
      for (const call of withOwners(rule, { resource: entity.name, operation: 'get', id })) {
        for (const caller of everyCaller(rule, call)) {
          const row = rows.find((one) => String(one['id']) === id)
          const { code, reaches } = verdict(rule, call, caller)
          const there = row !== undefined && reaches(row)
          const outcomes = await answeredByAll(
            store,
            { call, caller },
            { code: code === 'ok' && !there ? 'not-found' : code, findings }
          )
          if (outcomes[0]?.code === 'not-found') unknown.add(withoutInstance(outcomes[0].text))
          for (const { rows: shownRows, text } of outcomes) {
            const what = `get ${id} by ${caller.name}`
            findings.same(
              what,
              shownRows.map((one) => String(one['id'])),
              code === 'ok' && there ? [id] : []
            )
            findings.same(`secrets in ${what}`, text.includes(SECRET), false)
          }
        }
      }
    }
    findings.same('bodies of rows that are not there and of those of others', unknown.size, 1)
    findings.finish()
  })
}

/** The first row of each owner and of the one who never calls. */
function idsOf(rule: Rule, rows: readonly StoredRow[]): string[] {
  const column = ownerColumn(rule) ?? 'id'
  const firsts = [...OWNERS, 3].map((owner) => rows.find((row) => String(row[column]) === String(owner)) ?? rows[0])
  return [...new Set(firsts.map((row) => String(row?.['id'])))]
}

/** What a read shows of rows, in words that can be compared. */
function shown(entity: Entity, call: Call, rows: readonly StoredRow[]): string[] {
  if (call.operation === 'lookup') {
    return rows.map((row) => `${String(row['id'])} ${String(row[entity.label.name])}`).toSorted()
  }
  const rule = ruleOf(entity)
  const read = call.name === undefined ? undefined : rule.customReads[call.name]
  if (read === undefined) return rows.map((row) => String(row['id']))
  return rows
    .filter((row) => isAbout(rule, call, row))
    .map((row) => String(row[read.property]))
    .toSorted()
}

function found(entity: Entity, { operation, name }: Call, { rows }: Outcome): string[] {
  if (operation === 'lookup') return rows.map((row) => `${String(row['id'])} ${String(row['name'])}`).toSorted()
  const read = name === undefined ? undefined : ruleOf(entity).customReads[name]
  if (read === undefined) return rows.map((row) => String(row['id']))
  return rows.map((row) => String(row[read.bare ? 'value' : read.property])).toSorted()
}
