import { expect } from 'chai'
import type { OracleRow } from '../oracle/load-rows.js'
import { answer as oracle, type OracleQuery } from '../oracle/read-oracle.js'
import type { OracleProperty, OracleResource } from '../oracle/resource.js'
import { filter, json, type Answer } from './http-call.js'

/** Holds an answer against the oracle's: rejected for one of its reasons, or the same rows with the same total. */
export function agree(
  answer: Answer,
  asked: { readonly resource: OracleResource; readonly rows: readonly OracleRow[]; readonly query: OracleQuery }
): void {
  const { resource, rows, query } = asked
  const expected = oracle(resource, rows, query)
  if (expected.rejected !== null) {
    expect(answer.status, answer.text).to.equal(400)
    // Each member of a list may be a fault of its own, so the kinds are compared and not their number.
    const codes = [...answer.text.matchAll(/"code":"([^"]+)"/g)].map(([, code]) => code)
    expect([...new Set(codes)]).to.have.members([...new Set(expected.rejected)])
    return
  }
  expect(answer.status, answer.text).to.equal(200)
  expect(answer.headers['x-total-count']).to.equal(String(expected.total))
  const shown = json(answer)
  const items = Array.isArray(shown) ? shown.map((item: object) => own(item, resource.properties)) : shown
  if (orderedAlike(resource, query)) expect(items).to.deep.equal(expected.items)
  else {
    expect(items).to.have.length(expected.items.length)
    const { filters, groups, search } = query
    const unordered = { filters, groups, search }
    const kept = oracle(resource, rows, { ...unordered, pageSize: rows.length })
    if (kept.rejected === null) expect(kept.items).to.deep.include.members(Array.isArray(items) ? items : [])
  }
}

/** The neighbours of a page by its cursors are the rows around it in the order of all rows. */
export async function agreeWithCursors(read: (query: string) => Promise<Answer>, query: OracleQuery): Promise<void> {
  const all = json(await read(spelled({ ...query, pageNumber: 1, pageSize: 500 })))
  if (!Array.isArray(all) || all.length === 0) return
  const size = Math.min(query.pageSize ?? 10, 7)
  const number = Math.min(query.pageNumber ?? 1, Math.ceil(all.length / size))
  const start = (number - 1) * size
  const page = await read(spelled({ ...query, pageSize: size, pageNumber: number }))
  const { pageNumber: _, ...unnumbered } = query
  const neighbours = [
    ['after', page.headers['x-next-cursor'], all.slice(start + size, start + 2 * size)],
    ['before', page.headers['x-previous-cursor'], all.slice(Math.max(0, start - size), start)]
  ] as const
  for (const [parameter, cursor, expected] of neighbours) {
    const where = `${spelled(query)} ${parameter}`
    expect(cursor !== undefined, where).to.equal(expected.length > 0)
    if (cursor === undefined) continue
    const answer = await read(`${spelled({ ...unnumbered, pageSize: size })}&${parameter}=${String(cursor)}`)
    expect(json(answer), where).to.deep.equal(expected)
  }
}

/** Texts with punctuation follow the collation, which the databases' agreement with each other checks. */
function orderedAlike(resource: OracleResource, query: OracleQuery): boolean {
  const names = (query.sortColumn ?? 'id').toLowerCase().split(',')
  return resource.properties.every(({ name, type }) => type !== 'string' || !names.includes(name.toLowerCase()))
}

/** The members that the oracle knows. */
export function own<Item extends object>(item: Item, properties: readonly OracleProperty[]): Item {
  const names = new Set(properties.map(({ name }) => name))
  // The properties that are left keep their values.
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))) as Item
}

/** A paged read as it stands behind the question mark. */
export function spelled(query: OracleQuery): string {
  const { filters = [], groups = [], ...rest } = query
  return [
    ...filters.map(({ property, operator, value }) => filter(property, operator, value)),
    ...groups.flatMap((group, index) =>
      group.map(({ property, operator, value }) =>
        filter(property, operator, value).replaceAll('filters', `anyOf[${index + 1}].filters`)
      )
    ),
    ...Object.entries(rest).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  ].join('&')
}
