import type { Children, Column, KeyedEntity, Reference } from '../../data-service/entity/entity.js'
import { createBody, updateBody } from './bodies.js'
import { type Caller, OWNERS } from './callers.js'
import { answered, answeredByAll, Findings } from './findings.js'
import { SECRET } from './made-values.js'
import { guardOf, mayRead, ownerColumn, type Rule } from './rule.js'
import { idIn, keyColumns, quoted, tableRow, tableRows } from '../oracle/entity-oracle.js'
import { includedOf } from '../oracle/read-oracle.js'
import type { RawRow } from '../oracle/test-database.js'
import type { WireValue } from '../oracle/wire-value.js'
import type { OracleRow } from '../oracle/load-rows.js'
import type { MadeRow } from './row-maker.js'
import type { TestedApplication } from './tested-application.js'
import type { Call, Row } from './transports.js'
import { callersOf, neededFor, verdict, withOwners } from './verdict.js'

/** What comes with rows: referenced rows as far as the caller could read them by id, and the row's own children. */
export function checkIncludes(tested: TestedApplication, entity: KeyedEntity): void {
  checkReferences(tested, entity)
  checkReferencesWithin(tested, entity)
  checkManyToMany(tested, entity)
  checkChildren(tested, entity)
}

/** By SQL of our own: links and rows, of which the caller could read both. */
function checkManyToMany(tested: TestedApplication, entity: KeyedEntity): void {
  if (entity.manyToMany.length === 0) return
  const rule = tested.ruleOf(entity)
  it('includes of rows by links hold what the caller could read by itself, each once, and nothing else', async () => {
    const findings = new Findings(entity.name)
    const shape = { resource: entity.name, includeChildren: 'true' } as const
    const calls: Call[] = [
      { ...shape, operation: 'paged', pageSize: '500' },
      { ...shape, operation: 'list' }
    ]
    const linked = new Set<string>()
    for (const { name, through, from, to, sort } of entity.manyToMany) {
      const link = tested.entityNamed(through)
      const [back, onward] = [from, to].map((one) => link.references.find((reference) => reference.name === one))
      if (back === undefined || onward === undefined) throw new Error(`${name} leads through nothing`)
      const target = tested.entityNamed(onward.to)
      for (const owner of OWNERS) await makeLink(tested, { entity, link, back, onward, owner })
      const links = await tableRows(tested.sql, link)
      const targets = await tableRows(tested.sql, target)
      const expected = (id: string, caller: Caller): string[] => {
        const ids = links
          .filter((row) => idIn(row, back.via) === id && readable(tested, { to: link, row }, caller))
          .map((row) => idIn(row, onward.via))
        // In the order of their ids.
        const all = targets
          .filter((row) => ids.includes(String(row['id'])) && readable(tested, { to: target, row }, caller))
          .map((row) => String(row['id']))
        return [...includedOf(all)]
      }
      for (const [call, caller] of calls.flatMap((one) =>
        includers(tested, rule, one).map((by) => [one, by] as const)
      )) {
        for (const outcome of await answeredByAll(tested, { call, caller }, { code: 'ok', findings })) {
          findings.same(`secrets by ${caller.name}`, outcome.text.includes(SECRET), false)
          for (const row of outcome.rows) {
            const included = row[name]
            const shown = Array.isArray(included) ? included.map((one: Row) => String(one['id'])) : []
            if (shown.length > 0) linked.add(name)
            const [wanted, found] = [expected(String(row['id']), caller), sort.length > 0 ? shown.toSorted() : shown]
            const what = `${name} of ${entity.name} ${String(row['id'])} in ${call.operation} by ${caller.name}`
            findings.same(what, found, sort.length > 0 ? wanted.toSorted() : wanted)
          }
        }
      }
    }
    findings.same(
      'navigations that somebody was shown rows of',
      [...linked],
      entity.manyToMany.map(({ name }) => name)
    )
    findings.finish()
  })
}

function checkReferences(tested: TestedApplication, entity: KeyedEntity): void {
  if (entity.references.length === 0) return
  const rule = tested.ruleOf(entity)
  const crossed = entity.references.filter((reference) => mayCross(tested, entity, reference))
  it('includes of references hold what the caller could read by itself, and nothing else', async () => {
    const findings = new Findings(entity.name)
    const foreign: string[] = []
    for (const reference of crossed) foreign.push(await rowOfAnotherOwner(tested, entity, reference))
    const targets = new Map<string, OracleRow[]>()
    for (const { to } of entity.references) targets.set(to, await tableRows(tested.sql, tested.entityNamed(to)))
    const rows = new Map((await tableRows(tested.sql, entity)).map((row) => [String(row['id']), row]))
    const shape = { resource: entity.name, includeFKs: 'true' } as const
    const calls: Call[] = [
      { ...shape, operation: 'paged', pageSize: '500' },
      { ...shape, operation: 'list' },
      ...foreign.map((id): Call => ({ ...shape, operation: 'get', id }))
    ]
    const hidden = new Set<string>()
    for (const [call, caller] of calls.flatMap((one) => includers(tested, rule, one).map((by) => [one, by] as const))) {
      const { reaches } = verdict(rule, call, caller)
      const reached = rows.get(call.id ?? '')
      if (call.operation === 'get' && (reached === undefined || !reaches(reached))) continue
      for (const outcome of await answeredByAll(tested, { call, caller }, { code: 'ok', findings })) {
        findings.same(`secrets by ${caller.name}`, outcome.text.includes(SECRET), false)
        for (const row of outcome.rows) {
          for (const { name, to, via } of entity.references) {
            const stored = rows.get(String(row['id']))
            const key = stored === undefined ? null : idIn(stored, via)
            const target = targets.get(to)?.find((one) => key !== null && String(one['id']) === key)
            const seen = target !== undefined && readable(tested, { to: tested.entityNamed(to), row: target }, caller)
            const what = `${name} of ${entity.name} ${String(row['id'])} in ${call.operation} by ${caller.name}`
            if (target !== undefined && !seen) hidden.add(name)
            findings.same(what, includedId(row[name]), seen ? key : null)
          }
        }
      }
    }
    const unhidden = crossed.map(({ name }) => name).filter((name) => !hidden.has(name))
    findings.same('references to rows of other owners that nobody was shown a row of', unhidden, [])
    findings.finish()
  })
}

/** A reference of the rows that a navigation leads to. */
interface ReferenceWithin {
  readonly navigation: string
  readonly reference: Reference
}

/** References of referenced rows and of children, each of which every reader may name. At most as many as a request names. */
function referencesWithin(tested: TestedApplication, entity: KeyedEntity): readonly ReferenceWithin[] {
  const within = [
    ...entity.references
      .filter(isOpen)
      .map(({ name, to }) => ({ name, references: tested.entityNamed(to).references })),
    ...entity.children.filter(({ resource }) => resource === undefined)
  ]
  return within
    .flatMap(({ name, references }) => references.filter(isOpen).map((reference) => ({ navigation: name, reference })))
    .slice(0, 10)
}

/** Whether it takes no permission to see. */
function isOpen({ via }: Reference): boolean {
  return via.every(({ field }) => field.readableBy === undefined)
}

function checkReferencesWithin(tested: TestedApplication, entity: KeyedEntity): void {
  const within = referencesWithin(tested, entity)
  if (within.length === 0) return
  const rule = tested.ruleOf(entity)
  it('references of included rows hold what the caller could read by itself, and nothing else', async () => {
    const findings = new Findings(entity.name)
    const include = within.map(({ navigation, reference }) => `${navigation}.${reference.name}`).join()
    const call: Call = { resource: entity.name, operation: 'paged', pageSize: '500', include }
    const targets = new Map<string, OracleRow[]>()
    for (const { reference } of within) {
      targets.set(reference.to, await tableRows(tested.sql, tested.entityNamed(reference.to)))
    }
    for (const caller of includers(tested, rule, call)) {
      for (const { rows, text } of await answeredByAll(tested, { call, caller }, { code: 'ok', findings })) {
        findings.same(`secrets by ${caller.name}`, text.includes(SECRET), false)
        for (const { navigation, reference } of within) {
          const { name, to, via } = reference
          for (const holder of rows.flatMap((row): readonly Row[] => [(row[navigation] ?? []) as Row | Row[]].flat())) {
            const key = keyIn(holder, via)
            const target = targets.get(to)?.find((one) => key !== null && String(one['id']) === key)
            const seen = target !== undefined && readable(tested, { to: tested.entityNamed(to), row: target }, caller)
            const what = `${navigation}.${name} of a row of ${entity.name} by ${caller.name}`
            findings.same(what, includedId(holder[name]), seen ? key : null)
          }
        }
      }
    }
    findings.finish()
  })
}

/** The id of the row that a shown row refers to. */
function keyIn(row: Row, via: Reference['via']): string | null {
  return idIn(Object.fromEntries(via.map(({ name }) => [name, (row[name] ?? null) as WireValue])), via)
}

/** Whether a row of one owner may refer to a row that only another one reads. */
function mayCross(tested: TestedApplication, entity: KeyedEntity, { to, via }: Reference): boolean {
  const target = guardOf(tested.ruleOf(tested.entityNamed(to)), { operation: 'get' })
  return (
    typeof target === 'object' &&
    'column' in target &&
    via.every(({ name }) => name !== ownerColumn(tested.ruleOf(entity)))
  )
}

/** The id of a new row of the first owner that refers to a row of the second one. */
async function rowOfAnotherOwner(
  tested: TestedApplication,
  entity: KeyedEntity,
  { name, to, via }: Reference
): Promise<string> {
  const [owner, other] = OWNERS
  const values = tested.maker.valuesOf(entity).references?.[via[0].name]
  const referred = tested.entityNamed(to)
  const target = await tested.maker.row(referred, { owner: other, values: { ...values } })
  const key = via.map((column, at): [string, WireValue] => [
    column.name,
    target.values[referred.key[at]?.name ?? ''] ?? null
  ])
  const made = await tested.maker.row(entity, { owner, values: Object.fromEntries(key) })
  if (made.values[via[0].name] === undefined) throw new Error(`${entity.name} has no key of ${name}`)
  return made.id
}

/** By SQL of our own. */
function checkChildren(tested: TestedApplication, entity: KeyedEntity): void {
  const children = entity.children.filter(({ store: one }) => one === 'primary')
  if (children.length === 0) return
  it('includes of children are those of the row, and so are theirs', async () => {
    const findings = new Findings(entity.name)
    const call: Call = { resource: entity.name, operation: 'paged', pageSize: '500', includeChildren: 'true' }
    const outcomes = await answeredByAll(tested, { call, caller: tested.callers.bypass }, { code: 'ok', findings })
    const compare = async ({ name, table, key, foreignKey, children: nested }: Children, roots: readonly Row[]) => {
      const aliased = (columns: readonly Column[], as: string): string =>
        columns.map(({ column }, at) => `${quoted(column)} AS ${as}${at}`).join(', ')
      const found = await tested.sql.run(
        `SELECT ${aliased(key, 'k')}, ${aliased(foreignKey, 'r')} FROM ${quoted(table)} ORDER BY ${keyColumns({ key })}`
      )
      const idOf = (row: RawRow, columns: readonly Column[], as: string): string | null =>
        idIn(Object.fromEntries(columns.map((column, at) => [column.name, String(row[`${as}${at}`])])), columns)
      const stored = found.map((row) => ({ id: idOf(row, key, 'k'), root: idOf(row, foreignKey, 'r') }))
      const within: Row[] = []
      for (const row of roots) {
        const all = stored.filter(({ root }) => String(root) === String(row['id'])).map(({ id }) => String(id))
        const own = includedOf(all)
        const included = row[name]
        const shown = Array.isArray(included) ? included.map((one: Row) => String(one['id'])) : included
        findings.same(`${name} of ${String(row['id'])}`, shown, own)
        if (Array.isArray(included)) within.push(...(included as Row[]))
      }
      findings.same(`${name} of some row`, within.length > 0, true)
      for (const one of nested) await compare(one, within)
    }
    for (const one of children) for (const { rows } of outcomes) await compare(one, rows)
    findings.finish()
  })
}

/** A link from a new row of the first owner to a new row of an owner, where rows of all three can be made. */
async function makeLink(
  tested: TestedApplication,
  of: {
    readonly entity: KeyedEntity
    readonly link: KeyedEntity
    readonly back: Reference
    readonly onward: Reference
    readonly owner: number
  }
): Promise<void> {
  const { maker } = tested
  const { entity, link, back, onward, owner } = of
  const target = tested.entityNamed(onward.to)
  const isMade = [entity, link, target].every((one) => {
    const { madeOf, given } = maker.valuesOf(one)
    return madeOf === undefined && given !== true
  })
  if (!isMade) return
  const first = OWNERS[0]
  const [from, to] = [await maker.row(entity, { owner: first }), await maker.row(target, { owner })]
  const keyOf = ({ via }: Reference, { key }: KeyedEntity, { values }: MadeRow): (readonly [string, WireValue])[] =>
    via.map(({ name }, at) => [name, values[key[at]?.name ?? ''] ?? null])
  const values = Object.fromEntries([...keyOf(back, entity, from), ...keyOf(onward, target, to)])
  await maker.row(link, { owner: first, values })
}

/** Those who may read the collection. */
function includers(tested: TestedApplication, rule: Rule, call: Call): Caller[] {
  const callers = [...callersOf(tested, rule, call), tested.callers.owner(OWNERS[0], tested.callers.permissions)]
  return callers.filter((caller) => verdict(rule, call, caller).code === 'ok')
}

/** Whether the caller could read the row by its id. */
function readable(
  tested: TestedApplication,
  { to, row }: { readonly to: KeyedEntity; readonly row: OracleRow },
  caller: Caller
): boolean {
  const call: Call = { resource: to.name, operation: 'get', id: String(row['id']) }
  const { code, reaches } = verdict(tested.ruleOf(to), call, caller)
  return code === 'ok' && reaches(row)
}

function includedId(included: unknown): string | null {
  if (included === null || included === undefined) return null
  return String((included as Row)['id']) // an included row is an object
}

const READS = [
  { operation: 'list', includeChildren: 'true' },
  { operation: 'paged', includeChildren: 'true' },
  { operation: 'get', includeChildren: 'true' },
  { operation: 'export' }
] as const

/** Who sees the properties that take a permission, and what becomes of them in the bodies of all others. */
export function checkColumnPermissions(tested: TestedApplication, entity: KeyedEntity): void {
  const rule = tested.ruleOf(entity)
  const names = Object.keys(rule.byPermission)
  if (names.length === 0) return

  it('shows each caller the properties that the caller has the permission for, and no other', async () => {
    const findings = new Findings(entity.name)
    const [first] = await tableRows(tested.sql, entity)
    for (const read of READS) {
      const id = read.operation === 'get' ? { id: String(first?.['id']) } : {}
      for (const call of withOwners(rule, { resource: entity.name, ...read, ...id })) {
        for (const caller of readers(tested, rule, { call, row: first ?? {} })) {
          for (const { rows } of await answeredByAll(tested, { call, caller }, { code: 'ok', findings })) {
            for (const name of names.filter((one) => read.operation !== 'export' || !one.includes('.'))) {
              const shown = rows.flatMap((row) => membersNamed(name, row))
              const expected = shown.map(() => mayRead(rule, name, caller.permissions))
              findings.same(`${name} in ${read.operation} by ${caller.name}`, shown, expected)
            }
          }
        }
      }
    }
    findings.finish()
  })

  const writer = writerWithout(tested, rule, names)
  if (writer === undefined || !entity.writes.has('create') || !entity.writes.has('update')) return

  it('ignores in bodies what the caller may not read: a create leaves it empty, PUT and PATCH keep it', async () => {
    const findings = new Findings(entity.name)
    const owner = OWNERS[0]
    const kept = names.filter((name) => !mayRead(rule, name, writer.permissions))
    const columns = entity.columns.filter(({ name, field }) => kept.includes(name) && field.writability === 'always')
    const stored = async (id: string): Promise<readonly unknown[]> => {
      const row = await tableRow(tested.sql, entity, id)
      return columns.map(({ name }) => row?.[name] ?? null)
    }
    for (const transport of tested.transports) {
      const { id, version } = await tested.maker.row(entity, { owner })
      const before = await stored(id)
      findings.same('the row has values to lose', before.includes(null), false)
      const base = { resource: entity.name, ...ownerOf(rule, owner) }
      let ifMatch = { version }
      for (const patch of [false, true]) {
        const body = await updateBody(tested.maker, entity)
        const call: Call = { ...base, operation: 'update', id, body, ifMatch, patch }
        const updated = await answered(tested, { call, caller: writer, transport }, { code: 'ok', findings })
        const what = `${transport.name} ${patch ? 'PATCH' : 'PUT'}`
        findings.same(`what ${what} kept`, await stored(id), before)
        const members = updated.rows.flatMap(Object.keys).filter((name) => kept.includes(name))
        findings.same(`members of the answer to ${what}`, members, [])
        ifMatch = { version: String(updated.rows[0]?.['rowVersion']) }
      }
      const body = await createBody(tested.maker, entity, { owner, named: false })
      const create: Call = { ...base, operation: 'create', body }
      const created = await answered(tested, { call: create, caller: writer, transport }, { code: 'ok', findings })
      const empty = columns.map(({ field }) => field.defaultTo ?? null)
      if (created.code !== 'ok') continue
      findings.same(`what ${transport.name} create left empty`, await stored(String(created.rows[0]?.['id'])), empty)
    }
    findings.finish()
  })
}

/** Callers whom the read is answered with at least this row, with and without each permission. */
function readers(
  tested: TestedApplication,
  rule: Rule,
  { call, row }: { readonly call: Call; readonly row: Row }
): Caller[] {
  const permissions = Object.values(rule.byPermission).flat()
  return tested.callers.of([...new Set([...neededFor(rule, call), ...permissions])]).filter((caller) => {
    const { code, reaches } = verdict(rule, call, caller)
    return code === 'ok' && reaches(row)
  })
}

/** Whether the row, each child of `lines.unitCost`, or each child of a child, has the member. */
function membersNamed(name: string, row: Row): boolean[] {
  const [first = '', ...others] = name.split('.')
  if (others.length === 0) return [Object.hasOwn(row, first)]
  const children = row[first]
  // Whose foreign key the caller may not read.
  if (children === undefined) return [false]
  if (!Array.isArray(children)) throw new TypeError(`no ${first}`)
  return (children as Row[]).flatMap((one) => membersNamed(others.join('.'), one))
}

/** Somebody who may write but not read all of it. */
function writerWithout(tested: TestedApplication, rule: Rule, names: readonly string[]): Caller | undefined {
  if (!rule.writes.includes('update')) return undefined
  const caller = tested.callers.owner(OWNERS[0], neededFor(rule, { resource: '', operation: 'update' }))
  return names.every((name) => mayRead(rule, name, caller.permissions)) ? undefined : caller
}

function ownerOf({ ownerFilter }: Rule, owner: number): Pick<Call, 'owner'> {
  if (ownerFilter === undefined || ownerFilter.parameter === 'id') return {}
  return { owner: { parameter: ownerFilter.parameter, values: [String(owner)] } }
}
