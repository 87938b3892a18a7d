import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, text } from '../../../data-service/entity/fields/words.js'
import type { ListResponse__Output } from '../../../shared/gen/entity/v1/ListResponse.js'
import type { LookupResponse__Output } from '../../../shared/gen/entity/v1/LookupResponse.js'
import { answer, metadata, runService, soon } from '../rpc/running-service.js'

const notes = defineEntity({
  name: 'notes',
  description: 'Lists no more than their ids, whatever is asked.',
  fields: { id: int(), title: text(10) },
  label: 'title',
  filterable: [],
  sortable: [],
  access: { read: everyone },
  overrides: {
    list: async (_context, request, standard) => {
      const shape = { ...request.shape, fields: 'id' }
      const { records = [], ...others } = await standard({ ...request, shape })
      return { ...others, records: records.toReversed(), truncated: false }
    }
  }
})

describe('an override', () => {
  it('replaces its own read and leaves the others', async () => {
    await using service = await runService([notes])
    service.store.rows = [{ id: 1, title: 'x' }]
    const listed = await answer<ListResponse__Output>((done) =>
      service.client.list({ resource: 'notes' }, metadata(), soon(), done)
    )
    expect(listed.truncated).to.equal(false)
    expect(listed.records[0]?.json.toString()).to.equal('{"id":1}')
    service.store.rows = [
      { id: 1, title: 'x' },
      { id: 2, title: 'y' }
    ]
    const asArray = await answer<ListResponse__Output>((done) =>
      service.client.list({ resource: 'notes', asArray: true }, metadata(), soon(), done)
    )
    expect(asArray.json.toString()).to.equal('[{"id":2},{"id":1}]')
    expect([asArray.records, asArray.truncated]).to.deep.equal([[], false])
    const found = await answer<LookupResponse__Output>((done) =>
      service.client.lookup({ resource: 'notes' }, metadata(), soon(), done)
    )
    expect(found.json.toString()).to.contain('"name":"x"')
  })
})
