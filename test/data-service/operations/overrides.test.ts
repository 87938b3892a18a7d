import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, readOnly, text, unique } from '../../../data-service/entity/fields/words.js'
import type { DescribeResponse__Output } from '../../../shared/gen/entity/v1/DescribeResponse.js'
import type { GetByResponse__Output } from '../../../shared/gen/entity/v1/GetByResponse.js'
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

const memos = defineEntity({
  name: 'memos',
  description: 'Shows and writes rows in its own way.',
  fields: { id: readOnly(int()), title: unique(text(10)) },
  label: 'title',
  filterable: ['title'],
  sortable: [],
  access: { read: everyone, write: permission('memos:manage') },
  writes: ['update'],
  overrides: {
    get: async (_context, request, standard) => {
      const { record } = await standard(request)
      return { record: { json: Buffer.from(`{"of":"${request.id}","shown":${String(record?.json)}}`) } }
    },
    update: () => Promise.reject(new Error('is not to be called'))
  }
})

const WRITES = ['create', 'batch', 'import']

describe('an override', () => {
  it('of the read by id answers reads by a unique property, with the id of the row', async () => {
    await using service = await runService([memos])
    service.store.rows = [{ id: 7, title: 'x' }]
    const found = await answer<GetByResponse__Output>((done) =>
      service.client.getBy({ resource: 'memos', property: 'title', value: 'x' }, metadata(), soon(), done)
    )
    expect(found.record?.json.toString()).to.equal('{"of":"7","shown":{"id":7,"title":"x","rowVersion":null}}')
  })

  it('of updates gets none that names its row by a property', async () => {
    await using service = await runService([memos])
    const failure = await answer((done) =>
      service.client.update({ resource: 'memos', property: 'title', id: 'x' }, metadata(), soon(), done)
    ).catch((error: unknown) => error)
    expect(String(failure)).to.include('memos is updated by id alone.')
    const { resources } = await answer<DescribeResponse__Output>((done) =>
      service.client.describe({}, metadata(), soon(), done)
    )
    const [{ updatesByProperty, properties } = { updatesByProperty: true, properties: [] }] = resources
    expect([updatesByProperty, properties.filter(({ unique }) => unique).map(({ name }) => name)]).to.deep.equal([
      false,
      ['title']
    ])
  })

  it('of a batch of creates leaves no import, which would go past it', async () => {
    const batch = (): Promise<never> => Promise.reject(new Error('is not to be called'))
    const writesOf = async (overrides: typeof memos.overrides): Promise<readonly string[]> => {
      await using service = await runService([{ ...memos, writes: new Set(['create']), overrides }])
      const { resources } = await answer<DescribeResponse__Output>((done) =>
        service.client.describe({}, metadata(), soon(), done)
      )
      return resources.flatMap(({ operations }) => operations.filter((name) => WRITES.includes(name)))
    }
    expect(await writesOf({})).to.deep.equal(['create', 'batch', 'import'])
    expect(await writesOf({ batch })).to.deep.equal(['create', 'batch'])
  })

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
