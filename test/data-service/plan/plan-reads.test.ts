import { expect } from 'chai'
import { anonymous, type Caller } from '../../../data-service/entity/caller.js'
import { anyOf, everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { binary, int, json, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import type { PlanningContext } from '../../../data-service/plan/planning.js'
import type { Projection } from '../../../data-service/plan/model/plans.js'
import { propertyName } from '../../../data-service/plan/model/projection.js'
import {
  continuationPageSize,
  planExport,
  planGet,
  planList,
  planLookup,
  planPage
} from '../../../data-service/plan/plan-reads.js'
import { exampleCatalogue, exampleEntities } from './example-entities.js'
import { errorOf, violationsOf } from './violations-of.js'
import { ownedCatalogue } from './owned-entities.js'

const planning = {
  catalogue: exampleCatalogue,
  ownership: { bypassRole: 'Admin', parameterName: 'id' },
  maxPageSize: 300,
  maxExportRows: 5000
}
const by = (caller: Caller): PlanningContext => ({ planning, caller })
const anyone = by(anonymous)
const owning = (owner: bigint | null, ...roles: string[]): PlanningContext =>
  by({ kind: 'authenticated', claims: {}, issuer: 'i', subject: 's', roles, permissions: new Set(), owner })
const nothing = { shape: null, unplaced: null, selection: null }
const shown = ({ shown: properties }: Projection): string[] => properties.map(propertyName)

describe('planPage', () => {
  const paging = (texts: object): readonly unknown[] => {
    const { plan, paging: parsed } = planPage({ resource: 'things', ...nothing, ...texts }, anyone)
    const { start } = plan
    return [parsed.pageNumber, plan.limit, start.kind === 'offset' ? start.offset : start.kind, plan.withTotal]
  }

  it('takes pages of any number, clamps their size and caps the offset', () => {
    expect(paging({})).to.deep.equal([1n, 10, 0, true])
    expect(paging({ pageNumber: '003', pageSize: '9999999999', includeTotal: 'false' })).to.deep.equal([
      3n,
      300,
      600,
      false
    ])
    const huge = '9'.repeat(5000)
    for (const pageNumber of [huge, `${huge}9`, `000${huge}`]) {
      expect(paging({ pageNumber }), pageNumber).to.deep.equal([BigInt(huge), 10, Number.MAX_SAFE_INTEGER, true])
    }
  })

  it('rejects every other text as a page', () => {
    for (const text of ['', '0', '-1', '1.0', '1e1', '+1', ' 1', '1,2', '٣']) {
      const work = (): unknown => paging({ pageNumber: text, pageSize: text })
      expect(violationsOf(work), text).to.deep.equal(['paging.invalid pageNumber', 'paging.invalid pageSize'])
    }
  })

  it('ends every order in the id, in the direction of the last column', () => {
    const order = (texts: object): readonly unknown[] =>
      planPage({ resource: 'things', ...nothing, selection: { filters: [], ...texts } }, anyone).plan.sort.map(
        ({ path, descending }) => `${path.through?.name ?? ''}.${path.column.name}${descending ? ' desc' : ''}`
      )
    expect(order({})).to.deep.equal(['.id'])
    expect(order({ sortDirection: 'DESC' })).to.deep.equal(['.id desc'])
    expect(order({ sortColumn: 'TITLE', sortDirection: 'Descending' })).to.deep.equal(['.title desc', '.id desc'])
    expect(order({ sortColumn: 'title,makerName', sortDirection: 'desc,asc' })).to.deep.equal([
      '.title desc',
      'maker.name',
      '.id'
    ])
    expect(order({ sortColumn: 'makerName' })).to.deep.equal(['maker.name', '.id'])
    expect(violationsOf(() => order({ sortColumn: 'price', sortDirection: '' }))).to.deep.equal([
      'sort.property.unknown sortColumn',
      'sort.direction.invalid sortDirection'
    ])
    expect(violationsOf(() => order({ sortColumn: 'secret' }))).to.deep.equal(['sort.property.unknown sortColumn'])
  })

  it('ends the order of rows without a key in all columns, in steps that do not grow faster than they, large ones by digests', () => {
    const texts = { name: text(255), payload: json(), body: text(100_000), bytes: binary(1_000_000), n0: int() }
    const events = defineEntity({
      name: 'events',
      description: 'Events.',
      key: 'none',
      fields: {
        ...texts,
        ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`n${at}`, int()])),
        note: text(20)
      },
      filterable: [],
      sortable: ['n0', 'name'],
      access: { read: everyone }
    })
    const of = { planning: { ...planning, catalogue: makeCatalogue([events]) }, caller: anonymous }
    const order = (selection: object): readonly string[] =>
      planPage({ resource: 'events', ...nothing, selection: { filters: [], ...selection } }, of).plan.sort.map(
        ({ path: { column, exact = false, digest = false }, descending }) =>
          [
            column.name,
            ...(exact ? ['exact'] : []),
            ...(digest ? ['digest'] : []),
            ...(descending ? ['desc'] : [])
          ].join(' ')
      )
    const numbers = Array.from({ length: 1000 }, (_, at) => `n${at}`)
    const large = ['payload exact digest', 'body exact digest', 'bytes digest']
    expect(order({})).to.deep.equal(['name exact', ...numbers, 'note exact', ...large])
    expect(order({ sortColumn: 'n0,name', sortDirection: 'asc,desc' })).to.deep.equal(
      ['n0', 'name', 'name exact', ...numbers.filter((one) => one !== 'n0'), 'note exact', ...large].map((one, at) =>
        at === 0 ? one : `${one} desc`
      )
    )
  })

  it('gathers the faults of all parameters in one rejection', () => {
    const request = {
      resource: 'things',
      selection: { filters: [{ property: 'x', operator: 'eq', value: '' }], sortColumn: 'y' },
      pageSize: '0',
      shape: { fields: 'banner,makerName,secret,maker,zz', includeFks: 'TRUE' },
      unplaced: { parameters: ['q'] }
    }
    expect(violationsOf(() => planPage(request, anyone))).to.deep.equal([
      'filter.property.unknown filters[x]',
      'sort.property.unknown sortColumn',
      'paging.invalid pageSize',
      'include.invalid includeFKs',
      ...Array<string>(5).fill('fields.invalid fields'),
      'parameter.unknown q'
    ])
  })
})

describe('planList', () => {
  it('shows columns, computed, joined, row version, references, children, and never what is hidden', () => {
    const { projection, references, children, limit } = planList(
      { resource: 'things', shape: { fields: ' ', includeFks: 'true', includeChildren: 'true' }, unplaced: null },
      anyone
    )
    const columns = ['id', 'title', 'makerId', 'price', 'serial', 'sold', 'madeAt', 'code']
    expect(shown(projection)).to.deep.equal([...columns, 'banner', 'makerName', 'rowVersion', 'maker', 'parts'])
    expect(projection.selected.some((one) => one.kind === 'column' && one.column.field.hidden)).to.equal(false)
    expect(references.map(({ scope }) => scope)).to.deep.equal([null])
    expect(children).to.have.length(1)
    expect(limit).to.equal(1000)
  })

  it('continues on a page size that divides the limit', () => {
    expect([1000, 5000, 999, 500, 300, 7, 1].map(continuationPageSize)).to.deep.equal([1000, 1000, 500, 500, 250, 5, 1])
  })

  it('shows asked fields once, in the order asked, and loads navigations that are among them alone', () => {
    const shape = { fields: ' Title,ID,parts, title,', includeFks: 'true', includeChildren: 'true' }
    const plan = planList({ resource: 'things', shape, unplaced: null }, anyone)
    expect(shown(plan.projection)).to.deep.equal(['title', 'id', 'parts'])
    expect(plan.references).to.deep.equal([])
    expect(plan.children.map(({ children }) => children.name)).to.deep.equal(['parts'])
  })
})

describe('names that are no property', () => {
  it('are compared with those that there are for the first three of them alone', () => {
    const fields = Array.from({ length: 200 }, (_, n) => `titl${n}`).join()
    const { violations } = errorOf(() => planList({ resource: 'things', shape: { fields }, unplaced: null }, anyone))
    const isMeant = violations.map(({ detail }) => detail.endsWith('Did you mean "title"?'))
    expect(isMeant.slice(0, 4)).to.deep.equal([true, true, true, false])
    expect([isMeant.length, isMeant.lastIndexOf(true)]).to.deep.equal([200, 2])
  })

  it('more than 200 fields are one mistake, and none of their names is looked up', () => {
    const fields = Array.from({ length: 201 }, (_, n) => `titl${n}`).join()
    const { violations } = errorOf(() => planList({ resource: 'things', shape: { fields }, unplaced: null }, anyone))
    expect(violations.map(({ code, detail }) => [code, detail])).to.deep.equal([
      ['fields.invalid', 'fields takes at most 200 names, not 201.']
    ])
  })
})

describe('field sets', () => {
  const catalogue = exampleCatalogue
  it('select the same columns whatever the order asked', () => {
    const { projections, properties } = catalogue.resource('tickets', anonymous)
    const [label, owner] = [properties.get('label'), properties.get('ownerid')]
    if (label === undefined || owner === undefined) throw new Error('no such properties')
    const one = projections.of([label, owner])
    const other = projections.of([owner, label])
    expect(other.key).to.equal(one.key)
    expect(shown(other)).to.deep.equal(['ownerId', 'label'])
    expect(projections.of([owner, label])).to.equal(other)
    expect(one.selected).to.have.length(3)
  })

  it('are remembered up to 512; beyond, all columns are selected and the shown are trimmed', () => {
    const { projections, properties } = makeCatalogue(exampleEntities).resource('things', anonymous)
    const all = [...properties.values()].filter(({ kind }) => kind !== 'computed' && kind !== 'joined')
    const whole = projections.whole({ references: false, children: false })
    const sets = Array.from({ length: 600 }, (_, mask) =>
      all.filter((_property, bit) => ((mask + 1) & (1 << bit)) !== 0)
    )
    for (const [index, asked] of sets.entries()) {
      const projection = projections.of(asked)
      expect(shown(projection), `index ${index}`).to.deep.equal(asked.map(propertyName))
      expect(projection.key === whole.key, String(index)).to.equal(index >= 512)
    }
    expect(projections.of(sets[2] ?? []).selected).to.have.length(2)
  })
})

describe('a field set beyond those that are remembered', () => {
  it('selects no large column that it does not name', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
    const notes = defineEntity({
      name: 'notes',
      description: 'Notes.',
      fields: { id: readOnly(int()), ...Object.fromEntries(names.map((name) => [name, int()])), body: text(100_000) },
      label: 'id',
      filterable: [],
      sortable: [],
      access: { read: everyone }
    })
    const { projections, properties } = makeCatalogue([notes]).resource('notes', anonymous)
    const of = (asked: readonly string[]): readonly unknown[] =>
      projections
        .of(asked.flatMap((name) => properties.get(name) ?? []))
        .selected.map((one) => (one.kind === 'column' ? one.column.name : one.kind))
    for (let mask = 1; mask <= 512; mask++) of(names.filter((_, bit) => (mask & (1 << bit)) !== 0))
    expect(of(['id', 'b', 'j']))
      .to.include('a')
      .and.not.include('body')
    expect(of(['j', 'body'])).to.include('body')
  })
})

describe('planGet', () => {
  it('takes ids of their type and rejects the rest', () => {
    const id = (text: string): unknown =>
      planGet({ resource: 'things', id: text, shape: null, unplaced: null }, anyone).key[0]
    expect(id('042')).to.equal(42)
    for (const text of ['', '+1', '1.0', 'x', '2147483648', '0'.repeat(101), "1' OR '1'='1"]) {
      expect(errorOf(() => id(text)).code, text).to.equal('id.invalid')
    }
  })

  it('reads by owner: the id of the route must be the claim', () => {
    const get = (id: string, call: PlanningContext): unknown => {
      const plan = planGet({ resource: 'makers', id, shape: null, unplaced: null }, call)
      return [plan.key[0], plan.scope.kind]
    }
    expect(get('007', owning(7n))).to.deep.equal([7, 'rows-where'])
    expect(get('8', owning(7n, 'aDMIN'))).to.deep.equal([8, 'all-rows'])
    for (const id of ['8', 'x', '+7', ' 7', '7.0', '']) {
      expect(errorOf(() => get(id, owning(7n))).code, id).to.equal('ownership.denied')
    }
    expect(errorOf(() => get('7', owning(null))).code).to.equal('ownership.denied')
    expect(errorOf(() => get('x', owning(null, 'Admin'))).code).to.equal('id.invalid')
    expect(errorOf(() => get('7', anyone)).code).to.equal('auth.required')
  })

  it('rejects who may not before it looks at what is asked', () => {
    const bad = { resource: 'makers', id: 'x', shape: { fields: 'zz' }, unplaced: { parameters: ['q'] } }
    expect(errorOf(() => planGet(bad, owning(7n))).code).to.equal('ownership.denied')
    expect(errorOf(() => planList({ ...bad }, owning(7n))).code).to.equal('capability.denied')
  })
})

describe('row scope', () => {
  const scope = (call: PlanningContext): unknown => {
    const planned = planList({ resource: 'tickets', shape: null, unplaced: null }, call).scope
    return planned.kind === 'all-rows'
      ? 'all'
      : planned.conditions.map((one) => ('path' in one ? one.operands[0] : one))
  }

  it('is the own rows of an owner and all rows for the bypass role', () => {
    expect(scope(owning(7n))).to.deep.equal([7])
    expect(scope(owning(null, 'Guest', 'ADMIN'))).to.equal('all')
    expect(errorOf(() => scope(owning(null, 'Guest'))).code).to.equal('ownership.denied')
    expect(errorOf(() => scope(anyone)).code).to.equal('auth.required')
  })

  it('matches nothing for an owner beyond the column', () => {
    expect(scope(owning(2n ** 40n))).to.deep.equal([2 ** 31])
  })

  it('fails as a configuration error on first use without a bypass role, and not before', () => {
    const ownership = { bypassRole: undefined, parameterName: 'id' }
    const call = { planning: { ...planning, ownership }, caller: owning(7n).caller }
    expect(errorOf(() => scope(call)).code).to.equal('configuration')
    expect(planList({ resource: 'things', shape: null, unplaced: null }, call).scope.kind).to.equal('all-rows')
  })

  it('fails as a configuration error wherever the rule of owners stands among several', () => {
    const fields = { id: readOnly(int()), name: text(20), ownerId: int() }
    const common = { description: 'Shelves.', label: 'name', filterable: [], sortable: [] } as const
    const parts = [permission('shelves:manage'), ownRows('ownerId')] as const
    const shelves = [anyOf(...parts), anyOf(...parts.toReversed())].map((read, index) =>
      defineEntity({ ...common, name: `shelves-${index}`, fields, access: { read } })
    )
    const caller = { ...owning(7n).caller, permissions: new Set(['shelves:manage']) } as Caller
    for (const [bypassRole, told] of [
      [undefined, 'configuration'],
      ['Admin', 'all-rows']
    ] as const) {
      const ownership = { bypassRole, parameterName: 'id' }
      const call = { planning: { ...planning, catalogue: makeCatalogue(shelves), ownership }, caller }
      for (const { name } of shelves) {
        const plan = (): unknown => planList({ resource: name, shape: null, unplaced: null }, call).scope.kind
        expect(bypassRole === undefined ? errorOf(plan).code : plan(), `${name} ${bypassRole}`).to.equal(told)
      }
    }
  })

  it('of a reference is what the caller could read by id', () => {
    const scoped = (call: PlanningContext): unknown =>
      planList({ resource: 'things', shape: { includeFks: 'true' }, unplaced: null }, call).references[0]?.scope
    expect(scoped(anyone)).to.equal(null)
    expect(scoped(owning(null))).to.equal(null)
    expect(scoped(owning(null, 'admin'))).to.deep.equal({ kind: 'all-rows' })
    expect(scoped(owning(3n))).to.have.nested.property('conditions[0].operands[0]', 3)
  })

  it('of a reference to rows that need a permission is none without it', () => {
    const access = { read: permission('drawers:manage') } as const
    const fields = { id: readOnly(int()), name: text(20) }
    const common = { description: 'Furniture.', label: 'name', filterable: [], sortable: [] } as const
    const drawers = defineEntity({ ...common, name: 'drawers', fields, access })
    const desks = defineEntity({
      ...common,
      name: 'desks',
      fields: { ...fields, drawerId: int() },
      references: { drawer: { to: 'drawers', via: 'drawerId' } },
      access: { read: everyone }
    })
    const catalogue = makeCatalogue([drawers, desks])
    const scoped = (caller: Caller): unknown =>
      planList(
        { resource: 'desks', shape: { includeFks: 'true' }, unplaced: null },
        { planning: { ...planning, catalogue }, caller }
      ).references.map(({ scope: ofDrawer }) => ofDrawer)
    const permitted = (...permissions: string[]): Caller => ({
      kind: 'authenticated',
      claims: {},
      issuer: 'i',
      subject: 's',
      roles: ['Admin'],
      permissions: new Set(permissions),
      owner: 1n
    })
    expect(scoped(anonymous), 'nobody').to.deep.equal([null])
    expect(scoped(permitted()), 'the bypass role without the permission').to.deep.equal([null])
    expect(scoped(permitted('desks:manage')), 'another permission').to.deep.equal([null])
    expect(scoped(permitted('drawers:manage')), 'the permission').to.deep.equal([{ kind: 'all-rows' }])
  })
})

describe('planExport', () => {
  const plan = (fields?: string): string[] =>
    shown(
      planExport({ resource: 'things', ...nothing, ...(fields === undefined ? {} : { fields }) }, anyone).projection
    )

  it('leaves byte arrays and navigations out', () => {
    expect(plan()).to.include.members(['banner', 'makerName']).and.not.include.members(['rowVersion', 'maker', 'parts'])
    expect(plan('price,ID')).to.deep.equal(['price', 'id'])
    expect(violationsOf(() => plan('rowVersion,maker,parts,banner'))).to.have.length(4)
  })
})

describe('planLookup', () => {
  it('searches the label, and all of it for a blank search', () => {
    const conditions = (search?: string): unknown =>
      planLookup({ resource: 'things', unplaced: null, ...(search === undefined ? {} : { search }) }, anyone).conditions
    expect(conditions()).to.deep.equal([])
    expect(conditions(' ')).to.deep.equal([])
    expect(conditions(' a')).to.have.nested.property('[0].operands[0]', ' a')
    expect(violationsOf(() => conditions('x'.repeat(4097)))).to.deep.equal(['filter.too-many search'])
  })

  it('finds a label that is no text by its whole value', () => {
    const call = { ...owning(7n), planning: { ...planning, catalogue: ownedCatalogue } }
    const conditions = (search: string): unknown =>
      planLookup({ resource: 'bookmarks', search, unplaced: null }, call).conditions.map(
        ({ path, comparison, operands }) => [path.column.name, comparison, ...operands]
      )
    expect(conditions('017')).to.deep.equal([['sessionId', 'equals', 17]])
    expect(conditions(' ')).to.deep.equal([])
    for (const search of ['1a', ' 17', '1.0', '2147483648', 'x']) {
      expect(
        violationsOf(() => conditions(search)),
        search
      ).to.deep.equal(['filter.value.invalid search'])
    }
  })
})
