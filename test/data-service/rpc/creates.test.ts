import { expect } from 'chai'
import { anonymous, bypass, caller, violationsIn, manager, owner, rejectionOf, WriteHarness } from './write-harness.js'
import { writableEntities } from './writable-entities.js'

const body = { name: 'A', kind: 'k', parts: [{ size: 2 }, { size: 3, label: 'x' }] }

describe('create', () => {
  let service: WriteHarness
  beforeEach(() => {
    service = new WriteHarness(writableEntities)
  })
  const create = (more: object = {}, request: object = {}) =>
    service.create({ resource: 'things', body: { ...body, ...more }, ...request })

  it('answers the whole row, with what the body, the defaults and the entity say', async () => {
    const { record, id, version, replayed } = await create()
    expect(record).to.deep.equal({
      id: Number(id),
      name: 'A',
      note: null,
      kind: 'k',
      isOpen: true,
      status: 'new',
      code: '111111111111',
      rowVersion: 'AQEBAQAAAAA='
    })
    expect(version).to.have.length(8)
    expect(replayed).to.equal(false)
    expect(service.store.row('things', Number(id))).to.include({ secret: 's' })
    const parts = service.store.children('things', Number(id), 'parts').map(({ id: _, ...part }) => part)
    expect(parts).to.deep.equal([
      { size: 2, label: null, price: '2.50' },
      { size: 3, label: 'x', price: '3.50' }
    ])
  })

  it('tells where the row is to be read, under the link base of the call', async () => {
    const linkBase = 'https://shop.example/api'
    const { id, location } = await create({}, { linkBase })
    expect(location).to.equal(`https://shop.example/api/things/${id}`)
    expect((await create()).location).to.match(/^\/things\/\d+$/)
  })

  it('takes a link base that is a URL of at most 2048 characters, all of which a header can hold', async () => {
    await create({}, { linkBase: `http://${'x'.repeat(2041)}` })
    for (const linkBase of ['x', 'ftp://x', 'http://', 'http://a\r\nX-Evil: y', 'http://é', 'http://a b']) {
      expect(await violationsIn(create({}, { linkBase })), linkBase).to.deep.equal(['request.malformed linkBase'])
    }
    const tooLong = create({}, { linkBase: 'x'.repeat(2049) })
    expect(await violationsIn(tooLong)).to.deep.equal(['request.malformed linkBase'])
    const worse = create({ name: '' }, { linkBase: 'x'.repeat(2049) })
    expect(await violationsIn(worse)).to.have.members(['request.malformed linkBase', 'body.invalid /name'])
  })

  it('leaves an audit entry in the same transaction, and only there', async () => {
    const { id } = await create()
    expect(service.store.state.audits).to.deep.equal([
      {
        at: '2026-01-31T08:00:00.000Z',
        subject: 'issuer somebody',
        resource: 'things',
        rowId: id,
        action: 'create',
        requestId: 'r'
      }
    ])
    service.store.before = (step) => {
      if (step === 'get things') throw new Error('lost')
    }
    expect(await create().catch(String)).to.equal('Error: lost')
    expect(service.store.state.audits).to.have.length(1)
    expect(service.store.state.roots.get('things')).to.have.length(1)
  })

  it('ignores and names what no request sets', async () => {
    const more = { id: 5, rowVersion: 'x', status: 'old', code: 'c', secret: 'mine', foo: 1, views: [], 'a/b~': 1 }
    const { ignored, record } = await create({ ...more, parts: [{ size: 2, price: '0.01', id: 4, rowVersion: '' }] })
    const ofRoot = ['id', 'rowVersion', 'status', 'code', 'secret', 'foo', 'views', 'a/b~']
    expect(ignored).to.have.members([...ofRoot, 'parts/0/price', 'parts/0/id', 'parts/0/rowVersion'])
    expect(record).to.include({ status: 'new' })
  })

  it('rejects members that no request sets where handling is strict', async () => {
    expect(await violationsIn(create({ id: 5, parts: [{ size: 2, price: '1' }] }, { strict: true }))).to.deep.equal([
      'parameter.unknown /id',
      'parameter.unknown /parts/0/price'
    ])
  })

  it('names every fault of a body at once', async () => {
    const bad = { name: '', kind: null, isOpen: 'yes', parts: [{ size: 0 }, 7, { label: 'too long' }] }
    const request = { idempotencyKey: 'a b', unplaced: { parameters: ['x'] } }
    expect(await violationsIn(create(bad, request))).to.deep.equal([
      'body.invalid /name',
      'body.invalid /kind',
      'body.invalid /isOpen',
      'body.invalid /parts/0/size',
      'body.invalid /parts/1',
      'body.invalid /parts/2/size',
      'body.invalid /parts/2/label',
      'idempotency.key.invalid Idempotency-Key',
      'parameter.unknown x'
    ])
    expect(service.store.log).to.deep.equal([])
  })

  for (const [what, parts] of [
    ['too few', []],
    ['too many', Array.from({ length: 1001 }, () => ({ size: 1 }))],
    ['null', null],
    ['an object', {}]
  ] as const) {
    it(`rejects ${what} children`, async () => {
      expect(await violationsIn(create({ parts }))).to.deep.equal(['body.invalid /parts'])
    })
  }

  it('takes a thousand children, and asks for them where there must be some', async () => {
    await create({ parts: Array.from({ length: 1000 }, () => ({ size: 1 })) })
    expect(await violationsIn(create({ parts: undefined }))).to.deep.equal(['body.invalid /parts'])
  })

  for (const text of ['[]', '"x"', 'null', '5']) {
    it(`rejects ${text} as a body`, async () => {
      expect(await violationsIn(service.create({ resource: 'things', body: text }))).to.deep.equal(['body.invalid '])
    })
  }

  it('rejects what is no JSON', async () => {
    expect(await violationsIn(service.create({ resource: 'things', body: '{' }))).to.deep.equal(['body.malformed'])
  })

  it('asks who may before it looks at the body', async () => {
    const bad = { resource: 'things', body: '{' }
    expect((await rejectionOf(service.create(bad, anonymous))).code).to.equal('auth.required')
    expect((await rejectionOf(service.create(bad, owner(1n)))).code).to.equal('capability.denied')
    expect((await rejectionOf(service.create({ ...bad, resource: 'nothing' }))).code).to.equal('route.not-found')
  })

  it('makes ids that the database does not', async () => {
    const { id } = await service.create({ resource: 'places', body: { name: 'X' } })
    expect(id).to.equal('6f9619ff-8b86-d011-b42d-00c04fc964ff')
  })

  it('reports a conflict that the entity built as 409 with its own words', async () => {
    const { code, guarded, title, members, message } = await rejectionOf(create({ name: 'refused' }))
    expect({ code, guarded, title, members, message }).to.deep.equal({
      code: 'conflict',
      guarded: false,
      title: 'Taken',
      members: { by: 7 },
      message: 'That name is taken.'
    })
  })

  describe('of an owned resource', () => {
    const ticket = (more: object, by = owner(7n)) => service.create({ resource: 'tickets', body: more }, by)

    it('takes the owner from the claim, whether or not the body repeats it', async () => {
      expect((await ticket({})).record).to.include({ ownerId: 7 })
      expect((await ticket({ ownerId: 7 })).record).to.include({ ownerId: 7 })
    })

    it('rejects another owner, and a caller without one', async () => {
      expect((await rejectionOf(ticket({ ownerId: 8 }))).code).to.equal('ownership.denied')
      expect((await rejectionOf(ticket({}, owner(null)))).code).to.equal('ownership.denied')
      expect((await rejectionOf(ticket({ ownerId: 8 }, owner(null)))).code).to.equal('ownership.denied')
      expect((await rejectionOf(ticket({}, owner(2n ** 40n)))).code).to.equal('ownership.denied')
      expect(service.store.state.roots.get('tickets')).to.equal(undefined)
    })

    it('lets the bypass role name one, which it must', async () => {
      expect((await ticket({ ownerId: 8 }, bypass)).record).to.include({ ownerId: 8 })
      expect(await violationsIn(ticket({}, bypass))).to.deep.equal(['body.invalid /ownerId'])
    })

    it('is a configuration error without a bypass role', async () => {
      const unset = new WriteHarness(writableEntities, { bypassRole: undefined })
      const rejected = rejectionOf(unset.create({ resource: 'tickets', body: {} }, owner(7n)))
      expect((await rejected).code).to.equal('configuration')
    })
  })

  describe('with a key', () => {
    const keyed = (more: object = {}, request: object = {}, by = manager) =>
      service.create({ resource: 'things', idempotencyKey: 'key', body: { ...body, ...more }, ...request }, by)

    it('answers the same bytes again, also when the row has changed or is gone', async () => {
      const first = await keyed({ extra: 1 })
      await service.update({
        resource: 'things',
        id: first.id,
        body: { name: 'B', isOpen: false },
        tags: [first.version]
      })
      const second = await keyed({ extra: 1 })
      expect(second).to.deep.equal({ ...first, replayed: true })
      expect(second.ignored).to.deep.equal(['extra'])
      await service.remove({ resource: 'things', id: first.id })
      expect(await keyed({ extra: 1 })).to.deep.equal({ ...first, replayed: true })
      expect(service.store.state.roots.get('things')).to.deep.equal([])
    })

    it('tells the location of the first answer, whatever the link base of a retry', async () => {
      const first = await keyed({}, { linkBase: 'https://one.example' })
      expect(first.location).to.equal(`https://one.example/things/${first.id}`)
      const second = await keyed({}, { linkBase: 'https://two.example/api' })
      expect(second).to.deep.equal({ ...first, replayed: true })
    })

    it('compares requests by value', async () => {
      const { id } = await keyed()
      const text = '{"parts":[{"size":2.0},{"label":"x","size":30e-1}],"kind":"k","name":"\\u0041"}'
      expect(await service.create({ resource: 'things', idempotencyKey: 'key', body: text })).to.include({
        id,
        replayed: true
      })
      expect((await rejectionOf(keyed({ name: 'B' }))).code).to.equal('idempotency.key.reused')
      expect((await rejectionOf(keyed({ extra: 1 }))).code).to.equal('idempotency.key.reused')
    })

    it('belongs to its caller and its path', async () => {
      const { id } = await keyed()
      const others = [caller({ subject: 'another', permissions: ['things:manage'] }), { ...manager, issuer: 'another' }]
      for (const other of others)
        expect((await keyed({}, {}, other)).id, `${other.subject} of ${other.issuer}`).not.to.equal(id)
      expect((await keyed({}, { resource: 'places' })).replayed).to.equal(false)
    })

    it('gives its answer to no other owner claim of the same caller, whatever the body', async () => {
      const by = (owner: bigint | null) => ({ ...manager, owner })
      const first = await keyed({}, {}, by(1n))
      for (const owner of [2n, null]) {
        for (const more of [{}, { name: 'B' }]) {
          const rejected = await rejectionOf(keyed(more, {}, by(owner)))
          expect(rejected.code, `owner ${String(owner)}, ${JSON.stringify(more)}`).to.equal('ownership.denied')
        }
      }
      expect(await keyed({}, {}, by(1n))).to.deep.equal({ ...first, replayed: true })
    })

    it('keeps no rejection under it, so that the next try runs', async () => {
      await rejectionOf(keyed({ name: 'refused' }))
      await rejectionOf(keyed({ name: '' }))
      expect((await keyed()).replayed).to.equal(false)
    })

    it('is taken in the first statement and kept with the last', async () => {
      await keyed()
      expect(service.store.log).to.deep.equal(['claim', 'insert things', 'audit', 'get things', 'keep', 'commit'])
      service.store.before = (step) => {
        if (step === 'commit') throw new Error('lost')
      }
      expect(await keyed({}, { idempotencyKey: 'other' }).catch(String)).to.equal('Error: lost')
      service.store.before = () => undefined
      expect((await keyed({}, { idempotencyKey: 'other' })).replayed).to.equal(false)
    })

    it('survives a transaction that is run again', async () => {
      service.store.repeats = 3
      const { record } = await keyed()
      expect(service.store.state.roots.get('things')).to.have.length(1)
      expect(service.store.state.audits).to.have.length(1)
      expect((await keyed()).record).to.deep.equal(record)
    })

    it('has 1 to 255 visible characters; blank is none', async () => {
      for (const key of ['a b', 'é', 'x'.repeat(256), 'a\n', '\u007f']) {
        expect(await violationsIn(keyed({}, { idempotencyKey: key })), key).to.deep.equal([
          'idempotency.key.invalid Idempotency-Key'
        ])
      }
      for (const key of ['', ' ']) {
        const [one, other] = [await keyed({}, { idempotencyKey: key }), await keyed({}, { idempotencyKey: key })]
        expect(one.id, JSON.stringify(key)).not.to.equal(other.id)
      }
      await keyed({}, { idempotencyKey: '~'.repeat(255) })
    })

    it('is asked for where the settings say so', async () => {
      const strict = new WriteHarness(writableEntities, { keyRequired: true })
      const without = strict.create({ resource: 'places', body: { name: 'X' } })
      expect(await violationsIn(without)).to.deep.equal(['idempotency.key.missing Idempotency-Key'])
      await strict.create({ resource: 'places', body: { name: 'X' }, idempotencyKey: 'k' })
    })
  })
})
