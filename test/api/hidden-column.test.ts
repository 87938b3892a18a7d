import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { describeApi, type ApiStore } from './api-store.js'
import { filter, type Answer } from './http-call.js'

/** A name that a caller may not know, and one that nobody knows: as long, and as near to no other name of the resource. */
interface Subject {
  readonly hidden: string
  readonly unknown: string
  readonly resource: string
  /** A sample account; undefined for a caller without a token. */
  readonly by: string | undefined
  /** What answers never hold. */
  readonly secret: RegExp
}

const SUBJECTS: readonly Subject[] = [
  // Hidden from everybody.
  { hidden: 'riskNote', unknown: 'qiskNote', resource: 'customers', by: 'admin', secret: /risk_?note|secret-/i },
  // By a permission that the caller does not have: a column, a computed property of it, and another's permission.
  {
    hidden: 'costPrice',
    unknown: 'qostPrice',
    resource: 'products',
    by: undefined,
    secret: /cost_?price|>margin<|"margin"/i
  },
  {
    hidden: 'costPrice',
    unknown: 'qostPrice',
    resource: 'products',
    by: 'ada',
    secret: /cost_?price|>margin<|"margin"/i
  },
  { hidden: 'reorderLevel', unknown: 'qeorderLevel', resource: 'products', by: 'ben', secret: /reorder/i },
  { hidden: 'margin', unknown: 'qargin', resource: 'products', by: 'ada', secret: />margin<|"margin"/ },
  { hidden: 'creditLimit', unknown: 'qreditLimit', resource: 'customers', by: 'clerk', secret: /credit/i }
]

const PROBES: readonly (readonly [what: string, query: (name: string) => string])[] = [
  ['filter with a fitting operator', (name) => filter(name, 'equals', '1')],
  ['filter with an operator of a text', (name) => filter(name, 'contains', 'secret')],
  ['filter with an operator of a number', (name) => filter(name, 'greater than', '1')],
  ['filter with an unknown operator', (name) => filter(name, 'resembles', '1')],
  ['filter with a blank value', (name) => filter(name, 'equals', '')],
  ['filter with too many items', (name) => filter(name, 'in', 'x,'.repeat(300))],
  ['filter with too long a value', (name) => filter(name, 'equals', 'x'.repeat(5000))],
  ['filter among others', (name) => `${filter('id', 'gt', '1')}&${filter(name, 'is empty', '')}`],
  ['half of a filter', (name) => `filters[${name}].operator=contains`],
  ['sort', (name) => `sortColumn=${name}`],
  ['sort among others', (name) => `sortColumn=id,${name}`],
  ['sort behind a cursor', (name) => `sortColumn=${name}&after=AAAA`],
  ['sort with a bad direction', (name) => `sortColumn=${name}&sortDirection=up`],
  ['fields', (name) => `fields=${name}`],
  ['fields among others', (name) => `fields=id,${name},name`],
  ['fields with includes', (name) => `fields=id,${name}&includeFKs=true&includeChildren=true`],
  ['query parameter', (name) => `${name}=1`],
  ['search', (name) => `search=${name}`]
]

/** How a name is spelled, and the headers beside it. `npm test` takes them in turn. */
const WAYS: readonly { readonly spell: (name: string) => string; readonly headers: object }[] = [
  { spell: (name) => name, headers: {} },
  { spell: (name) => name.toUpperCase(), headers: { prefer: 'handling=strict' } }
]

function ask(store: ApiStore, by: string | undefined, target: string, more: object = {}): Promise<Answer> {
  const options = { headers: { 'x-request-id': 'same', ...more } }
  return by === undefined ? store.call(target, options) : store.as(by, target, options)
}

/** What a client can compare of an answer. */
function seen({ status, text, headers }: Answer): object {
  const { date: _date, 'content-disposition': _stamped, ...rest } = headers
  return { status, text, headers: rest }
}

describeApi(
  'a hidden column',
  (store) => {
    for (const [subject, { hidden, unknown, resource, by, secret }] of SUBJECTS.entries()) {
      const caller = by ?? 'nobody with a token'
      for (const [at, [what, query]] of PROBES.entries()) {
        // In the soak each probe of each column.
        if (!isSoak && (at + subject) % 2 !== 0) continue
        it(`is an unknown name to a ${what}: ${hidden} of ${resource} by ${caller}`, async () => {
          for (const { spell, headers } of isSoak ? WAYS : WAYS.slice((at >> 1) % 2, ((at >> 1) % 2) + 1)) {
            for (const route of ['', '/paged', '/export', '/lookup', '/1'].map((one) => `/${resource}${one}`)) {
              const about = async (name: string): Promise<object> =>
                seen(await ask(store, by, `${route}?${query(spell(name))}`, headers))
              // Percent-encoding leaves these names as they are.
              const renamed: unknown = JSON.parse(
                JSON.stringify(await about(unknown)).replaceAll(spell(unknown), spell(hidden))
              )
              expect(await about(hidden), route).to.deep.equal(renamed)
            }
          }
        })
      }

      for (const path of [
        '/openapi.json',
        '/docs',
        `/docs/resources/${resource}`,
        `/${resource}`,
        `/${resource}/paged`,
        `/${resource}/export`
      ]) {
        it(`is not mentioned by ${path}: ${hidden} by ${caller}`, async () => {
          const answer = await ask(store, by, path)
          expect(answer.status).to.equal(200)
          expect(answer.text).not.to.match(secret)
        })
      }

      it(`is offered as a suggestion for no misspelling: ${hidden} by ${caller}`, async () => {
        for (const name of [hidden.slice(0, -1), `${hidden}s`, hidden.toLowerCase(), hidden.slice(0, 4)]) {
          for (const query of [filter(name, 'equals', '1'), `sortColumn=${name}`, `fields=${name}`]) {
            const answer = await ask(store, by, `/${resource}/paged?${query}`)
            expect(answer.status, name).to.equal(400)
            expect(answer.text.replaceAll(name, ''), name).not.to.match(secret)
          }
        }
      })
    }
  },
  { on: 'sqlite' }
)
