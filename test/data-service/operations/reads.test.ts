import { mock } from 'node:test'
import { expect } from 'chai'
import type { ListResponse__Output } from '../../../shared/gen/entity/v1/ListResponse.js'
import type { GetResponse__Output } from '../../../shared/gen/entity/v1/GetResponse.js'
import type { LookupResponse__Output } from '../../../shared/gen/entity/v1/LookupResponse.js'
import type { PageResponse__Output } from '../../../shared/gen/entity/v1/PageResponse.js'
import type { DescribeResponse__Output } from '../../../shared/gen/entity/v1/DescribeResponse.js'
import {
  answer,
  type Answered,
  failure,
  metadata,
  type RunningService,
  runService,
  soon
} from '../rpc/running-service.js'

const thing = {
  id: 1,
  title: 'a "b"\n\u2028é',
  makerId: 7,
  price: '19.90',
  serial: '9007199254740993',
  sold: false,
  madeAt: '2026-01-31T08:00:00.000Z',
  code: null,
  makerName: 'Löwe',
  rowVersion: Buffer.from([1, 2, 3, 4, 5, 6, 7, 255])
}

describe('reads over gRPC', () => {
  let service: RunningService
  before(async () => {
    service = await runService()
    service.store.rows = [thing]
    service.store.referenced = { id: 7, name: 'Löwe', rowVersion: Buffer.alloc(8) }
    service.store.children = [[5, '1.0', Buffer.alloc(8, 1)]]
  })
  after(() => service.stop())

  const list = (request: object, token?: string): Promise<ListResponse__Output> =>
    answer((done) =>
      service.client.list(
        { resource: 'things', ...request },
        metadata(token === undefined ? {} : { authorization: token }),
        soon(),
        done
      )
    )

  it('writes values, computed and joined properties, the row version and navigations exactly', async () => {
    const { records, rowLimit, truncated, continuationPageSize } = await list(
      { shape: { includeFks: 'true', includeChildren: 'true' } },
      'owner 7'
    )
    expect({ rowLimit, truncated, continuationPageSize }).to.deep.equal({
      rowLimit: 1000,
      truncated: true,
      continuationPageSize: 500
    })
    expect(records[0]?.json.toString()).to.equal(
      `{"id":1,"title":${JSON.stringify(thing.title)},"makerId":7,"price":"19.90","serial":"9007199254740993",` +
        `"sold":false,"madeAt":"2026-01-31T08:00:00.000Z","code":null,"banner":${JSON.stringify(`** ${thing.title}`)},` +
        `"makerName":"Löwe","rowVersion":"AQIDBAUGB/8=","maker":{"id":7,"name":"Löwe","rowVersion":"AAAAAAAAAAA="},` +
        `"parts":[{"id":5,"weight":"1.0","rowVersion":"AQEBAQEBAQE="}]}`
    )
    expect(records[0]?.rowVersion).to.deep.equal(thing.rowVersion)
  })

  it('joins the records to an array where it is asked to', async () => {
    const shape = { fields: 'title,id' }
    const { records, json, rowLimit } = await list({ shape, asArray: true })
    expect([records, rowLimit]).to.deep.equal([[], 1000])
    const [record] = (await list({ shape })).records
    expect(json.toString()).to.equal(`[${record?.json.toString()}]`)
    const page = (more: object): Promise<PageResponse__Output> =>
      answer((done) => service.client.page({ resource: 'things', shape, ...more }, metadata(), soon(), done))
    service.store.rows = [thing, thing]
    expect(await page({ asArray: true })).to.deep.equal({
      ...(await page({})),
      records: [],
      json: Buffer.from(`[${record?.json.toString()},${record?.json.toString()}]`)
    })
    service.store.rows = []
    expect((await page({ asArray: true })).json.toString()).to.equal('[]')
    service.store.rows = [thing]
  })

  it('answers others between the rows of a large array', async () => {
    service.store.rows = Array.from({ length: 500 }, () => thing)
    // Each row takes so long.
    let now = performance.now()
    mock.method(performance, 'now', () => (now += 6))
    const before = service.logs.length
    const large = list({ asArray: true })
    await answer((done: Answered<GetResponse__Output>) =>
      service.client.get({ resource: 'things', id: '1' }, metadata(), soon(), done)
    )
    const rows = JSON.parse((await large).json.toString()) as unknown[]
    mock.restoreAll()
    service.store.rows = [thing]
    expect(rows.length).to.equal(500)
    const ended = service.logs.slice(before).filter(({ msg }) => msg === 'call')
    expect(ended.map(({ rpc }) => rpc)).to.deep.equal(['Get', 'List'])
  })

  it('sends the raw row version exactly when the shaped row shows it', async () => {
    const [without] = (await list({ shape: { fields: 'serial,ID' } })).records
    expect(without?.json.toString()).to.equal('{"serial":"9007199254740993","id":1}')
    expect(without?.rowVersion).to.have.length(0)
    const [withVersion] = (await list({ shape: { fields: 'rowversion' } })).records
    expect(withVersion?.json.toString()).to.equal('{"rowVersion":"AQIDBAUGB/8="}')
    expect(withVersion?.rowVersion).to.deep.equal(thing.rowVersion)
  })

  it('gets one row, or not-found', async () => {
    const get = (id: string) => (done: Answered<GetResponse__Output>) =>
      service.client.get({ resource: 'things', id, shape: { fields: 'id' } }, metadata(), soon(), done)
    const { record } = await answer(get('1'))
    expect(record?.json.toString()).to.equal('{"id":1}')
    expect((await failure(get('2'))).code).to.equal('not-found')
    expect((await failure(get('x'))).code).to.equal('id.invalid')
  })

  it('tells the total only where it was counted', async () => {
    const page = (request: object): Promise<PageResponse__Output> =>
      answer((done) => service.client.page({ resource: 'things', ...request }, metadata(), soon(), done))
    expect(await page({ pageNumber: '12345678901234567890' })).to.include({
      currentPage: '12345678901234567890',
      pageSize: 10,
      totalCount: '1'
    })
    expect(await page({ includeTotal: 'false', pageSize: '900' }))
      .to.include({ pageSize: 500 })
      .and.not.have.property('totalCount')
  })

  it('looks names up', async () => {
    const found = await answer<LookupResponse__Output>((done) =>
      service.client.lookup({ resource: 'things' }, metadata(), soon(), done)
    )
    expect(JSON.parse(found.json.toString())).to.deep.equal({ items: [{ id: 1, name: thing.title }] })
  })

  it('shows a name that is no text as text', async () => {
    service.store.rows = [{ id: 1, title: 17 }]
    const found = await answer<LookupResponse__Output>((done) =>
      service.client.lookup({ resource: 'things' }, metadata(), soon(), done)
    )
    service.store.rows = [thing]
    expect(found.json.toString()).to.equal('{"items":[{"id":1,"name":"17"}]}')
  })

  it('describes visible properties alone', async () => {
    const described = await answer<DescribeResponse__Output>((done) =>
      service.client.describe({}, metadata(), soon(), done)
    )
    expect(described.resources.map(({ name, publicReads }) => [name, publicReads])).to.deep.equal([
      ['makers', false],
      ['things', true],
      ['tickets', false]
    ])
    const [makers, things] = described.resources
    expect(makers?.properties.map(({ name }) => name)).to.deep.equal(['id', 'name', 'rowVersion'])
    expect(things?.properties.find(({ name }) => name === 'serial')?.operators).to.deep.equal(['equals'])
    expect(things?.navigations.map(({ name, kind, resource }) => [name, kind, resource])).to.deep.equal([
      ['maker', 'NAVIGATION_KIND_REFERENCE', 'makers'],
      ['parts', 'NAVIGATION_KIND_CHILDREN', '']
    ])
  })
})
