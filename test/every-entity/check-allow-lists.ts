import type { KeyedEntity } from '../../data-service/entity/entity.js'
import { parseCondition } from '../oracle/condition.js'
import { keyNames, loadEntityRows } from '../oracle/entity-oracle.js'
import type { OracleRow } from '../oracle/load-rows.js'
import { finds, order } from '../oracle/read-oracle.js'
import type { OracleProperty, OracleResource } from '../oracle/resource.js'
import type { WireValue } from '../oracle/wire-value.js'
import { hiddenNames } from './stored-rows.js'
import type { Call, Outcome, Transport } from './transports.js'
import { type Described, describedResource } from './check-catalogue.js'
import type { TestedApplication } from './tested-application.js'
import { answeredByAll, Findings } from './findings.js'
import { madeValue } from './made-values.js'
import { mayRead } from './rule.js'
import { neededFor, verdict } from './verdict.js'

/** What filters, sorts and fields take, with the very rows; all else is a name that nobody knows. */
export function checkAllowLists(tested: TestedApplication, entity: KeyedEntity): void {
  const page: Call = { resource: entity.name, operation: 'paged', pageSize: '500' }

  it('filters by every filterable property with each of its operators', async () => {
    const findings = new Findings(entity.name)
    const rows = await rowsOf(tested, entity, page)
    const filterable = (await describedResource(tested, entity)).filter((property) => property.filterable)
    const told = filterable.map(({ name }) => name).toSorted()
    findings.same('filterable properties', told, [...entity.filterable.keys()].toSorted())
    for (const property of filterable) {
      const column = entity.columns.find(({ name }) => name === property.name)
      // The database alone may fill it, and that of the test, which has no ON UPDATE, never does.
      const isEmpty = column !== undefined && rows.every((row) => (row[column.name] ?? null) === null)
      const valued = isEmpty ? [{ [column.name]: madeValue(column, 1) }] : rows
      for (const operator of tested.some(`operators of ${property.type}`, property.operators, 2)) {
        const value = valueFor(property, operator, valued)
        const test = parseCondition(oracleProperty(property), operator, value)
        const filters = [{ property: property.name, operator, value }]
        const rejection = 'code' in test ? test.code : 'ok'
        const outcomes = await answeredByAll(
          tested,
          { call: { ...page, filters }, caller: tested.callers.bypass },
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
    const findings = new Findings(entity.name)
    const rows = await rowsOf(tested, entity, page)
    const properties = await describedResource(tested, entity)
    const resource: OracleResource = {
      name: entity.name,
      from: '',
      properties: properties.map(oracleProperty),
      key: keyNames(entity),
      searchable: []
    }
    const sortable = properties.filter((property) => property.sortable)
    findings.same('sortable properties', sortable.map(({ name }) => name).toSorted(), [...entity.sortable].toSorted())
    for (const property of sortable) {
      const directions = ['asc', 'desc']
      const walked = tested.some('cursors', directions, 1)
      const isAll = walked.length === directions.length
      for (const sortDirection of directions) {
        const call: Call = { ...page, sortColumn: property.name, sortDirection }
        const isWalked = walked.includes(sortDirection)
        const sorted = order(resource, rows, [
          { sort: oracleProperty(property), descending: sortDirection === 'desc' }
        ]).map(idOf)
        // The pages of a walk show the order too.
        const made = { call, caller: tested.callers.bypass }
        const outcomes = isWalked && !isAll ? [] : await answeredByAll(tested, made, { code: 'ok', findings })
        for (const outcome of outcomes) {
          findings.same(`${property.name} ${sortDirection}`, outcome.rows.map(idOf), sorted)
        }
        if (!isWalked) continue
        for (const transport of tested.transports) {
          const pageSize = Math.max(1, Math.ceil(rows.length / (isAll ? 4 : 2)))
          const walk = await walkedByCursors(tested, { call, transport, pageSize, rows: rows.length })
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
    const findings = new Findings(entity.name)
    const { searchable, fullText: isDeclared } = tested.ruleOf(entity)
    const fullText = isDeclared && tested.kind === 'mysql'
    const rows = await rowsOf(tested, entity, page)
    const described = await describedResource(tested, entity)
    const told = described.filter((property) => property.searchable).map(({ name }) => name)
    findings.same('searchable properties', told.toSorted(), searchable.toSorted())
    const texts = described.filter(({ type, filterable }) => type === 'string' && filterable)
    for (const { name } of texts) {
      const [word = 'x'] = valueFor({ name }, '', rows).split(/\s+/)
      const judge = { name: entity.name, from: '', properties: described.map(oracleProperty), searchable, fullText }
      const found = rows.filter((row) => finds(judge, row, word)).map(idOf)
      for (const operation of tested.some('searches', ['paged', 'list', 'export'] as const, 1)) {
        for (const transport of tested.transports) {
          const call: Call = { ...page, operation, search: word }
          const what = `${transport.name} ${operation} search=${word}`
          const { code, rows: shown } = await tested.send(transport, call, tested.callers.bypass)
          const isIgnored = searchable.length === 0 && transport.name === 'HTTP'
          const expected = isIgnored ? rows.map(idOf) : searchable.length === 0 ? 'parameter.unknown' : found
          findings.same(what, code === 'ok' ? shown.map(idOf) : code, expected)
        }
      }
    }
    findings.finish()
  })

  it('selects every property that has a column, and nothing besides', async () => {
    const findings = new Findings(entity.name)
    for (const { name, selectable } of await describedResource(tested, entity)) {
      const code = selectable ? 'ok' : 'fields.invalid'
      const call = { ...page, fields: name }
      const outcomes = await answeredByAll(tested, { call, caller: tested.callers.bypass }, { code, findings })
      for (const { rows } of outcomes) {
        const members = selectable && rows.length > 0 ? [name] : []
        findings.same(`members of fields=${name}`, [...new Set(rows.flatMap(Object.keys))], members)
      }
    }
    findings.finish()
  })

  it('knows no property by which it neither filters nor sorts', async () => {
    const findings = new Findings(entity.name)
    for (const { name, filterable, sortable } of await describedResource(tested, entity)) {
      const filters = [{ property: name, operator: 'equals', value: '1' }]
      const rejected = { code: 'filter.property.unknown', findings }
      if (!filterable)
        await answeredByAll(tested, { call: { ...page, filters }, caller: tested.callers.bypass }, rejected)
      const unsorted = { ...rejected, code: 'sort.property.unknown' }
      if (!sortable)
        await answeredByAll(tested, { call: { ...page, sortColumn: name }, caller: tested.callers.bypass }, unsorted)
    }
    const [property] = entity.filterable.keys()
    const unsupported = [{ property: property ?? 'id', operator: 'resembles', value: '1' }]
    const code = property === undefined ? 'filter.property.unknown' : 'filter.operator.unsupported'
    await answeredByAll(
      tested,
      { call: { ...page, filters: unsupported }, caller: tested.callers.bypass },
      { code, findings }
    )
    findings.finish()
  })

  it('knows a name that the caller may not know no better than one that nobody has', async () => {
    const findings = new Findings(entity.name)
    const hidden = await hiddenNames(tested.sql, entity, tested.ruleOf(entity))
    const rule = tested.ruleOf(entity)
    const unseen = tested.callers
      .of(neededFor(rule, page))
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
    for (const { caller, names } of [{ caller: tested.callers.bypass, names: hidden }, ...unseen]) {
      for (const transport of tested.transports) {
        for (const name of names) {
          for (const probe of tested.some('probes', probes, 3)) {
            const ask = async (one: string): Promise<string> => {
              const { code, text } = await tested.send(transport, { ...page, ...probe(one) }, caller)
              return `${code} ${withoutName(text, one).replaceAll(SUGGESTION, '')}`
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
      hidden.filter((name) => name === 'rowVersion' && tested.ruleOf(entity).versioned),
      []
    )
    findings.finish()
  })
}

/** The rows that a page shows the bypass role, which these tests call by: all of them, unless a predicate says otherwise. */
async function rowsOf(tested: TestedApplication, entity: KeyedEntity, page: Call): Promise<OracleRow[]> {
  const { reaches } = verdict(tested.ruleOf(entity), page, tested.callers.bypass)
  return (await loadEntityRows(tested.sql, entity, tested.entities)).filter(reaches)
}

/** The ids of all rows by following `after` from the first page, and those before the last page by following `before`. */
async function walkedByCursors(
  tested: TestedApplication,
  of: { readonly call: Call; readonly transport: Transport; readonly pageSize: number; readonly rows: number }
): Promise<{ readonly forward: string[]; readonly back: string[] }> {
  const { call, transport, rows } = of
  const read = async (where: Pick<Call, 'after' | 'before'>): Promise<Outcome> =>
    await tested.send(transport, { ...call, ...where, pageSize: String(of.pageSize) }, tested.callers.bypass)
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

/** The text of an answer with NAME for a name, which details quote as JSON and the documents of problems once more. */
function withoutName(text: string, name: string): string {
  const once = JSON.stringify(name).slice(1, -1)
  const twice = JSON.stringify(once).slice(1, -1)
  // The path of a resource may hold the name of a column: `/tokens`.
  const pathless = text.replaceAll(/\\?"instance\\?":\\?"[^"\\]*\\?",?/g, '')
  return pathless.replaceAll(twice, 'NAME').replaceAll(once, 'NAME').replaceAll(name, 'NAME')
}

function strangerTo(name: string): string {
  return `q${name.slice(1)}`
}

function idOf(row: Readonly<Record<string, unknown>>): string {
  return String(row['id'])
}

function oracleProperty(property: Described): OracleProperty {
  const { name, type, nullable, scale, fractionDigits, words, minimum, maximum } = property
  const isWide = (type === 'int' || type === 'long') && maximum.length > (type === 'int' ? 9 : 18)
  // The bounds of an entity file do not hold for filters, but those of an unsigned column do.
  const range = isWide ? { range: { min: BigInt(minimum || '0'), max: BigInt(maximum) } } : {}
  return { name, type, nullable, scale, fraction: fractionDigits, words, ...range, sql: name, selectable: true }
}

/** One that the middle row has, so that some rows meet the condition and others do not. */
function valueFor({ name }: Pick<Described, 'name'>, operator: string, rows: readonly OracleRow[]): string {
  if (/empty/.test(operator)) return ''
  const values = rows.flatMap((row): NonNullable<WireValue>[] => {
    const value = row[name] ?? null
    return value === null ? [] : [value]
  })
  const found = values[Math.floor(values.length / 2)] ?? ''
  const middle = Array.isArray(found) ? String(found[0] ?? '') : typeof found === 'object' ? '' : String(found)
  const text = /^(in|between)$/.test(operator) ? `"${middle.replaceAll('"', '""')}"` : middle
  return operator === 'between' ? `${text},${text}` : text
}
