import { ENOUGH_MEMORY } from '../rpc/account.js'
import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Logger } from 'pino'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { reject } from '../../../data-service/entity/action.js'
import type { Authenticated, CallContext } from '../../../data-service/entity/caller.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, onCreate, optional, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { GuessCounts } from '../../../data-service/operations/writes/guess-counts.js'
import { WriteShares } from '../../../data-service/operations/writes/write-shares.js'
import type { WriteDeps } from '../../../data-service/operations/writes/write-steps.js'
import { act } from '../../../data-service/operations/writes/act.js'
import { create } from '../../../data-service/operations/writes/create.js'
import { remove } from '../../../data-service/operations/writes/delete.js'
import { update } from '../../../data-service/operations/writes/update.js'
import { eachDatabase } from '../../harness/database.js'
import { failure } from '../sql/write/failure.js'
import { type FreshWriteStore, freshWriteStore, never } from '../sql/write/fresh-write-store.js'

/** Rows that are written by themselves, past whose hook no other root may bring them along. */
const products = defineEntity({
  name: 'products',
  description: 'Products.',
  fields: { id: readOnly(int()), name: text(200), categoryId: int() },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: everyone, write: permission('products:manage') },
  writes: ['create'],
  hooks: ({ beforeCommit }) => [beforeCommit({ on: ['create'], run: () => undefined })]
})

/** The table of categories once more, with products as children. */
const groups = defineEntity({
  name: 'groups',
  table: 'categories',
  description: 'Categories with their products.',
  fields: { id: readOnly(int()), name: text(200), slug: readOnly(text(64)) },
  children: { products: { entity: products, foreignKey: 'categoryId' } },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: everyone }
})

/** A table of the store under rules that answer what no rule of the store answers. */
const categories = defineEntity({
  name: 'categories',
  description: 'Categories.',
  fields: {
    id: readOnly(int()),
    name: text(200),
    parentId: onCreate(optional(int())),
    slug: readOnly(text(64))
  },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: everyone, write: permission('products:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: ({ input }) =>
      input.name === 'rejected'
        ? reject.conflict('Taken', 'That name is taken.', { by: 7 })
        : { values: { slug: `made of ${input.name}` }, ...(input.name === 'odd' ? { childrn: {} } : {}) }
  },
  // The parent notes that a child is gone; one that nobody has locked cannot be written.
  deletes: {
    async rule({ root: { name, parentId }, getAggregate }) {
      if (name === 'odd deletion') return { creat: [] } as object
      if (name === 'kept') return reject.state('It is kept.')
      if (parentId === null)
        return { create: [{ resource: 'categories', values: { name: `after ${name}`, slug: name } }] }
      if (name !== 'unlocked') await getAggregate('categories', parentId)
      return { update: [{ resource: 'categories', id: parentId, set: { slug: `lost ${name}` } }] }
    }
  },
  updates: ({ root, input }) =>
    input.name === 'rejected' ? reject.state(`${root.name} stays what it is.`) : { set: { slug: `from ${root.name}` } },
  actions: (action) => ({
    'set-too-long': action({ description: 'Sets what it cannot.', change: () => ({ set: { slug: 'x'.repeat(65) } }) }),
    // A compiler refuses it, and an application may run without one.
    'set-later': action({
      description: 'Sets too late.',
      effect: (async () => ({ set: { slug: 'late' } })) as unknown as () => object
    }),
    // A compiler refuses these too.
    'misspell-set': action({ description: 'Sets nothing.', change: () => ({ sett: { slug: 'x' } }) as object }),
    'misspell-effect': action({ description: 'Sets nothing.', effect: () => ({ sett: { slug: 'x' } }) as object }),
    'answer-word': action({ description: 'Rejects nothing.', change: () => reject.notFound as unknown as object }),
    'answer-error': action({ description: 'Rejects nothing.', change: () => new Error('no') as unknown as object }),
    'answer-list': action({ description: 'Sets nothing.', change: () => [] as unknown as object }),
    'answer-promise': action({
      description: 'Sets nothing.',
      change: () => ({ set: Promise.resolve({ slug: 'x' }) }) as object
    }),
    'misspell-new': action({
      description: 'Creates less.',
      change: () => ({ create: [{ resource: 'categories', values: { name: 'X', slug: 'x' }, childen: {} }] }) as object
    }),
    'bring-along': action({
      description: 'Creates rows of a resource of its own.',
      change: () => ({
        set: { slug: 'changed' },
        create: [{ resource: 'groups', values: { name: 'X', slug: 'x' }, children: { products: [{ name: 'P' }] } }]
      })
    }),
    'misspell-other': action({
      description: 'Changes nothing of another.',
      change: () => ({ update: [{ resource: 'categories', id: 1, sett: { slug: 'x' } }] }) as object
    }),
    'create-too-long': action({
      description: 'Creates what it cannot.',
      change: () => ({
        set: { slug: 'changed' },
        create: [{ resource: 'categories', values: { name: 'Other', slug: 'x'.repeat(65) } }]
      })
    })
  })
})

const caller: Authenticated = {
  kind: 'authenticated',
  claims: {},
  issuer: 'issuer',
  subject: 'somebody',
  roles: [],
  permissions: new Set(['products:manage']),
  owner: null
}

type Transaction<Result> = Parameters<typeof WriteShares.prototype.transaction<Result>>

/** As where the answer to a COMMIT is lost: the transaction was stored, and is run again. */
class RepeatingShares extends WriteShares {
  override async transaction<Result>(...of: Transaction<Result>): Promise<Result> {
    await super.transaction(...of)
    return await super.transaction(...of)
  }
}

const context: CallContext = {
  caller,
  requestId: 'r',
  peerIsGateway: false,
  clientAddress: '198.51.100.7',
  signal: never,
  cancellation: never,
  onTaken: () => undefined,
  // No handler of a write logs.
  log: {} as Logger
}

eachDatabase((kind) => {
  describe(`rules of an entity file on ${kind}`, () => {
    let fresh: FreshWriteStore
    let deps: WriteDeps
    before(async () => {
      fresh = await freshWriteStore(kind, { written: [categories, groups, products] })
      deps = {
        planning: {
          catalogue: makeCatalogue([categories, groups, products]),
          ownership: { bypassRole: 'Admin', parameterName: 'id' },
          maxPageSize: 500,
          maxExportRows: 100
        },
        shares: new WriteShares(fresh.store, { connections: 10, memory: ENOUGH_MEMORY }),
        idempotency: { retention: 60_000, required: false },
        guesses: new GuessCounts(Date.now),
        storedTypes: (type) => [type],
        now: Date.now,
        randomBytes,
        newGuid: randomUUID
      }
    })
    after(() => fresh.dispose())
    // Rows that refer to others go first.
    afterEach(() => fresh.byHand.run('DELETE FROM categories WHERE parent_id IS NOT NULL'))
    afterEach(() => fresh.byHand.run('DELETE FROM categories'))

    const request = (body: object) => ({
      resource: 'categories',
      body: Buffer.from(JSON.stringify(body)),
      strict: false,
      dryRun: false,
      linkBase: '',
      mergePatch: false,
      unplaced: null
    })
    const made = async (name: string) => {
      const { id = '', record } = await create(deps, context, request({ name }))
      const versions = record?.rowVersion instanceof Buffer ? [record.rowVersion] : []
      return { id, precondition: { kind: 'PRECONDITION_KIND_TAGS', versions } } as const
    }
    const stored = () => fresh.byHand.run('SELECT name, parent_id, slug FROM categories ORDER BY id')

    it('on create set further columns, or reject the row as a conflict in their own words', async () => {
      await made('A')
      const rejected = await failure(create(deps, context, request({ name: 'rejected' })))
      expect(rejected).to.deep.include({
        code: 'conflict',
        guarded: false,
        title: 'Taken',
        message: 'That name is taken.',
        members: { by: 7 }
      })
      expect(await stored()).to.deep.equal([{ name: 'A', parent_id: null, slug: 'made of A' }])
    })

    it('on update set further columns from the row as it was, or reject the PUT', async () => {
      const row = await made('A')
      const rejected = await failure(update(deps, context, { ...row, ...request({ name: 'rejected' }) }))
      expect(rejected).to.include({ code: 'state.invalid', message: 'A stays what it is.' })
      await update(deps, context, { ...row, ...request({ name: 'B' }) })
      expect(await stored()).to.deep.equal([{ name: 'B', parent_id: null, slug: 'from A' }])
    })

    it('on delete reject it, or create and change other rows with it, which have to be under lock', async () => {
      const gone = ({ id }: { readonly id: string }) =>
        remove(deps, context, { resource: 'categories', id, precondition: null, unplaced: null, dryRun: false })
      const kept = await made('kept')
      expect(await failure(gone(kept))).to.include({ code: 'state.invalid', message: 'It is kept.' })
      const child = async (name: string) =>
        await create(deps, context, request({ name, parentId: Number(kept.id) })).then(({ id = '' }) => ({ id }))
      expect(await failure(gone(await child('unlocked'))))
        .to.be.instanceOf(TypeError)
        .with.property('message', `categories ${kept.id} is not under lock by getAggregate`)
      const before = await fresh.byHand.run(`SELECT HEX(row_version) AS version FROM categories WHERE id = ${kept.id}`)
      await gone(await child('B'))
      const after = await fresh.byHand.run(`SELECT HEX(row_version) AS version FROM categories WHERE id = ${kept.id}`)
      expect(after).to.not.deep.equal(before)
      expect((await stored()).map(({ name, slug }) => [name, slug])).to.deep.equal([
        ['kept', 'lost B'],
        ['unlocked', 'made of unlocked']
      ])
      const [entry] = await fresh.byHand.run("SELECT COUNT(*) AS n FROM ur_audit_entries WHERE action = 'update'")
      expect(Number(entry?.['n'])).to.be.greaterThan(0)
      await gone(await made('A'))
      expect((await stored()).map(({ name }) => name)).to.include('after A')
    })

    it('name columns that only a create sets, which a PUT leaves as they are', async () => {
      const { id: parentId } = await made('A')
      const row = await made('B')
      const { ignoredMembers } = await update(deps, context, {
        ...row,
        ...request({ name: 'C', parentId: Number(parentId) })
      })
      expect(ignoredMembers).to.deep.equal(['parentId'])
      expect((await stored())[1]).to.deep.equal({ name: 'C', parent_id: null, slug: 'from B' })
    })

    it('run again for the same subject of another issuer, whose Idempotency-Key is its own', async () => {
      const keyed = { ...request({ name: 'A' }), idempotencyKey: 'k' }
      const other = { ...context, caller: { ...caller, issuer: 'another' } }
      expect(await create(deps, context, keyed)).to.include({ replayed: false })
      expect(await create(deps, context, keyed)).to.include({ replayed: true })
      await fresh.byHand.run('DELETE FROM categories')
      expect(await create(deps, other, keyed)).to.include({ replayed: false })
      expect(await stored()).to.have.length(1)
    })

    it('answer a COMMIT that is repeated since its answer was lost as the first one, and store one row', async () => {
      const shares = new RepeatingShares(fresh.store, { connections: 10, memory: ENOUGH_MEMORY })
      const keyed = { ...request({ name: 'Lost' }), idempotencyKey: 'lost' }
      expect(await create({ ...deps, shares }, context, keyed)).to.include({ replayed: false })
      expect(await create(deps, context, keyed)).to.include({ replayed: true })
      expect((await stored()).map(({ name }) => name)).to.deep.equal(['Lost'])
    })

    it('change nothing where an effect is async: nobody waits for it', async () => {
      const row = await made('A')
      const error = await failure(act(deps, context, { ...row, ...request({}), action: 'set-later' }))
      expect(error).to.be.instanceOf(TypeError).with.property('message').that.includes('effect of set-later is async')
      expect(await stored()).to.deep.equal([{ name: 'A', parent_id: null, slug: 'made of A' }])
    })

    for (const [action, message] of Object.entries({
      'misspell-set': 'misspell-set of categories: there is no `sett`. Did you mean "set"?',
      'misspell-effect': 'misspell-effect of categories: there is no `sett`. Did you mean "set"?',
      'answer-word': 'answer-word of categories answers a function, and no change.',
      'answer-error': 'answer-error of categories answers Error, and no change.',
      'answer-list': 'answer-list of categories answers Array, and no change.',
      'answer-promise': 'answer-promise of categories: `set` is Promise.',
      'misspell-new': 'a row to create: there is no `childen`. Did you mean "children"?',
      'misspell-other': 'a row to change: there is no `sett`. Did you mean "set"?',
      'bring-along': 'products of groups are written as products'
    })) {
      it(`change nothing where they answer what no write does: ${action}`, async () => {
        const row = await made('A')
        const error = await failure(act(deps, context, { ...row, ...request({}), action }))
        expect(error).to.be.instanceOf(TypeError).with.property('message', message)
        expect(await stored()).to.deep.equal([{ name: 'A', parent_id: null, slug: 'made of A' }])
      })
    }

    it('create and delete nothing where they answer a word that nothing reads', async () => {
      expect(await failure(made('odd')))
        .to.be.instanceOf(TypeError)
        .with.property('message', 'creates.prepare of categories: there is no `childrn`. Did you mean "children"?')
      const { id } = await made('odd deletion')
      expect(
        await failure(
          remove(deps, context, { resource: 'categories', id, precondition: null, unplaced: null, dryRun: false })
        )
      )
        .to.be.instanceOf(TypeError)
        .with.property('message', 'deletes.rule of categories: there is no `creat`. Did you mean "create"?')
      expect((await stored()).map(({ name }) => name)).to.deep.equal(['odd deletion'])
    })

    it('name a member of the body by a JSON pointer, also where its slash is missing', () => {
      const pointers = ['/name', 'name', '', '/lines/0'].map((pointer) => reject.input(pointer, 'No.').pointer)
      expect(pointers).to.deep.equal(['/name', '/name', '', '/lines/0'])
    })

    for (const action of ['set-too-long', 'create-too-long']) {
      it(`change nothing where an action answers a value that its column does not take: ${action}`, async () => {
        const row = await made('A')
        const error = await failure(act(deps, context, { ...row, ...request({}), action }))
        expect(error)
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.matches(/^slug does not take x+$/)
        expect(await stored()).to.deep.equal([{ name: 'A', parent_id: null, slug: 'made of A' }])
      })
    }
  })
})
