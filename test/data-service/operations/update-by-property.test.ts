import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { reject } from '../../../data-service/entity/action.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { decimal, int, readOnly, text, unique } from '../../../data-service/entity/fields/words.js'
import { caller, violationsIn, WriteHarness } from '../rpc/write-harness.js'

// What no table of the store has: a unique decimal, and a rule that keeps rows from their callers.

const rates = defineEntity({
  name: 'rates',
  description: 'Rates.',
  fields: { id: readOnly(int()), rate: unique(decimal(9, 2)), name: text(99) },
  label: 'name',
  filterable: ['rate'],
  sortable: [],
  access: { read: everyone, write: permission('rates:manage') },
  writes: ['update'],
  updates: ({ root }) => (root.name === 'hidden' ? reject.notFound() : {})
})

const clerk = caller({ permissions: ['rates:manage'] })

describe('an update by a unique property', () => {
  let service: WriteHarness
  let version: Buffer
  beforeEach(() => {
    service = new WriteHarness([rates])
    version = service.store.add('rates', { id: 1, rate: '19.90', name: 'a' })
    service.store.add('rates', { id: 2, rate: '5.00', name: 'hidden' })
  })
  const put = (id: string, body: object, more: object = {}) =>
    service.update({ resource: 'rates', property: 'rate', id, body, tags: [version], ...more }, clerk)

  for (const written of ['19.9', '19.90', '19.900']) {
    it(`finds a decimal that the path writes as ${written}, whatever digits the body has`, async () => {
      for (const rate of ['19.9', '19.90']) {
        const { record, version: next } = await put(written, { rate, name: rate })
        expect(record).to.include({ id: 1, rate: '19.90', name: rate })
        version = next
      }
      expect(await violationsIn(put(written, { rate: '19.91', name: 'b' }))).to.deep.equal(['id.mismatch /rate'])
    })
  }

  it('replays an answer to a decimal of other digits', async () => {
    const more = { idempotencyKey: 'k' }
    const first = await put('19.9', { name: 'b' }, more)
    const again = await put('19.90', { name: 'b' }, more)
    expect([first.replayed, again.replayed]).to.deep.equal([false, true])
    expect(again.version).to.deep.equal(first.version)
  })

  it('tells nothing of the body where the rule of the entity file hides the row', async () => {
    for (const rate of ['5.00', '6.00']) {
      for (const more of [{}, { id: 1 }, { rate: '7' }]) {
        expect(await violationsIn(put(rate, { name: 'b', ...more })), JSON.stringify(more)).to.deep.equal(['not-found'])
      }
    }
    const told = await violationsIn(put('19.90', { name: 'b', id: 2, rate: '7' }))
    expect(told).to.have.members(['id.mismatch /id', 'id.mismatch /rate'])
  })
})
