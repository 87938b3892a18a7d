import type { KeyedEntity } from '../../data-service/entity/entity.js'
import { ANONYMOUS, type Caller, OWNERS } from './callers.js'
import { answeredByAll, Findings, problemsOfUnknown } from './findings.js'
import { SECRET } from './made-values.js'
import { guardOf, isAbout, ownerColumn, propertiesFor, type Rule } from './rule.js'
import { tableRows } from '../oracle/entity-oracle.js'
import type { OracleRow } from '../oracle/load-rows.js'
import { stored } from '../oracle/wire-value.js'
import type { TestedApplication } from './tested-application.js'
import { type Call, type Outcome, READS } from './transports.js'
import {
  absentId,
  absentValue,
  admission,
  collections,
  everyCaller,
  filterOf,
  integer,
  neededFor,
  verdict,
  withOwners
} from './verdict.js'

/** Every read by every caller: the status, the code and exactly the rows, over HTTP and over gRPC. */
export function checkReads(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  for (const read of collections(rule)) {
    it(`${read.name ?? read.operation} answers each caller with exactly the rows that are theirs`, async () => {
      const findings = new Findings(entity.name)
      const rows = await tableRows(tested.sql, entity)
      for (const call of withOwners(rule, { resource: entity.name, ...read })) {
        for (const caller of everyCaller(tested, rule, call)) {
          const { code, reaches } = verdict(rule, call, caller)
          const outcomes = await answeredByAll(tested, { call, caller }, { code, findings })
          const expected = code === 'ok' ? shown(rule, entity, { call, rows: rows.filter(reaches) }) : []
          for (const outcome of outcomes) {
            const what = `${read.name ?? read.operation} by ${caller.name} ${JSON.stringify(call.owner ?? '')}`
            findings.same(`rows of ${what}`, found(rule, call, outcome), expected)
            if (read.operation === 'paged' && code === 'ok')
              findings.same(`total of ${what}`, outcome.total, String(expected.length))
            findings.same(`secrets in ${what}`, outcome.text.includes(SECRET), false)
          }
        }
      }
      findings.finish()
    })
  }

  for (const [name] of Object.entries(rule.customReads).filter(([, read]) => read.hasParameters === true)) {
    it(`${name} rejects each caller who may not read it`, async () => {
      const findings = new Findings(entity.name)
      for (const call of withOwners(rule, { resource: entity.name, operation: 'read', name })) {
        for (const caller of everyCaller(tested, rule, call)) {
          const { code } = verdict(rule, call, caller)
          if (code !== 'ok') await answeredByAll(tested, { call, caller }, { code, findings })
        }
      }
      findings.finish()
    })
  }

  it('get answers each caller with rows that are theirs and knows no other', async () => {
    const findings = new Findings(entity.name)
    const unknown = new Set<string>()
    const rows = await tableRows(tested.sql, entity)
    const ids = [...idsOf(rule, rows), absentId(entity)]
    for (const unnamed of withOwners(rule, { resource: entity.name, operation: 'get' })) {
      for (const caller of everyCaller(tested, rule, unnamed)) {
        // Whoever is not admitted to any row is so to each.
        const isRejected = ids.every((id) => verdict(rule, { ...unnamed, id }, caller).code !== 'ok')
        for (const id of isRejected ? tested.some('ids of rejected reads', ids, 1) : ids) {
          const call = { ...unnamed, id }
          const row = rows.find((one) => String(one['id']) === id)
          const { code, reaches } = verdict(rule, call, caller)
          const there = row !== undefined && reaches(row)
          const named = tested.some('unique properties', uniqueNames(entity, row, { ...unnamed, id }), 1)
          const outcomes: Outcome[] = []
          for (const one of [call, ...named]) {
            const answered = await answeredByAll(
              tested,
              { call: one, caller },
              { code: code === 'ok' && !there ? 'not-found' : code, findings }
            )
            outcomes.push(...answered)
          }
          for (const problem of problemsOfUnknown(outcomes)) unknown.add(problem)
          for (const { rows: shownRows, text } of outcomes) {
            const what = `get ${id}, by its unique properties too, by ${caller.name}`
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
    // In turn, all of them may have come over gRPC.
    findings.same('bodies of rows that are not there and of those of others', Math.max(unknown.size, 1), 1)
    findings.finish()
  })
}

/** Totals count the rows that the list shows, whatever they are grouped by. */
export function checkTotals(tested: TestedApplication, entity: KeyedEntity): void {
  const { totals } = entity
  if (totals?.measures.some(({ name }) => name === 'count') !== true) return
  const rule = tested.ruleOf(entity)
  const visible = totals.dimensions.map(({ name }) => name).filter((name) => rule.properties.includes(name))
  it('totals count for each caller exactly the rows that are theirs', async () => {
    const findings = new Findings(entity.name)
    const rows = await tableRows(tested.sql, entity)
    for (const dimensions of [undefined, ...tested.some('dimensions', visible, 1)]) {
      const shape = {
        resource: entity.name,
        operation: 'totals',
        ...(dimensions === undefined ? {} : { dimensions })
      } as const
      for (const call of withOwners(rule, shape)) {
        for (const caller of everyCaller(tested, rule, call)) {
          const { code, reaches } = verdict(rule, call, caller)
          for (const outcome of await answeredByAll(tested, { call, caller }, { code, findings })) {
            const what = `by ${dimensions ?? 'nothing'} by ${caller.name} ${JSON.stringify(call.owner ?? '')}`
            const counted = outcome.rows.map((group) => Number(group['count']))
            const sum = counted.reduce((one, other) => one + other, 0)
            findings.same(`totals ${what}`, sum, code === 'ok' ? rows.filter(reaches).length : 0)
            findings.same(`secrets in totals ${what}`, outcome.text.includes(SECRET), false)
          }
        }
      }
    }
    findings.finish()
  })
}

/** The history of a row is for whoever reads it by its id, and shows the columns that its reader sees. */
export function checkHistory(tested: TestedApplication, entity: KeyedEntity): void {
  if (!entity.history) return
  const rule = tested.ruleOf(entity)
  it('history answers each caller who reads the row by its id, with the properties of that caller', async () => {
    const findings = new Findings(entity.name)
    const rows = await tableRows(tested.sql, entity)
    const ids = idsOf(rule, rows)
    for (const id of ids) await addEntry(tested, entity, id)
    for (const unnamed of withOwners(rule, { resource: entity.name, operation: 'get' })) {
      for (const caller of everyCaller(tested, rule, unnamed)) {
        const visible = propertiesFor(rule, caller.permissions)
        for (const id of ids) {
          const row = rows.find((one) => String(one['id']) === id)
          const { code, reaches } = verdict(rule, { ...unnamed, id }, caller)
          const expected = code === 'ok' && (row === undefined || !reaches(row)) ? 'not-found' : code
          const call = { ...unnamed, operation: 'history', id } as const
          for (const outcome of await answeredByAll(tested, { call, caller }, { code: expected, findings })) {
            const what = `history of ${id} by ${caller.name}`
            const kept = entity.columns.map(({ name }) => name)
            findings.same(
              `properties in ${what}`,
              Object.keys(outcome.rows[0]?.['changes'] ?? {}),
              code === 'ok' && expected === 'ok' ? kept.filter((name) => visible.includes(name)) : []
            )
            findings.same(`secrets in ${what}`, outcome.text.includes(SECRET), false)
          }
        }
      }
    }
    findings.finish()
  })
}

/** A create in the audit trail that has a value of every column, of hidden ones too: an entry may be older than that word. */
async function addEntry(
  { kind, sql, tables }: TestedApplication,
  { name, columns }: KeyedEntity,
  id: string
): Promise<void> {
  const changes = Object.fromEntries(columns.map((one) => [one.name, [null, one.field.hidden ? `"${SECRET}"` : '1']]))
  await sql.run(
    `INSERT INTO ${tables.sql.audit_entries} (at, subject, resource, row_id, action, row_version, changes)
     VALUES (?, 'somebody', ?, ?, 'create', ?, ?)`,
    [stored(kind, { type: 'dateTime' }, '2026-01-31T08:00:00.000Z'), name, id, Buffer.alloc(8), JSON.stringify(changes)]
  )
}

/** The read of a row by each of its unique properties: it is that by id, and answered to the same callers. */
function uniqueNames({ columns, filterable, key }: KeyedEntity, row: OracleRow | undefined, call: Call): Call[] {
  const unique = columns.filter(
    (column) => column.field.unique && !column.field.nullable && filterable.has(column.name) && !key.includes(column)
  )
  return unique.flatMap(({ name, field }) => {
    const value = row === undefined ? (field.type === 'string' ? absentValue(field) : undefined) : row[name]
    return value === undefined ? [] : [{ ...call, by: name, id: String(value) }]
  })
}

/** The first row of each owner and of the one who never calls. */
function idsOf(rule: Rule, rows: readonly OracleRow[]): string[] {
  const column = ownerColumn(rule) ?? 'id'
  const firsts = [...OWNERS, 3].map((owner) => rows.find((row) => String(row[column]) === String(owner)) ?? rows[0])
  return [...new Set(firsts.map((row) => String(row?.['id'])))]
}

/** What a read shows of rows, in words that can be compared. */
function shown(
  rule: Rule,
  entity: KeyedEntity,
  { call, rows }: { readonly call: Call; readonly rows: readonly OracleRow[] }
): string[] {
  if (call.operation === 'lookup') {
    return rows.map((row) => `${String(row['id'])} ${String(row[entity.label?.name ?? 'id'])}`).toSorted()
  }
  const read = call.name === undefined ? undefined : rule.customReads[call.name]
  if (read === undefined) return rows.map((row) => String(row['id']))
  return rows
    .filter((row) => isAbout(rule, call, row))
    .map((row) => String(row[read.property]))
    .toSorted()
}

function found(rule: Rule, { operation, name }: Call, { rows }: Outcome): string[] {
  if (operation === 'lookup') return rows.map((row) => `${String(row['id'])} ${String(row['name'])}`).toSorted()
  const read = name === undefined ? undefined : rule.customReads[name]
  if (read === undefined) return rows.map((row) => String(row['id']))
  return rows.map((row) => String(row[read.bare ? 'value' : read.property])).toSorted()
}

const SPELLINGS: readonly (readonly string[])[] = [
  ...['1', '01', '-1', '+1', ' 1', '1.0', '1e0', '1abc', 'abc?id=1', '', ' ', '٢', '9'.repeat(30)].map((one) => [one]),
  ['1', '1'],
  ['1', '2'],
  ['2', '1']
]

/** The owner filter before each of its routes, by each way to write an owner. */
export function checkOwnerFilter(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  const { ownerFilter } = rule
  if (ownerFilter === undefined) return
  const reads = [...collections(rule), { operation: 'get' as const }].filter(
    (one) => filterOf(rule, { resource: entity.name, ...one }) !== undefined
  )
  it('takes an owner in digits alone, and narrows to it', async () => {
    const findings = new Findings(entity.name)
    const rows = await tableRows(tested.sql, entity)
    for (const read of reads) {
      for (const values of tested.some('spellings', SPELLINGS, 6)) {
        const byRoute = ownerFilter.parameter === 'id'
        if (byRoute && values.some((one) => one.trim() === '')) continue
        const owner = { parameter: ownerFilter.parameter, values }
        const id = byRoute ? (values[0] ?? '') : String(rows[0]?.['id'])
        const call: Call = { resource: entity.name, ...read, owner, ...(read.operation === 'get' ? { id } : {}) }
        for (const caller of [
          ...OWNERS.map((one) => tested.callers.owner(one)),
          ...(byRoute ? [] : [tested.callers.bypass])
        ]) {
          const { code, reaches } = verdict(rule, call, caller)
          // Guids are no numbers, and an id of digits may be spelled in more ways than one.
          const only = String(integer(id) ?? id)
          const seen = rows
            .filter((row) => reaches(row) && isAbout(rule, call, row))
            .filter((row) => read.operation !== 'get' || String(row['id']) === only)
          const missing = code === 'ok' && read.operation === 'get' && seen.length === 0
          const outcomes = await answeredByAll(
            tested,
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

const [OWN, OTHER] = OWNERS

/** Conditions that aim at the rows of others find none, in totals and exports neither. */
export function checkForeignFilters(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  const owner = ownerColumn(rule)
  if (owner === undefined || !entity.filterable.has(owner) || typeof rule.read !== 'object' || !('column' in rule.read))
    return
  it('filters by a foreign owner, a foreign row or anything else reveal nothing', async () => {
    const findings = new Findings(entity.name)
    const foreign = (await tableRows(tested.sql, entity)).find((row) => String(row[owner]) === String(OTHER))
    const filters = [
      { property: owner, operator: 'equals', value: String(OTHER) },
      { property: owner, operator: 'not equals', value: String(OWN) },
      { property: owner, operator: 'in', value: `${OTHER},3` },
      { property: owner, operator: 'greater than', value: String(OWN) },
      { property: 'id', operator: 'equals', value: String(foreign?.['id']) }
    ]
    for (const caller of [tested.callers.owner(OWN), tested.callers.owner(OWN, tested.callers.permissions)]) {
      for (const operation of ['paged', 'export'] as const) {
        for (const filter of tested.some('foreign filters', filters, 2)) {
          const call = withOwner(tested, rule, { resource: entity.name, operation, filters: [filter] })
          for (const outcome of await answeredByAll(tested, { call, caller }, { code: 'ok', findings })) {
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

/** Names the caller's own rows where an owner filter wants that; where it need not be, the scope stands alone. */
function withOwner({ callers }: TestedApplication, rule: Rule, call: Call): Call {
  const { ownerFilter } = rule
  if (ownerFilter === undefined || verdict(rule, call, callers.owner(OWN)).code === 'ok') return call
  return { ...call, owner: { parameter: ownerFilter.parameter, values: [String(OWN)] } }
}

/** Where no bypass role is set, whatever needs no ownership serves and the first use of it is a failure to configure. */
export function checkWithoutBypass(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  it(`${entity.name} serves what asks for no owner, and nothing else`, async () => {
    const findings = new Findings(entity.name)
    const [row] = await tableRows(tested.sql, entity)
    const id = String(row?.['id'])
    const reads = [...collections(rule), { operation: READS[4] }]
    const calls: Call[] = reads.map((read) => ({
      resource: entity.name,
      ...read,
      ...(read.operation === 'get' ? { id } : {})
    }))
    for (const call of calls) {
      const callers = [
        ...tested.callers.of(neededFor(rule, call)),
        tested.callers.permitted(tested.callers.permissions),
        tested.callers.owner(OWNERS[0])
      ].filter((caller) => caller !== tested.callers.bypass)
      for (const caller of tested.some('callers without a bypass role', callers, 3)) {
        const code = unconfigured(rule, call, caller)
        const seen = call.operation !== 'get' || verdict(rule, call, caller).reaches(row ?? {})
        await answeredByAll(tested, { call, caller }, { code: code === 'ok' && !seen ? 'not-found' : code, findings })
      }
    }
    findings.finish()
  })
}

function unconfigured(rule: Rule, call: Call, caller: Caller): string {
  const guard = guardOf(rule, call)
  const owned = filterOf(rule, call) !== undefined || (typeof guard === 'object' && 'column' in guard)
  const asks = typeof guard === 'object' && 'rows' in guard && guard.asksForBypass?.(caller) === true
  if (asks && caller.token !== 'invalid') return 'configuration'
  const { code } = admission({ ...rule, ownerFilter: undefined }, call, caller)
  if (!owned || (code !== 'ok' && caller !== ANONYMOUS)) return verdict(rule, call, caller).code
  return caller === ANONYMOUS ? 'auth.required' : 'configuration'
}
