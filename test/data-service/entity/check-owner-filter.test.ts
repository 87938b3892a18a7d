import { expect } from 'chai'
import { permissionsIn } from '../../../data-service/auth/tokens/claims.js'
import { roles } from '../../../examples/store/roles.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import {
  guid,
  hidden,
  int,
  long,
  onCreate,
  optional,
  readOnly,
  text
} from '../../../data-service/entity/fields/words.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

function mistakes(entity: Entity): readonly string[] {
  try {
    checkCatalogue([entity], { permissions: permissionsIn(roles), hasSecondStore: true })
    return []
  } catch (error) {
    if (error instanceof CatalogueError) return error.mistakes
    throw error
  }
}

const own = { kind: 'ownRows', property: 'ownerId' }
const managed = { kind: 'permission', permission: 'orders:manage' }
const open = { kind: 'everyone' }

/** An entity file that got round its types. */
const entity = (access: object, more: object = {}): Entity =>
  defineEntity({
    name: 'carts',
    description: '',
    fields: {
      id: readOnly(int()),
      ownerId: onCreate(int()),
      far: readOnly(optional(long())),
      code: readOnly(optional(guid())),
      name: text(9),
      secret: hidden(optional(int()))
    },
    label: 'name',
    filterable: [],
    sortable: [],
    writes: ['create', 'delete'],
    actions: (action: (definition: object) => unknown) => ({
      close: action({ description: '', change: () => ({}) }),
      refund: action({ description: '', permission: 'orders:manage', change: () => ({}) })
    }),
    customReads: { names: { description: '', item: 'name' } },
    access,
    ...more
  } as unknown as Parameters<typeof defineEntity>[0])

const filtered = (ownerFilter: object, read: object = own, write: object = own): Entity =>
  entity({ read, write, ownerFilter: { property: 'ownerId', parameter: 'ownerId', ...ownerFilter } })

describe('checkCatalogue on owner filters', () => {
  it('passes those whose guards stand', () => {
    expect(mistakes(filtered({}))).to.deep.equal([])
    expect(mistakes(filtered({ allowMissingOwner: 'rowScope' }))).to.deep.equal([])
    expect(mistakes(filtered({ allowMissingOwner: 'permission' }, managed, managed))).to.deep.equal([])
    const each = {
      list: 'rowScope',
      names: 'rowScope',
      delete: 'permission',
      refund: 'permission',
      close: 'permission'
    }
    expect(mistakes(filtered({ allowMissingOwner: each }, own, managed))).to.deep.equal([])
    expect(mistakes(filtered({ on: ['refund'], allowMissingOwner: 'permission' }))).to.deep.equal([])
    expect(mistakes(filtered({ property: 'far', on: ['list', 'names'] }))).to.deep.equal([])
  })

  const cases: Record<string, [checked: Entity, mistake: string | RegExp]> = {
    'a read opted out by a row scope that it has not': [
      filtered({ on: ['list'], allowMissingOwner: 'rowScope' }, managed),
      'carts: ownerFilter: `list` may go without the owner, but its row scope (ownRows or rows) does not stand there.'
    ],
    'a read opted out by a permission that it does not need': [
      filtered({ on: ['get'], allowMissingOwner: { get: 'permission' } }),
      'carts: ownerFilter: `get` may go without the owner, but its permission does not stand there.'
    ],
    'a public read opted out': [
      filtered({ on: ['lookup'], allowMissingOwner: 'permission' }, open),
      /`lookup` may go without the owner, but its permission/
    ],
    'a custom read opted out by nothing': [
      filtered({ on: ['names'], allowMissingOwner: 'rowScope' }, managed),
      /`names` may go without the owner, but its row scope/
    ],
    'a write opted out by a row scope that it has not': [
      filtered({ on: ['delete'], allowMissingOwner: 'rowScope' }, own, managed),
      /`delete` may go without the owner, but its row scope/
    ],
    'an action opted out by a permission that it does not need': [
      filtered({ on: ['close', 'refund'], allowMissingOwner: 'permission' }),
      /`close` may go without the owner, but its permission/
    ],
    'every route opted out where one is not guarded': [
      filtered({ allowMissingOwner: 'rowScope' }, own, managed),
      /`create` may go without the owner, but its row scope/
    ],
    'a guard that is none': [
      filtered({ on: ['list'], allowMissingOwner: 'luck' }),
      /but its luck does not stand there/
    ],
    'a route that there is not': [
      filtered({ on: ['lits'] }),
      'carts: `lits` is not a route of the resource. Did you mean "list"?'
    ],
    'a write that the resource has not': [filtered({ on: ['update'] }), /`update` is not a route of the resource/],
    'an action that there is not': [filtered({ on: ['clse'] }), /`clse` is not a route.* Did you mean "close"/],
    'an opted-out route that there is not': [
      filtered({ on: ['list'], allowMissingOwner: { namse: 'rowScope' } }),
      /`namse` is not a route.* Did you mean "names"/
    ],
    'an opted-out route that the filter is not on': [
      filtered({ on: ['list'], allowMissingOwner: { paged: 'rowScope' } }),
      /allowMissingOwner names `paged`, which the filter is not on/
    ],
    'no route at all': [filtered({ on: [] }), /stands before no route/],
    'an owner that is no number': [filtered({ property: 'code' }), /owner `code` must be int or long, not guid/],
    'an owner that is no field': [filtered({ property: 'owner' }), /`owner` is not a field. Did you mean "ownerId"/],
    'a parameter of every resource': [filtered({ parameter: 'pageSize' }), /`pageSize` is one that every resource has/],
    'a parameter that is no name': [filtered({ parameter: 'owner-id' }), /`owner-id` must be camelCase/],
    'the id of the route for an owner that is elsewhere': [
      filtered({ parameter: 'id', on: ['list', 'close'] }),
      /`close` would take the id of its path for the owner, which is in `ownerId`/
    ]
  }
  for (const [what, [checked, mistake]] of Object.entries(cases)) {
    it(`reports ${what}`, () => {
      const found = mistakes(checked)
      if (typeof mistake === 'string') expect(found).to.deep.equal([mistake])
      else expect(found.join('\n')).to.match(mistake)
    })
  }
})

describe('checkCatalogue on exports', () => {
  const reads = (of: object, ownerFilter?: object): Entity =>
    entity({
      read: own,
      reads: of,
      write: own,
      ...(ownerFilter === undefined
        ? {}
        : { ownerFilter: { property: 'ownerId', parameter: 'ownerId', ...ownerFilter } })
    })

  it('passes what is scoped or gated alike', () => {
    expect(mistakes(reads({ get: open, lookup: managed }))).to.deep.equal([])
    expect(mistakes(reads({ list: managed, paged: managed, export: managed }))).to.deep.equal([])
    expect(mistakes(reads({}, { on: ['list'] }))).to.deep.equal([])
    expect(mistakes(entity({ reads: { export: own }, write: own }))).to.deep.equal([])
  })

  const cases: Record<string, [reads: Entity, mistake: RegExp]> = {
    'an export that is not scoped': [reads({ export: open }), /`export` is for everyone, but `list` for the owners/],
    'an export that is not gated': [
      reads({ list: managed, paged: managed }),
      /`export` .* but `list` for callers with/
    ],
    'an export with another permission': [
      reads({ list: managed, paged: managed, export: { kind: 'permission', permission: 'audit:read' } }),
      /callers with audit:read, but `paged` for callers with orders:manage/
    ],
    'an export scoped by another owner': [reads({ export: { kind: 'ownRows', property: 'far' } }), /owners by far/],
    'pages that are open where the export is not': [reads({ paged: open }), /but `paged` for everyone/],
    'an export without the filter of a public list': [
      reads({ list: open, paged: open, export: open }, { on: ['list', 'paged'] }),
      /but `list` for everyone behind the owner filter/
    ]
  }
  for (const [what, [checked, mistake]] of Object.entries(cases)) {
    it(`reports ${what}`, () => {
      expect(mistakes(checked).join('\n')).to.match(mistake)
    })
  }

  it('reports a word of operations', () => {
    const access = { read: { kind: 'authenticated' }, write: own }
    expect(mistakes(entity(access)).join('\n')).to.match(/rows\(\(\) => 'all'\) takes any token/)
  })

  it('reports a resource that says nothing of who reads it, whatever single reads say', () => {
    for (const [at, access] of [{}, { reads: { get: open } }, { reads: { list: open, paged: open } }].entries()) {
      expect(mistakes(entity({ ...access, write: own })).join('\n'), `access ${at}`).to.match(
        /access says nothing of its reads/
      )
    }
  })
})

describe('checkCatalogue on custom reads', () => {
  const reading = (customReads: object): Entity => entity({ read: own, write: own }, { customReads })
  const sound = { description: '', item: 'name' }

  const cases: Record<string, [customReads: object, mistake: RegExp]> = {
    'the name of a read': [{ lookup: sound }, /custom read `lookup`: the name is that of a read/],
    'the segment of batches': [{ batch: sound }, /custom read `batch`: the name is that of batches of writes/],
    'the segment of unique properties': [{ by: sound }, /custom read `by`: the name is that of a read/],
    'a name that is not kebab-case': [{ sessionIds: sound }, /`sessionIds`: the name must be kebab-case/],
    'a name that could be an id': [{ 'abcdef01-0000-4000-8000-000000000000': sound }, /the name could be an id/],
    'the name of an action': [{ close: sound }, /two routes are called `close`/],
    'the name of an operation': [{ get: sound }, /two routes are called `get`/],
    'a permission that no role has': [
      { names: { ...sound, access: { kind: 'permission', permission: 'order:manage' } } },
      /custom read `names`: permission `order:manage` is given to no role.* Did you mean "orders:manage"/
    ],
    'an owner that is no number': [
      { names: { ...sound, access: { kind: 'ownRows', property: 'code' } } },
      /custom read `names`: owner `code` must be int or long/
    ],
    'a field that there is not': [{ names: { ...sound, item: 'nmae' } }, /`nmae` is not a field. Did you mean "name"/],
    'what is hidden': [{ names: { ...sound, item: 'secret' } }, /custom read `names`: `secret` is hidden/],
    'an order by what is hidden': [{ names: { ...sound, sort: ['secret'] } }, /`secret` is hidden/],
    'nothing to show': [{ names: { description: '', items: [] } }, /shows nothing/],
    'a field shown twice': [{ names: { description: '', items: ['id', 'id'] } }, /names a field twice/],
    'a value of another type': [{ names: { ...sound, where: { name: 7 } } }, /`name` is string and never 7/]
  }
  for (const [what, [customReads, mistake]] of Object.entries(cases)) {
    it(`reports ${what}`, () => {
      expect(mistakes(reading(customReads)).join('\n')).to.match(mistake)
    })
  }

  it('reports an action with the name of an operation, which a filter could not tell apart', () => {
    const actions = (action: (definition: object) => unknown): object => ({
      create: action({ description: '', change: () => ({}) })
    })
    expect(mistakes(entity({ read: own, write: own }, { actions })).join('\n')).to.match(
      /two routes are called `create`/
    )
  })
})
