import type { Action } from '../../data-service/entity/action.js'
import type { KeyedEntity } from '../../data-service/entity/entity.js'
import {
  actionBody,
  deletableState,
  isSetByUpdate,
  neededState,
  statesOf,
  suitableState,
  suits,
  undeletableStates,
  updateBody
} from './bodies.js'
import type { Call, IfMatch, Row, Transport } from './transports.js'
import type { TestedApplication } from './tested-application.js'
import { answeredByAll, Findings } from './findings.js'
import type { Members, Values } from './made-values.js'
import { fingerprint, storedVersion } from './stored-rows.js'
import type { Caller } from './callers.js'
import { absentId, whoReaches } from './verdict.js'

const STALE: IfMatch = { version: 'AAAAAAAAAAA=' }
const SHORT: IfMatch = { version: 'AA==' }

/** What each tag that is not the row's must be answered with, whatever state the row is in. */
const REFUSED: readonly (readonly [IfMatch, code: string])[] = [
  ['absent', 'precondition.required'],
  ['blank', 'precondition.required'],
  ['star', 'precondition.required'],
  ['malformed', 'precondition.malformed'],
  [STALE, 'conflict'],
  [SHORT, 'conflict']
]

/** Each action in each state with each kind of tag, and PUT, PATCH and DELETE with each kind of tag. */
export function checkPreconditions(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  for (const action of entity.actions.values()) {
    if (!tested.succeeds(entity, action.name)) continue
    it(`${action.name} needs the row's tag, then its state`, async () => {
      const findings = new Findings(entity.name)
      const needed = neededState(rule, action)
      for (const state of Object.keys(needed).length === 0
        ? [suitableState(entity, rule, action)]
        : statesOf(entity, rule)) {
        const row = await tested.maker.row(entity, { values: state })
        const body = await actionBody(tested.maker, entity, { action, row })
        const call = { resource: entity.name, operation: 'act', name: action.name, id: row.id, body } as const
        const caller = whoReaches(tested.callers, rule, call, row.values)
        if (caller === undefined) {
          findings.unreached(call)
          continue
        }
        await checkTags(tested, entity, { call, caller, findings })
        if (suits(needed, state)) await checkFresh(tested, entity, { call, caller, state, action, findings })
        else {
          const made = { call: { ...call, ifMatch: { version: row.version } }, caller }
          await answeredByAll(tested, made, { code: 'state.invalid', findings })
        }
      }
      findings.finish()
    })
  }

  const updates = entity.writes.has('update') && tested.succeeds(entity, 'update')
  for (const patch of updates ? [false, true] : []) {
    it(`${patch ? 'patch' : 'update'} needs the row's tag`, async () => {
      const findings = new Findings(entity.name)
      const row = await tested.maker.row(entity)
      const body = await updateBody(tested.maker, entity)
      const call = { resource: entity.name, operation: 'update', id: row.id, body, patch } as const
      const caller = whoReaches(tested.callers, rule, call, row.values)
      if (caller === undefined) findings.unreached(call)
      else await checkTags(tested, entity, { call, caller, findings })
      if (caller !== undefined) await checkFresh(tested, entity, { call, caller, state: {}, findings })
      findings.finish()
    })
  }

  const required = entity.columns.filter((column) => isSetByUpdate(column) && !column.field.nullable)
  if (updates && required.length > 0) {
    it('update gives a member that is left out its default, and misses one that has none', async () => {
      const findings = new Findings(entity.name)
      const body = await updateBody(tested.maker, entity)
      const row = await tested.maker.row(entity)
      const caller = whoUpdates(tested, entity, { row: row.values, bodies: [body], findings })
      if (caller === undefined) return findings.finish()
      let version = row.version
      for (const { name, field } of required) {
        const { [name]: _, ...rest } = body
        // A write-only member keeps its value.
        const hasDefault = field.hidden || field.defaultTo !== undefined || field.filledByDatabase
        for (const transport of tested.transports) {
          const call = { resource: entity.name, operation: 'update', id: row.id, body: rest } as const
          const outcome = await tested.send(transport, { ...call, ifMatch: { version } }, caller)
          const what = `${transport.name} without ${name}`
          findings.same(what, outcome.code, hasDefault ? 'ok' : 'body.invalid')
          if (outcome.code === 'ok') version = String(outcome.rows[0]?.['rowVersion'])
          if (field.hidden || field.defaultTo === undefined) continue
          findings.same(what, JSON.stringify(outcome.rows[0]?.[name]), JSON.stringify(field.defaultTo))
        }
      }
      findings.finish()
    })
  }

  if (updates) {
    it('patch sets the members sent and keeps all others', async () => {
      const findings = new Findings(entity.name)
      const first = await updateBody(tested.maker, entity)
      const second = await updateBody(tested.maker, entity)
      const row = await tested.maker.row(entity)
      const caller = whoUpdates(tested, entity, { row: row.values, bodies: [first, second], findings })
      if (caller === undefined) return findings.finish()
      let version = row.version
      const write = async (transport: Transport, body: Members, patch: boolean): Promise<Row> => {
        const call = {
          resource: entity.name,
          operation: 'update',
          id: row.id,
          body,
          patch,
          ifMatch: { version }
        } as const
        const outcome = await tested.send(transport, call, caller)
        const { code, detail, rows } = outcome
        if (!findings.same(`${transport.name} ${JSON.stringify(body)}`, `${code} ${detail}`, 'ok '))
          findings.rejected(call, outcome)
        version = String(rows[0]?.['rowVersion'])
        return rows[0] ?? {}
      }
      const names = Object.keys(first)
      for (const transport of tested.transports) {
        const changed = await write(transport, second, false)
        const before = await write(transport, first, false)
        for (const name of [undefined, ...tested.some('members of patches', names, 3)]) {
          const after = await write(transport, name === undefined ? {} : { [name]: second[name] }, true)
          const wanted = names.map((one) => (one === name ? changed : before)[one])
          const what = `${transport.name} patch of ${name ?? 'nothing'}`
          findings.same(what, JSON.stringify(names.map((one) => after[one])), JSON.stringify(wanted))
          findings.same(`${what}, version`, version, await storedVersion(tested.sql, entity, row.id))
          await write(transport, first, false)
        }
      }
      findings.finish()
    })
  }

  if (entity.writes.has('delete') && tested.succeeds(entity, 'delete')) {
    const { versioned } = rule
    it(`delete goes without a tag and ${versioned ? "honours the row's" : 'knows no tag that matches'}`, async () => {
      const findings = new Findings(entity.name)
      const row = await tested.maker.row(entity)
      const call = { resource: entity.name, operation: 'delete', id: row.id } as const
      const caller = whoReaches(tested.callers, rule, call, row.values)
      if (caller === undefined) {
        findings.unreached(call)
        return findings.finish()
      }
      await checkTags(tested, entity, { call, caller, findings })
      for (const ifMatch of ['absent', 'blank', 'star', 'fresh'] as const) {
        const gone = await tested.maker.row(entity, { values: deletableState(rule) })
        // No tag matches a row without a version: it stays.
        const [first, again] = ifMatch === 'fresh' && !versioned ? ['conflict', 'conflict'] : ['ok', 'not-found']
        const made: Call = { ...call, id: gone.id, ifMatch: ifMatch === 'fresh' ? { version: gone.version } : ifMatch }
        for (const [at, code] of [first, again].entries()) {
          const transport = tested.bothTransports[at === 0 ? 0 : 1]
          const outcome = await tested.send(transport, made, caller)
          if (!findings.same(`delete with ${ifMatch}`, outcome.code, code) && code === 'ok')
            findings.rejected(made, outcome)
        }
      }
      findings.finish()
    })

    if (undeletableStates(entity, rule).length > 0) {
      it('delete needs the row in a state that allows it', () => checkUndeletable(tested, entity))
    }
  }
}

/** Somebody who may give the row each of these bodies. */
function whoUpdates(
  tested: TestedApplication,
  entity: KeyedEntity,
  { row, bodies, findings }: { readonly row: Row; readonly bodies: readonly Members[]; readonly findings: Findings }
): Caller | undefined {
  const call = { resource: entity.name, operation: 'update' } as const
  const rows = [row, ...bodies.map((body) => ({ ...row, ...body }))]
  const caller = whoReaches(tested.callers, tested.ruleOf(entity), call, ...rows)
  if (caller === undefined) findings.unreached(call)
  return caller
}

/** What comes first of two things that are wrong with a delete: no row, then its tag, then its state. */
async function checkUndeletable(tested: TestedApplication, entity: KeyedEntity): Promise<void> {
  const findings = new Findings(entity.name)
  for (const values of undeletableStates(entity, tested.ruleOf(entity))) {
    const row = await tested.maker.row(entity, { values })
    const before = await fingerprint(tested.sql, tested.entities)
    const call = { resource: entity.name, operation: 'delete', id: row.id } as const
    const caller = whoReaches(tested.callers, tested.ruleOf(entity), call, row.values)
    if (caller === undefined) {
      findings.unreached(call)
      continue
    }
    for (const [ifMatch, code] of [
      ['absent', 'state.invalid'],
      ['star', 'state.invalid'],
      [{ version: row.version }, 'state.invalid'],
      [STALE, 'conflict']
    ] as const) {
      await answeredByAll(tested, { call: { ...call, ifMatch }, caller }, { code, findings })
    }
    const absent = { call: { ...call, id: absentId(entity) }, caller }
    await answeredByAll(tested, absent, { code: 'not-found', findings })
    findings.same(`what is stored of ${entity.name}`, (await fingerprint(tested.sql, tested.entities)) === before, true)
  }
  findings.finish()
}

/** Every tag that must be rejected, before anything that the body has wrong, and nothing comes of it. */
async function checkTags(
  tested: TestedApplication,
  entity: KeyedEntity,
  { call, caller, findings }: { readonly call: Call; readonly caller: Caller; readonly findings: Findings }
): Promise<void> {
  const compared = tested.comparedFor(entity)
  const before = await fingerprint(tested.sql, compared)
  const refused = REFUSED.flatMap(([ifMatch, code]) => {
    if (call.operation === 'delete' && code === 'precondition.required') return []
    const bodies = code === 'conflict' ? [call.body] : [call.body, wrong(call.body)]
    return bodies.map((body) => ({ ifMatch, code, body }))
  })
  for (const { ifMatch, code, body } of tested.some(`tags of ${call.operation}`, refused, 3)) {
    const made = {
      call: { ...call, ifMatch, ...(body === undefined ? {} : { body }) },
      caller
    }
    await answeredByAll(tested, made, { code, findings })
  }
  const same = (await fingerprint(tested.sql, compared)) === before
  findings.same(`what is stored of ${entity.name} after refusals`, same, true)
}

/** A member of every type that is none. */
function wrong(body: object | undefined): Members | undefined {
  return body && Object.fromEntries(Object.keys(body).map((name) => [name, { no: 'value' }]))
}

/** With the row's tag each transport is answered, and the tag is stale from then on. */
async function checkFresh(
  tested: TestedApplication,
  entity: KeyedEntity,
  of: {
    readonly call: Call
    readonly caller: Caller
    readonly state: Values
    readonly action?: Action
    readonly findings: Findings
  }
): Promise<void> {
  const { call, caller, state, action, findings } = of
  for (const transport of tested.transports) {
    const fresh = await tested.maker.row(entity, { values: state })
    const { maker } = tested
    const body = await (action ? actionBody(maker, entity, { action, row: fresh }) : updateBody(maker, entity))
    const made = { ...call, id: fresh.id, body, ifMatch: { version: fresh.version } }
    const what = `${transport.name} ${call.name ?? call.operation} in its state`
    const outcome = await tested.send(transport, made, caller)
    if (!findings.same(what, `${outcome.code} ${outcome.detail}`, 'ok ')) findings.rejected(made, outcome)
    findings.same(
      `${what}, version`,
      outcome.rows[0]?.['rowVersion'],
      await storedVersion(tested.sql, entity, fresh.id)
    )
    findings.same(`${what}, again`, (await tested.send(transport, made, caller)).code, 'conflict')
  }
}
