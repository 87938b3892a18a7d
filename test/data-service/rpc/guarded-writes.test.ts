import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { writableEntities } from './writable-entities.js'
import { anonymous, bypass, violationsIn, manager, owner, rejectionOf, WriteHarness } from './write-harness.js'

const row = { id: 1, name: 'A', note: 'n', kind: 'k', isOpen: true, status: 'new', code: 'c', secret: 's' }
const DETAIL = 'A data conflict occurred. Please retry or contact support.'
const other = Buffer.from('otherone')

describe('guarded writes', () => {
  let service: WriteHarness
  let version: Buffer
  beforeEach(() => {
    service = new WriteHarness(writableEntities)
    version = service.store.add('things', row, { parts: [{ id: 11, size: 1, label: null, price: '1.00' }] })
    service.store.add('tickets', { id: 1, ownerId: 7, label: 'l' })
  })
  const put = (more: object = {}, request: object = {}, by = manager) =>
    service.update({ resource: 'things', body: { name: 'B', isOpen: false, ...more }, tags: [version], ...request }, by)
  const act = (action: string, body: unknown = {}, request: object = {}) =>
    service.act(action, { resource: 'things', body, tags: [version], ...request })

  const writes = {
    update: (request: object) => put({}, request),
    act: (request: object) => act('refuse', {}, request)
  }
  for (const [name, write] of Object.entries(writes)) {
    describe(`${name} by precondition`, () => {
      for (const [what, request, code] of [
        ['none', { tags: undefined }, 'precondition.required'],
        ['*', { precondition: 'ANY' }, 'precondition.required'],
        ['malformed', { precondition: 'MALFORMED' }, 'precondition.malformed'],
        ['tags without their kind', { precondition: 'UNSPECIFIED' }, 'precondition.malformed'],
        ['no tag', { tags: [] }, 'precondition.malformed'],
        ['an empty tag', { tags: [Buffer.alloc(0)] }, 'precondition.malformed'],
        ['an empty tag among others', { tags: [other, Buffer.alloc(0)] }, 'precondition.malformed']
      ] as const) {
        it(`rejects ${what} without a statement`, async () => {
          const rejected = await rejectionOf(write({ ...request, id: 'no id', body: '{' }))
          expect(rejected.code).to.equal(code)
          expect(service.store.log).to.deep.equal([])
        })
      }

      for (const [what, tags] of [
        ['another version', [other]],
        ['one that is too short', [Buffer.from([7])]],
        ['one that is too long', [Buffer.alloc(9, 7)]]
      ] as const) {
        it(`is stale with ${what}, after it found the row`, async () => {
          const { code, guarded, message, cause } = await rejectionOf(write({ tags }))
          expect({ code, guarded, message }).to.deep.equal({ code: 'conflict', guarded: true, message: DETAIL })
          expect(String(cause)).to.match(/stale/)
          expect(service.store.log).to.deep.equal(['lock things'])
          expect((await rejectionOf(write({ tags, id: '2' }))).code).to.equal('not-found')
        })
      }
    })
  }

  describe('update', () => {
    it('replaces what may be set, and nothing else', async () => {
      const { record, version: next } = await put()
      expect(record).to.deep.include({ name: 'B', note: null, kind: 'k', isOpen: false, status: 'new', code: 'c' })
      expect(service.store.row('things', 1)).to.include({ secret: 's' })
      expect(next.readBigUInt64BE()).to.equal(version.readBigUInt64BE() + 1n)
      expect(service.store.state.audits.map(({ action, rowId }) => [action, rowId])).to.deep.equal([['update', '1']])
    })

    it('advances the version of a row that stays the same', async () => {
      const first = await put()
      const second = await put({}, { tags: [other, first.version] })
      expect(second.version.equals(first.version)).to.equal(false)
      expect({ ...second.record, rowVersion: '' }).to.deep.equal({ ...first.record, rowVersion: '' })
    })

    it('asks for every member that may not be null, and names what it ignores', async () => {
      expect(await violationsIn(put({ name: undefined, isOpen: undefined }))).to.deep.equal([
        'body.invalid /name',
        'body.invalid /isOpen'
      ])
      const { ignored } = await put({ id: 1, kind: 'other', status: 's', secret: 'x', parts: [], rowVersion: 'x' })
      expect(ignored).to.have.members(['kind', 'status', 'secret', 'parts', 'rowVersion'])
      expect(service.store.row('things', 1)).to.include({ kind: 'k', secret: 's' })
    })

    for (const id of [2, '1', null, 1.5, 'x']) {
      it(`rejects the id ${JSON.stringify(id)} in the body of row 1`, async () => {
        expect(await violationsIn(put({ id }))).to.deep.equal(['id.mismatch /id'])
      })
    }

    it('names a bad id with the faults of the body', async () => {
      expect(await violationsIn(put({ name: '' }, { id: 'x' }))).to.deep.equal(['id.invalid id', 'body.invalid /name'])
    })

    it('of a row that is not there creates none', async () => {
      expect((await rejectionOf(put({}, { id: '2' }))).code).to.equal('not-found')
    })

    it("follows the entity's own rule", async () => {
      expect((await rejectionOf(put({ name: 'forbidden' }))).message).to.equal('A stays what it is.')
      expect((await put({ name: 'marked' })).record).to.include({ name: 'marked', status: 'marked' })
    })

    it('is rejected where the resource has none', async () => {
      const rejected = await rejectionOf(service.update({ resource: 'tickets', tags: [version] }, bypass))
      expect(rejected.code).to.equal('method.not-allowed')
    })

    it('replays under a key whatever its tag says, which must be there', async () => {
      const first = await put({}, { idempotencyKey: 'k' })
      expect(await put({}, { idempotencyKey: 'k', tags: [other] })).to.deep.equal({ ...first, replayed: true })
      const without = put({}, { idempotencyKey: 'k', tags: undefined })
      expect((await rejectionOf(without)).code).to.equal('precondition.required')
      expect((await rejectionOf(put({ name: 'C' }, { idempotencyKey: 'k' }))).code).to.equal('idempotency.key.reused')
      expect(service.store.state.audits).to.have.length(1)
    })
  })

  describe('conflicts', () => {
    const cause = new Error('unique')
    const fail = (step: string): void => {
      if (/^(update|insert|delete) /.test(step)) throw new DomainError('conflict', DETAIL, { cause })
    }

    it('of the database are the guarded kind on a guarded write alone', async () => {
      service.store.before = fail
      const guarded = await Promise.all([
        rejectionOf(put()),
        rejectionOf(act('rebuild')),
        rejectionOf(service.remove({ resource: 'things', tags: [version] }))
      ])
      expect(guarded.map((error) => error.guarded)).to.deep.equal([true, true, true])
      const unguarded = await Promise.all([
        rejectionOf(service.create({ resource: 'places', body: { name: 'X' } })),
        rejectionOf(service.remove({ resource: 'things' })),
        rejectionOf(service.remove({ resource: 'things', precondition: 'ANY' }))
      ])
      expect(unguarded.map((error) => error.guarded)).to.deep.equal([false, false, false])
      for (const [at, error] of [...guarded, ...unguarded].entries())
        expect(error, `error ${at}`).to.include({ code: 'conflict', message: DETAIL, cause })
    })

    it('that an action built keep their own words', async () => {
      expect(await rejectionOf(act('refuse'))).to.deep.include({
        code: 'conflict',
        guarded: true,
        title: 'Checked out',
        message: 'It was checked out.',
        members: { orderId: 7 }
      })
    })
  })

  describe('act', () => {
    it('changes the row from the state that it needs, and says what else it is in', async () => {
      const close = (tags: readonly Buffer[], by = owner(null, ['things:manage', 'things:close'])) =>
        service.act('close', { resource: 'things', body: { reason: null }, tags }, by)
      expect((await rejectionOf(close([version], manager))).message).to.match(/things:close/)
      const { record, version: next } = await close([version])
      expect(record).to.include({ status: 'closed', note: null })
      const rejected = await rejectionOf(close([next]))
      expect(rejected).to.include({ code: 'state.invalid' })
      expect(rejected.message).to.equal('The thing is closed; close needs it to be new or used.')
      expect((await rejectionOf(close([version]))).code).to.equal('conflict')
    })

    it('asks for members that may be null but not left out, and names those that are none', async () => {
      const by = owner(null, ['things:manage', 'things:close'])
      const close = (body: object) => service.act('close', { resource: 'things', body, tags: [version] }, by)
      expect(await violationsIn(close({}))).to.deep.equal(['body.invalid /reason'])
      expect((await close({ reason: 'r', more: 1 })).ignored).to.deep.equal(['more'])
    })

    it('takes no body for an empty one', async () => {
      const { version: next } = await act('rebuild', undefined, { body: undefined })
      expect(next.equals(version), 'the version of before').to.equal(false)
      expect(service.store.children('things', 1, 'parts').map(({ size }) => size)).to.deep.equal([9])
    })

    it('changes children and other roots with the root, whose version advances', async () => {
      const { version: next } = await act('rebuild')
      expect(next.equals(version)).to.equal(false)
      const parts = service.store.children('things', 1, 'parts').map(({ id: _, ...part }) => part)
      expect(parts).to.deep.equal([{ size: 9, label: null, price: '0.00' }])
      expect(service.store.state.roots.get('tickets')).to.have.length(2)
      expect(service.store.state.audits.map(({ resource, action }) => `${resource} ${action}`)).to.deep.equal([
        'tickets create',
        'things rebuild'
      ])
      expect(service.store.log[1]).to.equal('update things')
    })

    describe('on a child', () => {
      const resize = (more: object) => act('resize', { partId: 11, size: 4, ...more })
      const partVersion = () => service.store.childVersion('things', 1, 'parts')?.toString('base64')

      it('takes the version that the body names', async () => {
        const before = partVersion()
        await resize({ partRowVersion: before })
        expect(service.store.children('things', 1, 'parts')[0]).to.include({ size: 4 })
        expect(partVersion()).not.to.equal(before)
      })

      it('is stale with another', async () => {
        const rejected = await rejectionOf(resize({ partRowVersion: other.toString('base64') }))
        expect(rejected).to.include({ code: 'conflict', guarded: true, message: DETAIL })
        expect(String(rejected.cause)).to.match(/child/)
      })

      for (const bad of [undefined, null, '', 'AQEBAQAAAA', 'AQEBAQAAAAA', 'AQEBAQAAAAA= ', 'AQEBAQ-_AAA=', 5, {}]) {
        it(`rejects ${JSON.stringify(bad)} as one`, async () => {
          expect(await violationsIn(resize({ partRowVersion: bad }))).to.deep.equal(['body.invalid /partRowVersion'])
        })
      }

      it('rejects a child of no such root', async () => {
        const absent = resize({ partId: 12, partRowVersion: partVersion() })
        expect(await violationsIn(absent)).to.deep.equal(['body.invalid /partId'])
      })
    })

    it("reports an entity's objection to the body, and rolls back what it cannot set", async () => {
      expect(await violationsIn(act('object'))).to.deep.equal(['body.invalid /x'])
      expect(await act('break').catch(String)).to.match(/TypeError: name does not take/)
      expect(service.store.row('things', 1)).to.deep.equal(row)
    })

    it('is not found where there is none', async () => {
      expect((await rejectionOf(act('explode'))).code).to.equal('route.not-found')
    })

    it("is rejected on another's row as if it did not exist, after the precondition and the body", async () => {
      const stamp = (by: Parameters<WriteHarness['act']>[2], request: object = {}) =>
        service.act('stamp', { resource: 'tickets', body: {}, tags: [version], ...request }, by)
      expect((await rejectionOf(stamp(anonymous))).code).to.equal('auth.required')
      expect((await rejectionOf(stamp(owner(null), { tags: undefined }))).code).to.equal('precondition.required')
      expect((await rejectionOf(stamp(owner(null), { body: [] }))).code).to.equal('body.invalid')
      expect((await rejectionOf(stamp(owner(null)))).code).to.equal('ownership.denied')
      expect((await rejectionOf(stamp(owner(8n)))).code).to.equal('not-found')
      expect((await rejectionOf(stamp(owner(7n), { id: '2' }))).code).to.equal('not-found')
      expect((await stamp(owner(7n))).record).to.include({ label: '2026-01-31' })
    })

    it('needs its own permission besides the row', async () => {
      const voided = (by: Parameters<WriteHarness['act']>[2]) =>
        service.act('void', { resource: 'tickets', body: {}, tags: [version] }, by)
      expect((await rejectionOf(voided(owner(7n)))).code).to.equal('capability.denied')
      expect((await rejectionOf(voided(owner(8n, ['things:manage'])))).code).to.equal('not-found')
      expect((await voided(owner(7n, ['things:manage']))).record).to.include({ label: null })
    })
  })

  describe('delete', () => {
    it('needs no tag, and honours one', async () => {
      expect((await rejectionOf(service.remove({ resource: 'things', tags: [other] }))).code).to.equal('conflict')
      expect(service.store.row('things', 1)).to.deep.equal(row)
      await service.remove({ resource: 'things', tags: [other, version] })
      expect(service.store.row('things', 1)).to.equal(undefined)
      expect(service.store.state.audits.map(({ action }) => action)).to.deep.equal(['delete'])
      expect((await rejectionOf(service.remove({ resource: 'things' }))).code).to.equal('not-found')
      expect((await rejectionOf(service.remove({ resource: 'things', precondition: 'ANY' }))).code).to.equal(
        'not-found'
      )
      expect(service.store.state.audits).to.have.length(1)
    })

    it('takes `*` for a row that exists', async () => {
      await service.remove({ resource: 'things', precondition: 'ANY' })
      expect(service.store.row('things', 1)).to.equal(undefined)
    })

    it('rejects what it cannot understand', async () => {
      const malformed = service.remove({ resource: 'things', precondition: 'MALFORMED' })
      expect((await rejectionOf(malformed)).code).to.equal('precondition.malformed')
      expect(await violationsIn(service.remove({ resource: 'things', id: 'x' }))).to.deep.equal(['id.invalid id'])
    })

    it('is for the owner alone', async () => {
      const remove = (by: Parameters<WriteHarness['remove']>[1]) => service.remove({ resource: 'tickets' }, by)
      expect((await rejectionOf(remove(owner(null)))).code).to.equal('ownership.denied')
      expect((await rejectionOf(remove(owner(8n)))).code).to.equal('not-found')
      await remove(owner(7n))
    })
  })
})
