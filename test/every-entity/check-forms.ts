import type { KeyedEntity } from '../../data-service/entity/entity.js'
import { takesImports } from '../../data-service/plan/authorize.js'
import { createBody, deletableState, updateBody } from './bodies.js'
import { OWNERS } from './callers.js'
import { attempts, keptOwner, ownersRows, rowCode } from './check-writes.js'
import { answered, answeredByAll, Findings } from './findings.js'
import type { Members } from './made-values.js'
import type { MadeRow } from './row-maker.js'
import { ownerColumn } from './rule.js'
import { fingerprint } from './stored-rows.js'
import type { TestedApplication } from './tested-application.js'
import type { Call } from './transports.js'
import { admission, callersOf, verdict, withOwners } from './verdict.js'

// The other forms of writes and reads: batches, dry runs, imports, writes by a unique property, and groups of conditions. Who
// may do what is the rule of the form that they stand for.

/** Batches, dry runs and imports of one row answer each caller as the single write does. */
export function checkForms(tested: TestedApplication, entity: KeyedEntity): void {
  checkFormsOfCreate(tested, entity)
  for (const operation of ['update', 'delete'] as const) checkFormsOfRowWrite(tested, entity, operation)
  checkGroups(tested, entity)
}

function checkFormsOfCreate(tested: TestedApplication, entity: KeyedEntity): void {
  if (!entity.writes.has('create')) return
  const rule = tested.ruleOf(entity)
  const column = ownerColumn(rule)
  const owned = column === undefined || column === 'id' ? undefined : column
  const hasImports = takesImports(entity)
  // What the batch of an application answers is its own.
  const hasBatch = entity.overrides.create === undefined && entity.overrides.batch === undefined
  const isDone = tested.succeeds(entity, 'create')

  it('create in a batch, in an import and as a dry run is answered as the create, and leaves nothing behind', async () => {
    const findings = new Findings(entity.name)
    const bodies = new Map<number | undefined, Members>()
    for (const named of [undefined, ...OWNERS]) {
      const owner = named ?? OWNERS[0]
      bodies.set(named, await createBody(tested.maker, entity, { owner, named: named !== undefined }))
    }
    const before = await fingerprint(tested.sql, tested.entities)
    for (const { call, caller, named, codeOf } of attempts(tested, entity, owned)) {
      const body = bodies.get(named) ?? {}
      const code = codeOf(body)
      if (code === 'ok' && !isDone) continue
      const forms: Call[] = [
        { ...call, body, isDryRun: true },
        ...(hasBatch ? [{ ...call, body: [body], form: 'batch', isDryRun: true } as const] : []),
        // There is no dry run of an import.
        ...(!hasImports || code === 'ok' ? [] : [{ ...call, body, form: 'import' } as const])
      ]
      for (const form of tested.some('forms of creates', forms, 1))
        await answeredByAll(tested, { call: form, caller }, { code, findings })
    }
    findings.same('what is stored after dry runs', (await fingerprint(tested.sql, tested.entities)) === before, true)
    findings.finish()
  })

  if (!hasImports || !isDone) return
  it('create by an import makes the row for whoever may', async () => {
    const findings = new Findings(entity.name)
    for (const { call, caller, named, codeOf, owner } of attempts(tested, entity, owned)) {
      if (admission(rule, call, caller).code !== 'ok') continue
      const body = await createBody(tested.maker, entity, { owner, named: named !== undefined })
      if (codeOf(body) !== 'ok') continue
      const [transport] = tested.bothTransports
      const made = { call: { ...call, body, form: 'import' } as const, caller, transport }
      const { rows } = await answered(tested, made, { code: 'ok', findings })
      findings.same(`rows of an import by ${caller.name}`, rows[0]?.['created'], 1)
      // One row is enough: the create of each caller is tried as a batch and as a dry run.
      break
    }
    findings.finish()
  })
}

function checkFormsOfRowWrite(tested: TestedApplication, entity: KeyedEntity, operation: 'update' | 'delete'): void {
  const rule = tested.ruleOf(entity)
  if (!entity.writes.has(operation) || !rule.versioned) return
  const { overrides } = entity
  const hasBatch = overrides[operation] === undefined && overrides[`${operation}Batch`] === undefined
  const isDone = tested.succeeds(entity, operation)
  const unique = entity.columns.find(
    ({ name, field }) => field.unique && !field.nullable && entity.filterable.has(name) && !isKey(entity, name)
  )

  it(`${operation} in a batch${operation === 'update' ? ', by a unique property' : ''} and as a dry run is answered as the ${operation}, and leaves nothing behind`, async () => {
    const findings = new Findings(entity.name)
    const single: Call = { resource: entity.name, operation }
    const state = operation === 'delete' ? deletableState(rule) : {}
    const rows = await ownersRows(tested, entity, { call: single, title: operation, state })
    const bodies: Members[] = []
    for (const row of rows)
      bodies.push({ ...(await updateBody(tested.maker, entity)), ...keptOwner(rule, entity, row) })
    const before = await fingerprint(tested.sql, tested.entities)
    for (const call of withOwners(rule, single)) {
      for (const caller of callersOf(tested, rule, call)) {
        for (const [at, row] of rows.entries()) {
          const body = operation === 'update' ? { body: bodies[at] ?? {} } : {}
          const made: Call = { ...call, id: row.id, ...body }
          const code = rowCode(rule, { call: made, caller }, row)
          if (code === 'ok' && !isDone) continue
          const forms: Call[] = [
            { ...made, ifMatch: { version: row.version }, isDryRun: true },
            ...(hasBatch ? [batchOf(made, row)] : []),
            ...(operation === 'update' && unique !== undefined ? byUnique(made, { name: unique.name, row }) : [])
          ]
          for (const form of tested.some(`forms of ${operation}s`, forms, 1))
            await answeredByAll(tested, { call: form, caller }, { code, findings })
        }
      }
    }
    findings.same('what is stored after dry runs', (await fingerprint(tested.sql, tested.entities)) === before, true)
    findings.finish()
  })
}

function isKey({ key }: KeyedEntity, name: string): boolean {
  return key.some((column) => column.name === name)
}

/** The write as a batch of this row alone. */
function batchOf(call: Call, { id, version }: MadeRow): Call {
  return { ...call, body: [{ id, rowVersion: version, ...call.body }], form: 'batch', isDryRun: true }
}

/** The PUT of the row that has the value; one that is not there has none. */
function byUnique(call: Call, { name, row }: { readonly name: string; readonly row: MadeRow }): Call[] {
  const value = row.values[name]
  if (value === undefined || value === null) return []
  const body = { ...call.body, [name]: value }
  return [{ ...call, by: name, byValue: String(value), body, ifMatch: { version: row.version }, isDryRun: true }]
}

/** A page by a group of conditions shows each caller no other rows than those that are theirs. */
function checkGroups(tested: TestedApplication, entity: KeyedEntity): void {
  const [key] = entity.key
  const isFindable = key !== undefined && entity.key.length === 1 && entity.filterable.has(key.name)
  if (!isFindable) return
  const rule = tested.ruleOf(entity)
  // Types differ in the word for it.
  const operator = (['equals', 'is'] as const).find((word) => entity.filterable.get(key.name)?.includes(word))
  if (operator === undefined || !rule.properties.includes(key.name)) return
  it('a group of conditions finds for each caller exactly the rows that are theirs', async () => {
    const findings = new Findings(entity.name)
    const made = [
      await tested.maker.row(entity, { owner: OWNERS[0] }),
      await tested.maker.row(entity, { owner: OWNERS[1] })
    ]
    // Where an application has one row, both are the same.
    const rows = [...new Map(made.map((row) => [row.id, row])).values()]
    const group = rows.map(({ id }) => ({ property: key.name, operator, value: id }))
    for (const call of withOwners(rule, { resource: entity.name, operation: 'paged', anyOf: [group] })) {
      for (const caller of callersOf(tested, rule, call)) {
        const { code, reaches } = verdict(rule, call, caller)
        const expected = code === 'ok' ? rows.filter(({ values }) => reaches(values)).map(({ id }) => id) : []
        for (const { rows: found, total } of await answeredByAll(tested, { call, caller }, { code, findings })) {
          const ids = found.map((row) => String(row[key.name]))
          findings.same(`a group of both rows by ${caller.name}`, ids.toSorted(compare), expected.toSorted(compare))
          if (code === 'ok') findings.same(`their number for ${caller.name}`, total, String(expected.length))
        }
      }
    }
    findings.finish()
  })
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1
}
