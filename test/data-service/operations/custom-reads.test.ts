import { expect } from 'chai'
import type { DescribeResponse__Output } from '../../../shared/gen/entity/v1/DescribeResponse.js'
import type { ReadResponse__Output } from '../../../shared/gen/entity/v1/ReadResponse.js'
import { boards, bookmarks, carts, folders } from '../plan/owned-entities.js'
import {
  answer,
  type Answered,
  failure,
  metadata,
  type RunningService,
  runService,
  soon
} from '../rpc/running-service.js'

const ROWS = [
  { id: 5, sessionId: 3, note: 'a "b"\u2028é' },
  { id: 6, sessionId: 17, note: null }
]

describe('a custom read over gRPC', () => {
  let service: RunningService
  beforeEach(async () => {
    service = await runService([boards, bookmarks, carts, folders])
    service.store.rows = ROWS
  })
  afterEach(() => service.stop())

  const read =
    (name: string, more: object = {}, token = 'owner 7') =>
    (done: Answered<ReadResponse__Output>) =>
      service.client.read({ resource: 'bookmarks', name, ...more }, metadata({ authorization: token }), soon(), done)
  const own = { ownerParameter: '7' }
  const conditions = (): unknown[] =>
    (service.store.paged?.conditions ?? []).map((one) =>
      'path' in one ? [one.path.column.name, one.comparison, ...one.operands] : one
    )

  it('answers bare values, with the ceiling and whether rows were left out', async () => {
    const { json, rowLimit, truncated } = await answer(read('session-ids', own))
    expect([json.toString(), rowLimit, truncated]).to.deep.equal(['[3,17]', 1000, false])
    service.store.hasNext = true
    expect(await answer(read('session-ids', own))).to.include({ truncated: true })
    service.store.rows = []
    expect((await answer(read('session-ids', own))).json.toString()).to.equal('[]')
  })

  it('answers objects of the properties that it names, in their order', async () => {
    const { json } = await answer(read('notes'))
    expect(json.toString()).to.equal(`[{"note":${JSON.stringify(ROWS[0]?.note)},"id":5},{"note":null,"id":6}]`)
  })

  it('asks the store for what the entity file says: rows, order, ceiling, scope', async () => {
    await answer(read('session-ids', own))
    const { sort, limit, start, withTotal, scope, children, references } = service.store.paged ?? {}
    expect(sort?.map(({ path, descending }) => [path.column.name, descending])).to.deep.equal([
      ['sessionId', false],
      ['id', false]
    ])
    expect({ limit, start, withTotal, children, references }).to.deep.equal({
      limit: 1000,
      start: { kind: 'offset', offset: 0 },
      withTotal: false,
      children: [],
      references: []
    })
    expect(conditions()).to.deep.equal([['note', 'equals', 'kept']])
    expect(scope).to.have.property('conditions').with.length(2)
  })

  it('is rejected as the list is unless it says more, and where there is none', async () => {
    expect((await failure(read('all'))).code).to.equal('capability.denied')
    expect((await failure(read('session-ids'))).code).to.equal('ownership.denied')
    expect((await failure(read('session-ids', { ownerParameter: '8' }))).code).to.equal('ownership.denied')
    expect((await failure(read('session-ids', own, 'nonsense'))).code).to.equal('auth.invalid-token')
    expect((await failure(read('session', own))).code).to.equal('route.not-found')
    expect((await failure(read('list', own))).code).to.equal('route.not-found')
    expect((await failure(read('session-ids', { resource: 'nope' }))).code).to.equal('route.not-found')
    const asked = await failure(
      read('session-ids', { ...own, parameters: { q: '1' }, unplaced: { parameters: ['x'] } })
    )
    expect(asked.violations.map(({ code, place }) => [code, place.name])).to.deep.equal([
      ['parameter.unknown', 'q'],
      ['parameter.unknown', 'x']
    ])
  })

  it('needs a deadline, and ends with its caller', async () => {
    const without = (done: Answered<ReadResponse__Output>) =>
      service.client.read(
        { resource: 'bookmarks', name: 'session-ids', ...own },
        metadata({ authorization: 'owner 7' }),
        done
      )
    expect((await failure(without)).message).to.match(/deadline/i)
    let started = (): void => undefined
    const stopped = new Promise<unknown>((resolve) => {
      service.store.before = (signal) => {
        started()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            resolve(signal.reason)
            reject(new Error('stopped'))
          })
        })
      }
    })
    const call = read('session-ids', own)(() => undefined)
    started = () => call.cancel()
    expect(await stopped).to.have.property('name', 'DomainError')
  })

  it('is described with its items, as are the operations that take the owner parameter', async () => {
    const { resources } = await answer<DescribeResponse__Output>((done) =>
      service.client.describe({}, metadata(), soon(), done)
    )
    const [marked, cart, folder] = ['bookmarks', 'carts', 'folders'].map((name) =>
      resources.find((one) => one.name === name)
    )
    const reads = marked?.reads.map(({ name, ownerFiltered, items, bareItems }) => [
      name,
      ownerFiltered,
      items.map((one) => `${one.name} ${one.type}`),
      bareItems
    ])
    expect(reads).to.deep.equal([
      ['session-ids', true, ['sessionId int'], true],
      ['notes', false, ['note string', 'id int'], false],
      ['all', false, ['id int'], true]
    ])
    expect([marked?.ownerParameter, marked?.ownerFiltered]).to.deep.equal(['userId', ['list']])
    expect([cart?.ownerParameter, cart?.ownerFiltered]).to.deep.equal([
      'customerId',
      ['list', 'paged', 'export', 'lookup', 'get', 'create', 'update', 'delete', 'act']
    ])
    // The id of the route is no parameter of the query.
    expect([folder?.ownerParameter, folder?.ownerFiltered]).to.deep.equal(['id', ['list', 'paged']])
    expect(resources.map(({ name, publicReads }) => [name, publicReads])).to.deep.equal([
      ['boards', false],
      ['bookmarks', false],
      ['carts', false],
      ['folders', false]
    ])
  })
})
