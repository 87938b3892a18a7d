import { expect } from 'chai'
import { anonymous, type Caller } from '../../../data-service/entity/caller.js'
import type { PlanningContext } from '../../../data-service/plan/planning.js'
import type { RowScope } from '../../../data-service/plan/model/plans.js'
import {
  planExport,
  planGet,
  planGetBy,
  planList,
  planLookup,
  planPage,
  planCustomRead
} from '../../../data-service/plan/plan-reads.js'
import { parseUpdateBatch } from '../../../data-service/plan/batch-requests.js'
import { parseAct, parseCreate, parseDelete, parseUpdate } from '../../../data-service/plan/write-requests.js'
import { errorOf, violationsOf } from './violations-of.js'
import { ownedCatalogue } from './owned-entities.js'

const caller = (owner: bigint | null, roles: string[] = [], permissions: string[] = []): Caller => ({
  kind: 'authenticated',
  claims: {},
  issuer: 'i',
  subject: 's',
  roles,
  permissions: new Set(permissions),
  owner
})
const by = (who: Caller, parameterName = 'id', bypassRole: string | null = 'Admin'): PlanningContext => ({
  planning: {
    catalogue: ownedCatalogue,
    ownership: { bypassRole: bypassRole ?? undefined, parameterName },
    maxPageSize: 100,
    maxExportRows: 100
  },
  caller: who
})
const ada = by(caller(42n))
const admin = by(caller(null, ['ADMIN']))
const nobody = by(caller(null))

interface Asked {
  readonly resource: string
  readonly owner?: string | undefined
  readonly id?: string
  readonly name?: string
  readonly body?: unknown
}
const texts = ({ resource, owner, id = '1', name = 'session-ids', body = {} }: Asked) => ({
  resource,
  id,
  name,
  action: 'clear',
  parameters: {},
  shape: null,
  selection: null,
  unplaced: null,
  strict: false,
  dryRun: false,
  linkBase: '',
  precondition: { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.alloc(8, 1)] },
  body: Buffer.from(JSON.stringify(body)),
  ...(owner === undefined ? {} : { ownerParameter: owner })
})
type Route = (asked: Asked, call: PlanningContext) => { readonly scope?: RowScope }

const COLLECTIONS: Readonly<Record<string, Route>> = {
  list: (asked, call) => planList(texts(asked), call),
  paged: (asked, call) => planPage(texts(asked), call).plan,
  export: (asked, call) => planExport(texts(asked), call),
  lookup: (asked, call) => planLookup(texts(asked), call)
}
const SINGLE: Readonly<Record<string, Route>> = {
  get: (asked, call) => planGet(texts(asked), call),
  create: (asked, call) => (parseCreate(texts(asked), call, false), {}),
  update: (asked, call) => (parseUpdate({ ...texts(asked), mergePatch: false }, call), {}),
  delete: (asked, call) => (parseDelete(texts(asked), call), {}),
  act: (asked, call) => (parseAct(texts(asked), call), {})
}
const read: Route = (asked, call) => planCustomRead(texts(asked), call).plan

/** `customerId=42` of every condition; `all` for all rows. */
function rows({ scope }: { readonly scope?: RowScope }): string[] | 'all' {
  if (scope === undefined || scope.kind === 'all-rows') return 'all'
  return scope.conditions.map((one) =>
    'path' in one ? `${one.path.column.name} ${one.comparison} ${one.operands.join()}` : 'combined'
  )
}
const OWN = 'customerId equals 42'

/** What source.md and contract.md section 6 say to a parameter of a caller whose owner is 42. */
const PARAMETERS: readonly (readonly [text: string | undefined, verdict: 'own' | 'denied' | 'absent'])[] = [
  ['42', 'own'],
  ['042', 'own'],
  ['00000000000000000042', 'own'],
  ['41', 'denied'],
  ['-42', 'denied'],
  ['42abc', 'denied'],
  ['abc', 'denied'],
  ['4.2e1', 'denied'],
  ['42.0', 'denied'],
  ['+42', 'denied'],
  [' 42', 'denied'],
  ['42 ', 'denied'],
  ['0x2a', 'denied'],
  ['٤٢', 'denied'],
  ['', 'denied'],
  ['42,42', 'denied'],
  ['42,41', 'denied'],
  ['18446744073709551658', 'denied'],
  [`${'0'.repeat(200)}42`, 'denied'],
  [undefined, 'absent']
]

describe('owner filter', () => {
  for (const [owner, verdict] of PARAMETERS) {
    const named = owner === undefined ? 'no parameter' : JSON.stringify(owner.slice(0, 30))
    it(`judges ${named} on every route`, () => {
      for (const [route, run] of Object.entries({ ...COLLECTIONS, ...SINGLE })) {
        const asked = (): unknown => run({ resource: 'carts', owner, body: { customerId: 42 } }, ada)
        if (verdict === 'denied') expect(errorOf(asked).code, route).to.equal('ownership.denied')
        else expect(asked, route).not.to.throw()
      }
    })

    it(`judges ${named} on a list without a way around it, and on a read of the resource's own`, () => {
      for (const [route, run] of Object.entries({ list: COLLECTIONS['list'], read })) {
        const asked = (): unknown => run?.({ resource: 'bookmarks', owner }, ada)
        if (verdict === 'own') expect(asked, route).not.to.throw()
        else expect(errorOf(asked).code, route).to.equal('ownership.denied')
      }
    })
  }

  it('by the id of the path narrows a read by a unique property to the rows of the caller, and takes no parameter', () => {
    const lockers = (who: PlanningContext, owner?: string) =>
      planGetBy({ ...texts({ resource: 'lockers', owner }), property: 'code', value: 'a' }, who)
    for (const owner of [undefined, '42', '7', 'x']) {
      const { plan, absent } = lockers(ada, owner)
      expect(rows(plan), owner).to.deep.equal(['id equals 42'])
      expect(absent?.code, owner).to.equal('ownership.denied')
      expect([rows(lockers(admin, owner).plan), lockers(admin, owner).absent], owner).to.deep.equal(['all', undefined])
      expect(errorOf(() => lockers(nobody, owner)).code, owner).to.equal('ownership.denied')
      expect(errorOf(() => lockers(by(anonymous), owner)).code, owner).to.equal('auth.required')
    }
  })

  it('by the id of the path narrows an update by a unique property, whatever else guards it', () => {
    const update = (who: PlanningContext) =>
      parseUpdate({ ...texts({ resource: 'lockers', id: 'a', owner: '7' }), property: 'code', mergePatch: true }, who)
    const managing = (owner: bigint | null, ...roles: string[]): PlanningContext =>
      by(caller(owner, roles, ['folders:manage']))
    const { writer, by: named } = update(managing(42n))
    if (writer.decided instanceof Error) throw writer.decided
    expect(rows({ scope: writer.decided.before })).to.deep.equal(['id equals 42'])
    expect(named?.absent?.code).to.equal('ownership.denied')
    const { writer: free, by: unbound } = update(managing(null, 'Admin'))
    if (free.decided instanceof Error) throw free.decided
    expect([rows({ scope: free.decided.before }), unbound?.absent]).to.deep.equal(['all', undefined])
    expect(errorOf(() => update(managing(null))).code).to.equal('ownership.denied')
    expect(errorOf(() => update(ada)).code).to.equal('capability.denied')
  })

  it('by the id judges each item of a batch before its version and its content, at the place of its id', () => {
    const update = (items: readonly object[], who: PlanningContext): unknown =>
      parseUpdateBatch(texts({ resource: 'lockers', body: items }), who, {
        keyRequired: false,
        checkSize: () => undefined
      })
    const managing = (owner: bigint | null, ...roles: string[]): PlanningContext =>
      by(caller(owner, roles, ['folders:manage']))
    const own = { id: '42', rowVersion: Buffer.alloc(8, 1).toString('base64') }
    const [ada42, boss] = [managing(42n), managing(null, 'Admin')]
    expect(() => update([own], ada42)).not.to.throw()
    for (const other of [{ ...own, id: '7' }, { id: 7 }, { id: '7', note: 7 }, { id: 'x' }, {}]) {
      const denied = errorOf(() => update([own, other], ada42))
      expect([denied.code, denied.violations.map(({ place }) => place)], JSON.stringify(other)).to.deep.equal([
        'ownership.denied',
        [{ in: 'pointer', name: '/1/id' }]
      ])
    }
    expect(() => update([own, { ...own, id: '7' }], boss)).not.to.throw()
    expect(errorOf(() => update([own, { id: '7' }], boss)).code).to.equal('precondition.required')
    expect(errorOf(() => update([own], managing(null))).code).to.equal('ownership.denied')
  })

  it('by a parameter of the query judges a read by a unique property as one by id', () => {
    for (const owner of [undefined, '42', '7', 'x']) {
      const asked = texts({ resource: 'parcels', owner })
      const byValue = (): unknown => planGetBy({ ...asked, property: 'code', value: 'a' }, ada)
      const byId = (): unknown => planGet(asked, ada)
      if (owner === '42') {
        const { plan, absent } = planGetBy({ ...asked, property: 'code', value: 'a' }, ada)
        expect([rows(plan), absent]).to.deep.equal([rows(planGet(asked, ada)), undefined])
      } else expect([errorOf(byValue).code, errorOf(byId).code], owner).to.deep.equal(Array(2).fill('ownership.denied'))
    }
  })

  it('compares 64-bit integers', () => {
    const far = by(caller(-(2n ** 63n)))
    expect(() => SINGLE['get']?.({ resource: 'folders', id: '-9223372036854775808' }, far)).not.to.throw()
    for (const id of ['9223372036854775808', '-9223372036854775807']) {
      expect(errorOf(() => SINGLE['get']?.({ resource: 'folders', id }, far)).code, id).to.equal('ownership.denied')
    }
  })

  it('takes no member of a body for the parameter', () => {
    const body = { customerId: 42, userId: 42, id: 42 }
    const asked = { resource: 'folders', body }
    expect(errorOf(() => COLLECTIONS['list']?.(asked, ada)).code).to.equal('ownership.denied')
    // Opted out: what the body names is not compared here, and the claim fills the owner.
    expect(() => SINGLE['create']?.({ resource: 'carts', body: { customerId: 41 } }, ada)).not.to.throw()
  })

  it('excuses nothing but a missing parameter: a missing claim is rejected all the same', () => {
    for (const [route, run] of Object.entries({ ...COLLECTIONS, ...SINGLE })) {
      expect(errorOf(() => run({ resource: 'carts' }, nobody)).code, route).to.equal('ownership.denied')
      expect(errorOf(() => run({ resource: 'carts', owner: '42' }, nobody)).code, route).to.equal('ownership.denied')
      expect(errorOf(() => run({ resource: 'carts', owner: '42' }, by(anonymous))).code, route).to.equal(
        'auth.required'
      )
    }
  })

  it('comes after the capability and before the precondition, the id and everything else that is asked', () => {
    const bad = { resource: 'folders', id: 'x', owner: '7' }
    const holder = by(caller(42n, [], ['folders:manage']))
    const stranger = by(caller(42n))
    const deleting = (call: PlanningContext) => (): unknown =>
      parseDelete({ ...texts(bad), precondition: { kind: 'PRECONDITION_KIND_MALFORMED', versions: [] } }, call)
    expect(errorOf(deleting(stranger)).code).to.equal('capability.denied')
    expect(errorOf(deleting(holder)).code).to.equal('ownership.denied')
    expect(errorOf(deleting(admin)).code).to.equal('capability.denied')
    const managing = by(caller(null, ['Admin'], ['folders:manage']))
    expect(errorOf(deleting(managing)).code).to.equal('precondition.malformed')
    const updating = { ...texts({ resource: 'carts', id: 'x', owner: '7' }), precondition: null }
    expect(errorOf(() => parseUpdate({ ...updating, mergePatch: false }, ada)).code).to.equal('ownership.denied')
    expect(errorOf(() => parseAct({ ...updating, action: 'clear' }, ada)).code).to.equal('ownership.denied')
    expect(errorOf(() => planPage({ ...updating, pageSize: '0' }, ada)).code).to.equal('ownership.denied')
  })

  it('needs the settings only where it is used', () => {
    const unset = by(caller(42n), 'id', null)
    for (const [route, run] of Object.entries({ ...COLLECTIONS, ...SINGLE })) {
      expect(errorOf(() => run({ resource: 'carts' }, unset)).code, route).to.equal('configuration')
    }
    expect(() => COLLECTIONS['lookup']?.({ resource: 'folders' }, unset)).not.to.throw()
    expect(errorOf(() => COLLECTIONS['list']?.({ resource: 'carts' }, by(anonymous, 'id', null))).code).to.equal(
      'auth.required'
    )
  })
})

describe('owner parameter of the settings', () => {
  const get = (asked: Partial<Asked>, call: PlanningContext): unknown =>
    planGet(texts({ resource: 'folders', ...asked }), call).key[0]

  it('is the id of the route where it is `id`, and no query comes in its place', () => {
    expect(get({ id: '042' }, ada)).to.equal('42')
    for (const id of ['41', 'abc', '', '4.2e1', '42abc', '+42']) {
      expect(errorOf(() => get({ id, owner: '42' }, ada)).code, id).to.equal('ownership.denied')
    }
    expect(get({ id: '42', owner: '41' }, ada)).to.equal('42')
    expect(rows(COLLECTIONS['list']?.({ resource: 'folders', owner: '42' }, ada) ?? {})).to.deep.equal(['id equals 42'])
  })

  it('is of the query under any other name', () => {
    const named = by(caller(42n), 'ownerId')
    expect(get({ id: '7', owner: '42' }, named)).to.equal('7')
    expect(errorOf(() => get({ id: '42' }, named)).code).to.equal('ownership.denied')
    expect(errorOf(() => get({ id: '42' }, named)).message).to.include('ownerId')
  })
})

describe('owner parameter of a collection', () => {
  for (const [route, run] of Object.entries(COLLECTIONS)) {
    it(`narrows ${route} within the scope, for the bypass role too`, () => {
      expect(rows(run({ resource: 'carts' }, ada))).to.deep.equal([OWN])
      expect(rows(run({ resource: 'carts', owner: '042' }, ada))).to.deep.equal([OWN, OWN])
      expect(rows(run({ resource: 'carts' }, admin))).to.equal('all')
      expect(rows(run({ resource: 'carts', owner: '042' }, admin))).to.deep.equal([OWN])
      // Beyond the column: an owner of nothing.
      expect(rows(run({ resource: 'carts', owner: String(2n ** 40n) }, admin))).to.deep.equal([
        `customerId equals ${2 ** 31}`
      ])
    })

    it(`is rejected on ${route} where a bypass caller's is no integer, so that nothing widens`, () => {
      for (const owner of ['', 'x', '42,42', '+42', '9223372036854775808']) {
        expect(
          violationsOf(() => run({ resource: 'carts', owner }, admin)),
          owner
        ).to.deep.equal(['filter.value.invalid customerId'])
      }
    })
  }

  it('narrows what a permission opens', () => {
    const call = by(caller(42n, [], ['folders:manage']))
    expect(rows(COLLECTIONS['paged']?.({ resource: 'folders' }, call) ?? {})).to.equal('all')
    expect(rows(COLLECTIONS['paged']?.({ resource: 'folders', owner: '42' }, call) ?? {})).to.deep.equal([
      'id equals 42'
    ])
  })

  it('narrows a read of the resource’s own, and none that the filter is not on', () => {
    expect(rows(read({ resource: 'bookmarks', owner: '7' }, admin))).to.deep.equal(['userId equals 7'])
    expect(rows(COLLECTIONS['lookup']?.({ resource: 'bookmarks', owner: '7' }, ada) ?? {})).to.deep.equal([
      'userId equals 42'
    ])
  })

  it('names every fault of a bypass caller at once', () => {
    const asked = { ...texts({ resource: 'carts', owner: 'x' }), pageSize: '0' }
    expect(violationsOf(() => planPage(asked, admin))).to.have.members([
      'filter.value.invalid customerId',
      'paging.invalid pageSize'
    ])
  })

  it('narrows what a reference shows to what a read by id would', () => {
    const scope = (call: PlanningContext): unknown => {
      const asked = { ...texts({ resource: 'carts' }), shape: { includeFks: 'true' } }
      const [reference] = planList(asked, call).references
      return reference?.scope && rows({ scope: reference.scope })
    }
    expect(scope(ada)).to.deep.equal(['id equals 42'])
    expect(scope(admin)).to.equal('all')
  })

  it('narrows a read by id to the rows of the owner that the query names', () => {
    expect(rows(SINGLE['get']?.({ resource: 'parcels', owner: '42' }, ada) ?? {})).to.deep.equal([OWN])
    expect(rows(SINGLE['get']?.({ resource: 'parcels', owner: '7' }, admin) ?? {})).to.equal('all')
  })

  it('stays out of reads by id, which the bypass role may call with any', () => {
    expect(rows(SINGLE['get']?.({ resource: 'carts', owner: '7' }, admin) ?? {})).to.equal('all')
    expect(rows(SINGLE['get']?.({ resource: 'carts', owner: 'x' }, admin) ?? {})).to.equal('all')
  })
})
