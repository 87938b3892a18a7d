import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { filter } from './http-call.js'

/** As long as the hidden name, and as near to no other name of the resource. */
const UNKNOWN = 'qiskNote'
const HIDDEN = 'riskNote'

describeApi('a hidden column', (store) => {
  const PROBES: readonly (readonly [what: string, query: (name: string) => string])[] = [
    ['filter with a fitting operator', (name) => filter(name, 'contains', 'secret')],
    ['filter with an operator of another type', (name) => filter(name, 'greater than', '1')],
    ['filter with an unknown operator', (name) => filter(name, 'resembles', '1')],
    ['filter with a blank value', (name) => filter(name, 'equals', '')],
    ['filter with too many items', (name) => filter(name, 'in', 'x,'.repeat(300))],
    ['filter with too long a value', (name) => filter(name, 'equals', 'x'.repeat(5000))],
    ['half of a filter', (name) => `filters[${name}].operator=contains`],
    ['sort', (name) => `sortColumn=${name}`],
    ['sort with a bad direction', (name) => `sortColumn=${name}&sortDirection=up`],
    ['fields', (name) => `fields=${name}`],
    ['fields among others', (name) => `fields=id,${name},name`],
    ['query parameter', (name) => `${name}=1`]
  ]
  for (const [what, query] of PROBES) {
    for (const spell of [(name: string) => name, (name: string) => name.toUpperCase()]) {
      for (const route of ['/customers', '/customers/paged', '/customers/export', '/customers/1']) {
        it(`is an unknown name to a ${what} on ${route} as ${spell(HIDDEN)}`, async () => {
          const ask = async (name: string): Promise<{ status: number; text: string; headers: object }> => {
            const { status, text, headers } = await store.as('admin', `${route}?${query(spell(name))}`, {
              headers: { 'x-request-id': 'same' }
            })
            const { date: _date, 'content-disposition': _stamped, ...rest } = headers
            return { status, text, headers: rest }
          }
          const renamed = JSON.parse(
            JSON.stringify(await ask(UNKNOWN)).replaceAll(spell(UNKNOWN), spell(HIDDEN))
          ) as unknown
          expect(await ask(HIDDEN)).to.deep.equal(renamed)
        })
      }
    }
  }

  for (const path of ['/openapi.json', '/customers', '/customers/export']) {
    it(`is not mentioned by ${path}`, async () => {
      const answer = await store.as('admin', path)
      expect(answer.status).to.equal(200)
      expect(answer.text).not.to.match(/risk_?note|secret-/i)
    })
  }

  it('is offered as a suggestion for no misspelling', async () => {
    for (const name of ['riskNot', 'riskNotes', 'risknote', 'risk']) {
      const answer = await store.as('admin', `/customers/paged?${filter(name, 'equals', '1')}`)
      expect(answer.status, name).to.equal(400)
      expect(answer.text.replaceAll(name, ''), name).not.to.match(/risk/i)
    }
  })
})
