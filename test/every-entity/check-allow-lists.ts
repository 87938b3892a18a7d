import type { Entity } from '../../data-service/entity/entity.js'
import { parseCondition } from '../oracle/condition.js'
import { order } from '../oracle/read-oracle.js'
import type { OracleProperty, OracleResource } from '../oracle/resource.js'
import type { WireValue } from '../oracle/wire-value.js'
import type { Call, Outcome, Transport } from './call.js'
import { ADMIN, callersOf } from './caller.js'
import { type Described, describedResource } from './described.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { hiddenNames } from './hidden-names.js'
import { propertyRows } from './property-rows.js'
import { ruleOf } from './rule-of.js'
import { mayRead } from './rule.js'
import type { StoredRow } from './table-rows.js'
import { neededFor, verdict } from './verdict.js'

/** What filters, sorts and fields take, with the very rows; all else is a name that nobody knows. */
export function checkAllowLists(store: EveryStore, entity: Entity): void {
  const page: Call = { resource: entity.name, operation: 'paged', pageSize: '500' }

  it('filters by every filterable property with each of its operators', async () => {
    const findings = new Findings()
    const rows = await propertyRows(store.sql, entity)
    for (const property of (await describedResource(store, entity)).filter(({ filterable }) => filterable)) {
      for (const operator of property.operators) {
        const value = valueFor(property, operator, rows)
        const test = parseCondition(oracleProperty(property), operator, value)
        const filters = [{ property: property.name, operator, value }]
        const rejection = 'code' in test ? test.code : 'ok'
        const outcomes = await answeredByAll(
          store,
          { call: { ...page, filters }, caller: ADMIN },
          { code: rejection, findings }
        )
        const expected = 'code' in test ? [] : rows.filter((row) => test(row[property.name] ?? null)).map(idOf)
        for (const outcome of outcomes) {
          findings.same(`${property.name} ${operator} ${value}`, outcome.rows.map(idOf), expected)
        }
      }
    }
    findings.finish()
  })

  it('sorts by every sortable property, both ways', async () => {
    const findings = new Findings()
    const rows = await propertyRows(store.sql, entity)
    const properties = await describedResource(store, entity)
    const resource: OracleResource = {
      name: entity.name,
      from: '',
      properties: properties.map(oracleProperty),
      searchable: []
    }
    for (const property of properties.filter(({ sortable }) => sortable)) {
      for (const sortDirection of ['asc', 'desc']) {
        const call: Call = { ...page, sortColumn: property.name, sortDirection }
        const outcomes = await answeredByAll(store, { call, caller: ADMIN }, { code: 'ok', findings })
        const sorted = order(resource, rows, [
          { sort: oracleProperty(property), descending: sortDirection === 'desc' }
        ]).map(idOf)
        for (const outcome of outcomes) {
          findings.same(`${property.name} ${sortDirection}`, outcome.rows.map(idOf), sorted)
        }
        for (const transport of store.transports) {
          const walk = await walkedByCursors(store, { call, transport, rows: rows.length })
          const [what, back] = [`${transport.name} cursors of ${property.name} ${sortDirection}`, walk.back]
          findings.same(what, walk.forward, sorted)
          findings.same(`${what}, back`, back, sorted.slice(0, back.length))
          findings.same(`${what}, back to the first row`, back.length > 0, sorted.length > 1)
        }
      }
    }
    findings.finish()
  })

  it('searches its searchable properties alone', async () => {
    const findings = new Findings()
    const { searchable } = ruleOf(entity)
    const rows = await propertyRows(store.sql, entity)
    const described = await describedResource(store, entity)
    const told = described.filter((property) => property.searchable).map(({ name }) => name)
    findings.same('searchable properties', told.toSorted(), searchable.toSorted())
    const texts = described.filter(({ type, filterable }) => type === 'string' && filterable)
    for (const { name } of texts) {
      const [word = 'x'] = valueFor({ name }, '', rows).split(/\s+/)
      const matches = described
        .filter((property) => searchable.includes(property.name))
        .map((property) => {
          const test = parseCondition(oracleProperty(property), 'contains', word)
          return (row: StoredRow): boolean => !('code' in test) && test(row[property.name] ?? null)
        })
      const found = rows.filter((row) => matches.some((match) => match(row))).map(idOf)
      for (const operation of ['paged', 'list', 'export'] as const) {
        for (const transport of store.transports) {
          const call: Call = { ...page, operation, search: word }
          const what = `${transport.name} ${operation} search=${word}`
          const { code, rows: shown } = await store.send(transport, call, ADMIN)
          const isIgnored = searchable.length === 0 && transport.name === 'HTTP'
          const expected = isIgnored ? rows.map(idOf) : searchable.length === 0 ? 'parameter.unknown' : found
          findings.same(what, code === 'ok' ? shown.map(idOf) : code, expected)
        }
      }
    }
    findings.finish()
  })

  it('selects every property that has a column, and nothing besides', async () => {
    const findings = new Findings()
    for (const { name, selectable } of await describedResource(store, entity)) {
      const code = selectable ? 'ok' : 'fields.invalid'
      const call = { ...page, fields: name }
      const outcomes = await answeredByAll(store, { call, caller: ADMIN }, { code, findings })
      for (const { rows } of outcomes) {
        findings.same(`members of fields=${name}`, [...new Set(rows.flatMap(Object.keys))], selectable ? [name] : [])
      }
    }
    findings.finish()
  })

  it('knows no property by which it neither filters nor sorts', async () => {
    const findings = new Findings()
    for (const { name, filterable, sortable } of await describedResource(store, entity)) {
      const filters = [{ property: name, operator: 'equals', value: '1' }]
      const rejected = { code: 'filter.property.unknown', findings }
      if (!filterable) await answeredByAll(store, { call: { ...page, filters }, caller: ADMIN }, rejected)
      const unsorted = { ...rejected, code: 'sort.property.unknown' }
      if (!sortable) await answeredByAll(store, { call: { ...page, sortColumn: name }, caller: ADMIN }, unsorted)
    }
    const unsupported = [{ property: 'id', operator: 'resembles', value: '1' }]
    const code = 'filter.operator.unsupported'
    await answeredByAll(store, { call: { ...page, filters: unsupported }, caller: ADMIN }, { code, findings })
    findings.finish()
  })

  it('knows a name that the caller may not know no better than one that nobody has', async () => {
    const findings = new Findings()
    const hidden = await hiddenNames(store.sql, entity)
    const rule = ruleOf(entity)
    const unseen = callersOf(neededFor(rule, page))
      .filter((caller) => verdict(rule, page, caller).code === 'ok')
      .map((caller) => {
        const names = Object.keys(rule.byPermission).filter((name) => !name.includes('.'))
        return { caller, names: names.filter((name) => !mayRead(rule, name, caller.permissions)) }
      })
    const probes: readonly ((name: string) => Partial<Call>)[] = [
      (property) => ({ filters: [{ property, operator: 'equals', value: '1' }] }),
      (property) => ({ filters: [{ property, operator: 'is empty', value: '' }] }),
      (sortColumn) => ({ sortColumn }),
      (fields) => ({ fields }),
      (name) => ({ fields: `id,${name}` })
    ]
    for (const { caller, names } of [{ caller: ADMIN, names: hidden }, ...unseen]) {
      for (const transport of store.transports) {
        for (const probe of probes) {
          for (const name of names) {
            const ask = async (one: string): Promise<string> => {
              const { code, text } = await store.send(transport, { ...page, ...probe(one) }, caller)
              return `${code} ${text.replaceAll(one, 'NAME').replaceAll(SUGGESTION, '')}`
            }
            const answer = await ask(name)
            const what = `${transport.name} ${name} by ${caller.name}`
            findings.same(what, answer, await ask(strangerTo(name)))
            findings.same(`${what} is refused`, answer.startsWith('ok'), false)
          }
        }
      }
    }
    findings.same(
      'hidden columns',
      hidden.filter((name) => name === 'rowVersion' && ruleOf(entity).versioned),
      []
    )
    findings.finish()
  })
}

/** The ids of all rows by following `after` from the first page, and those before the last page by following `before`. */
async function walkedByCursors(
  store: EveryStore,
  { call, transport, rows }: { readonly call: Call; readonly transport: Transport; readonly rows: number }
): Promise<{ readonly forward: string[]; readonly back: string[] }> {
  const pageSize = String(Math.max(1, Math.ceil(rows / 4)))
  const read = async (where: Pick<Call, 'after' | 'before'>): Promise<Outcome> =>
    await store.send(transport, { ...call, ...where, pageSize }, ADMIN)
  let last = await read({})
  const forward = last.rows.map(idOf)
  for (let after = last.cursors?.next; after !== undefined && forward.length <= rows; after = last.cursors?.next) {
    last = await read({ after })
    forward.push(...last.rows.map(idOf))
  }
  const back: string[] = []
  for (let before = last.cursors?.previous; before !== undefined && back.length <= rows;) {
    const { rows: found, cursors } = await read({ before })
    back.unshift(...found.map(idOf))
    before = cursors?.previous
  }
  return { forward, back }
}

/** Of two names as far from any that is known, one may be nearer to another. */
const SUGGESTION = / Did you mean \\?"\w+\\?"\?/g

function strangerTo(name: string): string {
  return `q${name.slice(1)}`
}

function idOf(row: Readonly<Record<string, unknown>>): string {
  return String(row['id'])
}

function oracleProperty({ name, type, nullable, scale }: Described): OracleProperty {
  return { name, type, nullable, scale, sql: name, selectable: true }
}

/** One that the middle row has, so that some rows meet the condition and others do not. */
function valueFor({ name }: Pick<Described, 'name'>, operator: string, rows: readonly StoredRow[]): string {
  if (/empty/.test(operator)) return ''
  const values = rows.flatMap((row): NonNullable<WireValue>[] => {
    const value = row[name] ?? null
    return value === null ? [] : [value]
  })
  const middle = String(values[Math.floor(values.length / 2)] ?? '')
  const text = /^(in|between)$/.test(operator) ? `"${middle.replaceAll('"', '""')}"` : middle
  return operator === 'between' ? `${text},${text}` : text
}
