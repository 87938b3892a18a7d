import type { Entity } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import { actionBody, type Body, updateBody } from './bodies.js'
import type { Call, Outcome, Transport } from './call.js'
import { type Caller, callersOf, OWNERS } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answered, answeredByAll, Findings } from './findings.js'
import type { Values } from './made-values.js'
import type { MadeRow } from './row-maker.js'
import { ruleOf } from './rule-of.js'
import { ownerColumn, type Rule } from './rule.js'
import { deletableState, suitableState } from './states.js'
import { auditEntries, fingerprint, type StoredRow, storedVersion } from './table-rows.js'
import { absentId, withoutInstance, withOwners } from './tries.js'
import { admission, neededFor, verdict } from './verdict.js'

/** An update, a delete or an action, as it is tried on rows. */
interface Write {
  readonly call: Call
  readonly title: string
  /** What a row must be like for it to succeed. */
  readonly state: Values
}

/** Who may write which rows: what is rejected leaves nothing behind, another's row answers as none at all. */
export function checkRowWrites(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  for (const write of writesOf(entity)) {
    it(`${write.title} is rejected to whoever may not, and leaves nothing behind`, async () => {
      const findings = new Findings()
      const rows = await ownersRows(store, entity, write)
      const bodies: (Body | undefined)[] = []
      for (const row of rows) bodies.push(await bodyOf(store, entity, { write, row }))
      const before = await fingerprint(store.sql, entities)
      for (const call of withOwners(rule, write.call)) {
        for (const caller of callersOf(neededFor(rule, call))) {
          const texts: string[] = []
          for (const [at, row] of rows.entries()) {
            const made = { ...call, id: row.id, ...withBody(bodies[at]), ifMatch: tagOf(rule, row) }
            const unguarded = { ...made, ifMatch: 'absent' as const }
            const code = rowCode(rule, { call: made, caller }, row)
            const [rejected] =
              code === 'ok' ? [] : await answeredByAll(store, { call: made, caller }, { code, findings })
            if (rejected?.code === 'not-found') texts.push(withoutInstance(rejected.text))
            const { code: admitted } = admission(rule, unguarded, caller)
            if (write.call.operation === 'delete' || at > 0) continue
            const wanted = admitted === 'ok' ? 'precondition.required' : admitted
            await answeredByAll(store, { call: unguarded, caller }, { code: wanted, findings })
          }
          findings.same(`kinds of 404 for ${caller.name}`, new Set(texts).size, Math.min(texts.length, 1))
        }
      }
      findings.same('what is stored after refusals', (await fingerprint(store.sql, entities)) === before, true)
      findings.finish()
    })

    it(`${write.title} is done for whoever may`, async () => {
      const findings = new Findings()
      for (const call of withOwners(rule, write.call)) {
        for (const caller of callersOf(neededFor(rule, call))) {
          for (const owner of ownerColumn(rule) === undefined ? [OWNERS[0]] : OWNERS) {
            const transport = store.transports[findings.checked % 2 === 0 ? 0 : 1]
            if (rowCode(rule, { call: { ...call, id: '' }, caller }, { values: stand(rule, owner) }) !== 'ok') continue
            const row = await store.maker.row(entity, { owner, values: write.state })
            await checkDone(store, entity, { write: { ...write, call }, row, caller, transport, findings })
          }
        }
      }
      findings.finish()
    })
  }
}

function writesOf(entity: Entity): Write[] {
  const resource = entity.name
  const plain = (
    [
      { operation: 'update', title: 'update' },
      { operation: 'update', title: 'patch', patch: true },
      { operation: 'delete', title: 'delete' }
    ] as const
  )
    .filter(({ operation }) => entity.writes.has(operation))
    .map(({ title, ...write }) => ({
      call: { resource, ...write },
      title,
      state: write.operation === 'delete' ? deletableState(entity) : {}
    }))
  const actions = Array.from(entity.actions.values(), (action) => ({
    call: { resource, operation: 'act' as const, name: action.name },
    title: action.name,
    state: suitableState(entity, action)
  }))
  return [...plain, ...actions]
}

/** A row of each owner, and one that is not there. */
async function ownersRows(store: EveryStore, entity: Entity, { state }: Write): Promise<MadeRow[]> {
  const own = await store.maker.row(entity, { owner: OWNERS[0], values: state })
  const other = await store.maker.row(entity, { owner: OWNERS[1], values: state })
  return [own, other, { ...own, id: absentId(entity), values: {} }]
}

/** What must become of a write of this row; one without values is not there. */
function rowCode(rule: Rule, { call, caller }: { call: Call; caller: Caller }, row: { values: StoredRow }): string {
  const { code, reaches } = verdict(rule, call, caller)
  if (code !== 'ok') return code
  return Object.keys(row.values).length > 0 && reaches(row.values) ? 'ok' : 'not-found'
}

function stand(rule: Rule, owner: number): Values {
  return { [ownerColumn(rule) ?? 'id']: owner }
}

async function bodyOf(
  store: EveryStore,
  entity: Entity,
  of: { write: Write; row: MadeRow }
): Promise<Body | undefined> {
  const { call } = of.write
  if (call.operation === 'delete') return undefined
  const action = call.name === undefined ? undefined : entity.actions.get(call.name)
  return action === undefined
    ? updateBody(store.maker, entity)
    : actionBody(store.maker, entity, { action, row: of.row })
}

/** The tag of a row; `*` where rows have no version, and so no tag of their own. */
function tagOf({ versioned }: Rule, { version }: MadeRow): NonNullable<Call['ifMatch']> {
  return versioned ? { version } : 'star'
}

function withBody(body: Body | undefined): Pick<Call, 'body'> {
  return body === undefined ? {} : { body }
}

async function checkDone(
  store: EveryStore,
  entity: Entity,
  of: { write: Write; row: MadeRow; caller: Caller; transport: Transport; findings: Findings }
): Promise<void> {
  const { write, row, caller, transport, findings } = of
  const { id, version } = row
  const body = await bodyOf(store, entity, { write, row })
  const call: Call = { ...write.call, id, ...withBody(body), ifMatch: tagOf(ruleOf(entity), row) }
  const outcome: Outcome = await answered(store, { call, caller, transport }, { code: 'ok', findings })
  const what = `${write.title} ${id} by ${caller.name}`
  const after = await storedVersion(store.sql, entity, id)
  if (write.call.operation === 'delete') findings.same(`${what} leaves`, after, undefined)
  else {
    findings.same(`${what} advances the version`, after === version, false)
    findings.same(`${what} answers the version`, outcome.rows[0]?.['rowVersion'], after)
  }
  const action = write.call.name ?? write.call.operation
  findings.same(`audit of ${what}`, await auditEntries(store.sql, { entity, id, action }), 1)
}
