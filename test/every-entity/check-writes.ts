import type { KeyedEntity } from '../../data-service/entity/entity.js'
import { actionBody, createBody, deletableState, isSetByUpdate, suitableState, updateBody } from './bodies.js'
import { ANONYMOUS, type Caller, OWNERS } from './callers.js'
import { presetsFor } from './declared-rule.js'
import { answered, answeredByAll, Findings, problemsOfUnknown } from './findings.js'
import type { Members, Values } from './made-values.js'
import type { MadeRow } from './row-maker.js'
import { guardOf, guardsOf, isPredicated, ownerColumn, type Rule } from './rule.js'
import { tableRow } from '../oracle/entity-oracle.js'
import type { OracleRow } from '../oracle/load-rows.js'
import { auditEntries, fingerprint, storedVersion } from './stored-rows.js'
import type { TestedApplication } from './tested-application.js'
import type { Call, Outcome, Transport } from './transports.js'
import { absentId, admission, callersOf, everyCaller, isSeen, verdict, withOwners } from './verdict.js'

/** One create: who is named as the owner in the body, and what must become of it. */
interface Attempt {
  readonly call: Call
  readonly caller: Caller
  readonly named: number | undefined
  /** Of the new row. */
  readonly owner: number
  /** What becomes of it with this body. */
  readonly codeOf: (body: Members) => string
}

/** Who may create, and whose the new row is. */
export function checkCreates(tested: TestedApplication, entity: KeyedEntity): void {
  if (!entity.writes.has('create')) return
  const rule = tested.ruleOf(entity)
  const column = ownerColumn(rule)
  const owned = column === undefined || column === 'id' ? undefined : column

  it('create is rejected to whoever may not, and leaves nothing behind', async () => {
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
      if (code !== 'ok') await answeredByAll(tested, { call: { ...call, body }, caller }, { code, findings })
    }
    findings.same('what is stored after refusals', (await fingerprint(tested.sql, tested.entities)) === before, true)
    findings.finish()
  })

  if (!tested.succeeds(entity, 'create')) return
  it('create makes a row of the right owner for whoever may', async () => {
    const findings = new Findings(entity.name)
    for (const { call, caller, named, codeOf, owner } of attempts(tested, entity, owned)) {
      if (admission(rule, call, caller).code !== 'ok') continue
      for (const transport of tested.transports) {
        const body = await createBody(tested.maker, entity, { owner, named: named !== undefined })
        const code = codeOf(body)
        if (code !== 'ok') continue
        const outcome = await answered(tested, { call: { ...call, body }, caller, transport }, { code, findings })
        await checkCreated(tested, entity, { outcome, caller, owned, owner, findings })
      }
    }
    findings.finish()
  })
}

async function checkCreated(
  tested: TestedApplication,
  entity: KeyedEntity,
  of: { outcome: Outcome; caller: Caller; owned: string | undefined; owner: number; findings: Findings }
): Promise<void> {
  const { outcome, caller, owned, owner, findings } = of
  const id = String(outcome.rows[0]?.['id'])
  const row = outcome.code === 'ok' ? await tableRow(tested.sql, entity, id) : undefined
  findings.same(`row ${id} of ${entity.name}`, row !== undefined, true)
  if (owned !== undefined) findings.same(`owner of the new row ${id}`, String(row?.[owned]), String(owner))
  for (const [name, value] of Object.entries(presetsFor(entity, caller)))
    findings.same(`${name} of the new row ${id}`, String(row?.[name]), String(value))
  findings.same(`audit of the new row ${id}`, await auditEntries(tested, { entity, id, action: 'create' }), 1)
}

/** Each caller with no owner in the body, its own and another's. */
export function attempts(tested: TestedApplication, entity: KeyedEntity, owned: string | undefined): Attempt[] {
  const rule = tested.ruleOf(entity)
  const base: Call = { resource: entity.name, operation: 'create' }
  return withOwners(rule, base).flatMap((call) =>
    everyCaller(tested, rule, call).flatMap((caller) =>
      (owned === undefined ? [undefined] : [undefined, ...OWNERS]).map((named) => {
        const { code } = admission(rule, call, caller)
        if (code !== 'ok' || caller === ANONYMOUS) return { call, caller, named, codeOf: () => code, owner: OWNERS[0] }
        const claimed = claims(rule, caller)
        const owner = named ?? (claimed ? (caller.owner ?? OWNERS[0]) : OWNERS[0])
        return {
          call,
          caller,
          named,
          owner,
          codeOf: (body) => createCode(tested, entity, { call, caller, named, owned, body })
        }
      })
    )
  )
}

/** Whether the owner claim of the caller fills the owner of a new row. */
function claims(rule: Rule, caller: Caller): boolean {
  const guard = guardOf(rule, { operation: 'create' })
  if (isPredicated(guard)) return guard.claims?.(caller) === true
  return typeof guard === 'object' && 'column' in guard && !caller.bypass
}

/**
 * Contract section 5, create: on an owned resource the owner is the claim's, or has to be named; section 6: its scope and
 * its presets.
 */
function createCode(
  tested: TestedApplication,
  entity: KeyedEntity,
  of: { call: Call; caller: Caller; named: number | undefined; owned: string | undefined; body: Members }
): string {
  const { call, caller, named, owned, body } = of
  const rule = tested.ruleOf(entity)
  const claimed = claims(rule, caller)
  if (owned !== undefined && !claimed && named === undefined) return 'body.invalid'
  const { code, reaches } = verdict(rule, call, caller)
  if (code !== 'ok') return code
  if (owned !== undefined && claimed && named !== undefined && named !== caller.owner) return 'ownership.denied'
  const presets = presetsFor(entity, caller)
  if (Object.entries(presets).some(([name, value]) => value === null || !isRepeated(body, name, value)))
    return 'ownership.denied'
  const row = { ...body, ...presets, ...(owned === undefined ? {} : { [owned]: named ?? caller.owner }) }
  return reaches(row) ? 'ok' : 'ownership.denied'
}

/** Whether the body leaves the member out or has this value. */
function isRepeated(body: Members, name: string, value: unknown): boolean {
  return !Object.hasOwn(body, name) || String(body[name]) === String(value)
}

/** An update, a delete or an action, as it is tried on rows. */
interface Write {
  readonly call: Call
  readonly title: string
  /** What a row must be like for it to succeed. */
  readonly state: Values
}

/** Who may write which rows: what is rejected leaves nothing behind, another's row answers as none at all. */
export function checkRowWrites(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  // By their state: a rejected write leaves them as they are.
  const rejectedRows = new Map<string, Promise<MadeRow[]>>()
  for (const write of writesOf(entity, rule)) {
    it(`${write.title} is rejected to whoever may not, and leaves nothing behind`, async () => {
      const findings = new Findings(entity.name)
      const state = JSON.stringify(write.state)
      const made = rejectedRows.get(state) ?? ownersRows(tested, entity, write)
      rejectedRows.set(state, made)
      const rows = await made
      const bodies: (Members | undefined)[] = []
      for (const row of rows) bodies.push(await bodyOf(tested, entity, { write, row }))
      const before = await fingerprint(tested.sql, tested.entities)
      for (const call of withOwners(rule, write.call)) {
        for (const caller of callersOf(tested, rule, call)) {
          const texts: string[] = []
          const tried = [...rows.entries()]
          // Whoever is not admitted is so for any row, and who may patch a row is the rule of PUT.
          const isLikeOthers = write.call.patch === true || admission(rule, call, caller).code !== 'ok'
          for (const [at, row] of isLikeOthers ? tested.some('rows of rejected writes', tried, 1) : tried) {
            const made: Call = { ...call, id: row.id, ...withBody(bodies[at]), ifMatch: tagOf(rule, row) }
            const unguarded = { ...made, ifMatch: 'absent' as const }
            const code = rowCode(rule, { call: made, caller }, row)
            const rejected =
              code === 'ok' ? [] : await answeredByAll(tested, { call: made, caller }, { code, findings })
            texts.push(...problemsOfUnknown(rejected))
            const { code: admitted } = admission(rule, unguarded, caller)
            if (write.call.operation === 'delete' || at > 0) continue
            const wanted = admitted === 'ok' ? 'precondition.required' : admitted
            await answeredByAll(tested, { call: unguarded, caller }, { code: wanted, findings })
          }
          findings.same(`kinds of 404 for ${caller.name}`, new Set(texts).size, Math.min(texts.length, 1))
        }
      }
      findings.same('what is stored after refusals', (await fingerprint(tested.sql, tested.entities)) === before, true)
      findings.finish()
    })

    if (!tested.succeeds(entity, write.call.name ?? write.call.operation)) continue
    it(`${write.title} is done for whoever may`, async () => {
      const findings = new Findings(entity.name)
      for (const call of withOwners(rule, write.call)) {
        for (const caller of callersOf(tested, rule, call)) {
          for (const owner of ownerColumn(rule) === undefined ? [OWNERS[0]] : OWNERS) {
            const transport = tested.bothTransports[findings.checked % 2 === 0 ? 0 : 1]
            if (admission(rule, call, caller).code !== 'ok') continue
            const predicated = guardsOf(rule, call).some(isPredicated)
            const stands = rowCode(rule, { call: { ...call, id: '' }, caller }, { values: stand(rule, owner) })
            if (!predicated && stands !== 'ok') continue
            const row = await tested.maker.row(entity, { owner, values: write.state })
            if (predicated && rowCode(rule, { call: { ...call, id: row.id }, caller }, row) !== 'ok') continue
            await checkDone(tested, entity, { write: { ...write, call }, row, caller, transport, findings })
          }
        }
      }
      findings.finish()
    })
  }
}

function writesOf(entity: KeyedEntity, rule: Rule): Write[] {
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
      state: write.operation === 'delete' ? deletableState(rule) : {}
    }))
  const actions = Array.from(entity.actions.values(), (action) => ({
    call: { resource, operation: 'act' as const, name: action.name },
    title: action.name,
    state: suitableState(entity, rule, action)
  }))
  return [...plain, ...actions]
}

/** A row of each owner, and one that is not there. */
export async function ownersRows(tested: TestedApplication, entity: KeyedEntity, { state }: Write): Promise<MadeRow[]> {
  const own = await tested.maker.row(entity, { owner: OWNERS[0], values: state })
  const other = await tested.maker.row(entity, { owner: OWNERS[1], values: state })
  return [own, other, { ...own, id: absentId(entity), values: {} }]
}

/** What must become of a write of this row; one without values is not there. */
export function rowCode(
  rule: Rule,
  { call, caller }: { call: Call; caller: Caller },
  row: { values: OracleRow }
): string {
  const { code, reaches } = verdict(rule, call, caller)
  if (code !== 'ok') return code
  if (Object.keys(row.values).length === 0 || !reaches(row.values)) return 'not-found'
  // What an action makes of a row only the application knows.
  return call.operation !== 'update' || reaches({ ...row.values, ...call.body }) ? 'ok' : 'ownership.denied'
}

function stand(rule: Rule, owner: number): Values {
  return { [ownerColumn(rule) ?? 'id']: owner }
}

async function bodyOf(
  tested: TestedApplication,
  entity: KeyedEntity,
  of: { write: Write; row: MadeRow }
): Promise<Members | undefined> {
  const { call } = of.write
  if (call.operation === 'delete') return undefined
  const action = call.name === undefined ? undefined : entity.actions.get(call.name)
  return action === undefined
    ? { ...(await updateBody(tested.maker, entity)), ...keptOwner(tested.ruleOf(entity), entity, of.row) }
    : actionBody(tested.maker, entity, { action, row: of.row })
}

/** The owner of the row where a PUT may set it. */
export function keptOwner(rule: Rule, { columns }: KeyedEntity, { values }: MadeRow): Values {
  const owner = columns.find((column) => column.name === ownerColumn(rule) && isSetByUpdate(column))
  // A row that is not there has no owner.
  return owner === undefined ? {} : { [owner.name]: values[owner.name] ?? OWNERS[0] }
}

/** The tag of a row; `*` where rows have no version, and so no tag of their own. */
function tagOf({ versioned }: Rule, { version }: MadeRow): NonNullable<Call['ifMatch']> {
  return versioned ? { version } : 'star'
}

function withBody(body: Members | undefined): Pick<Call, 'body'> {
  return body === undefined ? {} : { body }
}

async function checkDone(
  tested: TestedApplication,
  entity: KeyedEntity,
  of: { write: Write; row: MadeRow; caller: Caller; transport: Transport; findings: Findings }
): Promise<void> {
  const { write, row, caller, transport, findings } = of
  const { id, version } = row
  const body = await bodyOf(tested, entity, { write, row })
  const rule = tested.ruleOf(entity)
  const call: Call = { ...write.call, id, ...withBody(body), ifMatch: tagOf(rule, row) }
  const code = rowCode(rule, { call, caller }, row)
  const outcome: Outcome = await answered(tested, { call, caller, transport }, { code, findings })
  if (code !== 'ok') return
  const what = `${write.title} ${id} by ${caller.name}`
  const after = await storedVersion(tested.sql, entity, id)
  if (write.call.operation === 'delete') findings.same(`${what} leaves`, after, undefined)
  else {
    findings.same(`${what} advances the version`, after === version, false)
    const stored = await tableRow(tested.sql, entity, id)
    const shown = stored !== undefined && isSeen(rule, caller, stored) ? after : undefined
    findings.same(`${what} answers the version`, outcome.rows[0]?.['rowVersion'], shown)
  }
  const action = write.call.name ?? write.call.operation
  findings.same(`audit of ${what}`, await auditEntries(tested, { entity, id, action }), 1)
}
