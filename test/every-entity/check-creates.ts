import type { Entity } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import { type Body, createBody } from './bodies.js'
import type { Call, Outcome } from './call.js'
import { ANONYMOUS, type Caller, OWNERS } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answered, answeredByAll, Findings } from './findings.js'
import { ruleOf } from './rule-of.js'
import { guardOf, ownerColumn, type Rule } from './rule.js'
import { auditEntries, fingerprint, tableRows } from './table-rows.js'
import { everyCaller, withOwners } from './tries.js'
import { admission } from './verdict.js'

/** One create: who is named as the owner in the body, and what must become of it. */
interface Attempt {
  readonly call: Call
  readonly caller: Caller
  readonly named: number | undefined
  readonly code: string
  /** Of the new row. */
  readonly owner: number
}

/** Who may create, and whose the new row is. */
export function checkCreates(store: EveryStore, entity: Entity): void {
  if (!entity.writes.has('create')) return
  const rule = ruleOf(entity)
  const column = ownerColumn(rule)
  const owned = column === undefined || column === 'id' ? undefined : column

  it('create is rejected to whoever may not, and leaves nothing behind', async () => {
    const findings = new Findings()
    const bodies = new Map<number | undefined, Body>()
    for (const named of [undefined, ...OWNERS]) {
      const owner = named ?? OWNERS[0]
      bodies.set(named, await createBody(store.maker, entity, { owner, named: named !== undefined }))
    }
    const before = await fingerprint(store.sql, entities)
    for (const { call, caller, named, code } of attempts(rule, entity, owned)) {
      if (code === 'ok') continue
      await answeredByAll(store, { call: { ...call, body: bodies.get(named) ?? {} }, caller }, { code, findings })
    }
    findings.same('what is stored after refusals', (await fingerprint(store.sql, entities)) === before, true)
    findings.finish()
  })

  it('create makes a row of the right owner for whoever may', async () => {
    const findings = new Findings()
    for (const { call, caller, named, code, owner } of attempts(rule, entity, owned)) {
      if (code !== 'ok') continue
      for (const transport of store.transports) {
        const body = await createBody(store.maker, entity, { owner, named: named !== undefined })
        const outcome = await answered(store, { call: { ...call, body }, caller, transport }, { code, findings })
        await checkCreated(store, entity, { outcome, owned, owner, findings })
      }
    }
    findings.finish()
  })
}

async function checkCreated(
  store: EveryStore,
  entity: Entity,
  of: { outcome: Outcome; owned: string | undefined; owner: number; findings: Findings }
): Promise<void> {
  const { outcome, owned, owner, findings } = of
  const id = String(outcome.rows[0]?.['id'])
  const row = (await tableRows(store.sql, entity)).find((one) => String(one['id']) === id)
  findings.same(`row ${id} of ${entity.name}`, row !== undefined, true)
  if (owned !== undefined) findings.same(`owner of the new row ${id}`, String(row?.[owned]), String(owner))
  findings.same(`audit of the new row ${id}`, await auditEntries(store.sql, { entity, id, action: 'create' }), 1)
}

/** Each caller with no owner in the body, its own and another's. */
function attempts(rule: Rule, entity: Entity, owned: string | undefined): Attempt[] {
  const base: Call = { resource: entity.name, operation: 'create' }
  return withOwners(rule, base).flatMap((call) =>
    everyCaller(rule, call).flatMap((caller) =>
      (owned === undefined ? [undefined] : [undefined, ...OWNERS]).map((named) => {
        const { code } = admission(rule, call, caller)
        if (code !== 'ok' || caller === ANONYMOUS || owned === undefined) {
          return { call, caller, named, code, owner: OWNERS[0] }
        }
        return { call, caller, named, ...ownership(rule, caller, named) }
      })
    )
  )
}

/** Contract section 5, create: on an owned resource the owner is the claim's, or has to be named. */
function ownership(rule: Rule, caller: Caller, named: number | undefined): Pick<Attempt, 'code' | 'owner'> {
  const guard = guardOf(rule, 'create')
  const claimed = typeof guard === 'object' && 'column' in guard && !caller.bypass
  if (!claimed) return { code: named === undefined ? 'body.invalid' : 'ok', owner: named ?? OWNERS[0] }
  const { owner } = caller
  if (owner === null || (named !== undefined && named !== owner)) return { code: 'ownership.denied', owner: OWNERS[0] }
  return { code: 'ok', owner }
}
