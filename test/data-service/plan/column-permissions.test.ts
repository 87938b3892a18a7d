import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { anonymous, type Caller } from '../../../data-service/entity/caller.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, optional, readableBy, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { planExport, planGet, planList, planPage } from '../../../data-service/plan/plan-reads.js'
import { propertyName } from '../../../data-service/plan/model/projection.js'
import { jsonBytes } from '../../../data-service/entity/fields/json-text.js'
import { rowSerializer } from '../../../data-service/operations/json.js'
import { errorOf } from './violations-of.js'

const access = { read: everyone }
const makers = defineEntity({
  name: 'makers',
  description: 'Makers.',
  fields: { id: readOnly(int()), name: text(9), grade: readableBy('makers:manage', optional(text(9))) },
  label: 'name',
  filterable: [],
  sortable: [],
  access
})
const things = defineEntity({
  name: 'things',
  description: 'Things.',
  fields: {
    id: readOnly(int()),
    name: text(9),
    cost: readableBy('things:cost', optional(int())),
    makerId: readableBy('things:maker', optional(int()))
  },
  computed: { margin: { type: 'string', from: ['name', 'cost'], value: String } },
  references: { maker: { to: 'makers', via: 'makerId' } },
  joined: {
    makerName: { through: 'maker', property: 'name', field: optional(text(9)) },
    makerGrade: { through: 'maker', property: 'grade', field: optional(text(9)) }
  },
  children: {
    parts: {
      table: 'parts',
      foreignKey: 'thingId',
      fields: { id: readOnly(int()), size: int(), price: readableBy('things:cost', int()) }
    }
  },
  label: 'name',
  filterable: ['name', 'cost', 'makerName', 'makerGrade'],
  sortable: ['cost', 'makerId', 'makerName', 'makerGrade'],
  access
})
/** It takes no permission itself, so all callers have one view of it and its projections. */
const shelves = defineEntity({
  name: 'shelves',
  description: 'Shelves.',
  fields: { id: readOnly(int()), name: text(9), makerId: int() },
  references: { maker: { to: 'makers', via: 'makerId' } },
  label: 'name',
  filterable: [],
  sortable: [],
  access
})
const catalogue = makeCatalogue([makers, things, shelves])
const holding = (...permissions: string[]): Caller => ({
  kind: 'authenticated',
  claims: {},
  issuer: 'i',
  subject: 's',
  roles: [],
  permissions: new Set(permissions),
  owner: null
})
const by = (caller: Caller) => ({
  planning: {
    catalogue,
    ownership: { bypassRole: 'Admin', parameterName: 'id' },
    maxPageSize: 300,
    maxExportRows: 5000
  },
  caller
})
const names = (caller: Caller): string[] =>
  [...catalogue.resource('things', caller).properties.values()].map(propertyName)
const withheld = (caller: Caller): string[] => [...catalogue.resource('things', caller).withheld]

/** What takes a permission, with those that it takes. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  cost: ['things:cost'],
  margin: ['things:cost'],
  makerId: ['things:maker'],
  maker: ['things:maker'],
  makerName: ['things:maker'],
  makerGrade: ['things:maker', 'makers:manage']
}

describe('a property by permission', () => {
  const all = ['things:cost', 'things:maker', 'makers:manage']
  const subsets = [...Array(8).keys()].map((bits) => all.filter((_, bit) => (bits & (1 << bit)) !== 0))

  for (const held of subsets) {
    it(`is seen with all permissions that its columns take: ${held.join(' and ') || 'none'}`, () => {
      const seen = (name: string): boolean => (TAKES[name] ?? []).every((one) => held.includes(one))
      const whole = names(holding(...all))
      expect(whole).to.include.members(Object.keys(TAKES))
      expect(names(holding(...held, 'others:manage'))).to.deep.equal(whole.filter(seen))
      expect(withheld(holding(...held))).to.have.members(whole.filter((name) => !seen(name)))
    })
  }

  it('is seen by nobody without a token', () => {
    expect(names(anonymous)).to.deep.equal(['id', 'name', 'rowVersion', 'parts'])
  })

  it('is neither filterable nor sortable for others, and no candidate of a suggestion', () => {
    const { filterable, sortable, settable } = catalogue.resource('things', holding('things:maker'))
    expect([...filterable.keys()]).to.deep.equal(['name', 'makername'])
    expect([...sortable.keys()]).to.deep.equal(['makerid', 'makername'])
    expect(settable.create.map(({ name }) => name)).to.deep.equal(['name', 'makerId'])
    const selection = { sortColumn: 'cos', filters: [{ property: 'cos', operator: 'equals', value: '1' }] }
    const request = { resource: 'things', selection, shape: { fields: 'cos' }, unplaced: null }
    const told = (caller: Caller): string => JSON.stringify(errorOf(() => planPage(request, by(caller))).violations)
    expect(told(holding('things:cost'))).to.match(/Did you mean \\"cost\\"/)
    expect(told(holding())).not.to.match(/cost/)
  })

  it('is in no projection of others: fields, whole rows, cells', () => {
    const request = { resource: 'things', unplaced: null, selection: null }
    const caller = holding('things:maker')
    const whole = planList({ ...request, shape: null }, by(caller)).projection
    const cells = planExport(request, by(caller)).projection
    for (const { selected, shown } of [whole, cells]) {
      expect(JSON.stringify([selected, shown])).not.to.match(/cost|margin|grade/i)
    }
    const asked = { ...request, id: '1', shape: { fields: 'id,cost' } }
    expect(planGet(asked, by(holding('things:cost'))).projection.shown).to.have.length(2)
    expect(errorOf(() => planGet(asked, by(caller))).code).to.equal('fields.invalid')
  })

  it('is in no child of others', () => {
    const row = {
      values: [1, 'a', Buffer.alloc(8)],
      references: new Map(),
      manyToMany: new Map(),
      children: new Map([['parts', [{ values: [1, 2, 3], children: new Map<string, never>() }]]]),
      truncated: []
    }
    const json = (caller: Caller): string => {
      const { projections } = catalogue.resource('things', caller)
      const serialize = rowSerializer(projections.whole({ references: false, children: true }))
      return jsonBytes((out) => serialize(row, out)).toString()
    }
    expect(json(holding('things:cost'))).to.contain('"price":3')
    expect(json(anonymous)).to.contain('"parts":[{"id":1,"size":2,"rowVersion":null}]')
  })

  for (const resource of ['things', 'shelves']) {
    it(`is in no referenced row of others, whoever came first: ${resource}`, () => {
      const json = (caller: Caller): string => {
        const shape = { includeFks: 'true', fields: 'id,maker' }
        const plan = planList({ resource, shape, unplaced: null }, by(caller))
        const [maker] = plan.references
        const values = (maker?.projection.selected ?? []).map((one) => (one.kind === 'column' ? one.column.name : null))
        const referenced = { values, references: new Map(), manyToMany: new Map(), children: new Map(), truncated: [] }
        const references = new Map([['maker', referenced]])
        const row = { values: [1], references, manyToMany: new Map(), children: new Map(), truncated: [] }
        return jsonBytes((out) => rowSerializer(plan.projection, plan)(row, out)).toString()
      }
      const seer = holding('things:maker', 'makers:manage')
      const other = holding('things:maker')
      for (const round of [1, 2]) {
        expect(json(seer), `round ${round}`).to.contain('grade')
        expect(json(other), `round ${round}`).not.to.contain('grade')
      }
    })
  }

  it('costs one view for each set of permissions that somebody holds, made once', () => {
    const one = catalogue.resource('things', holding('things:cost', 'a:b'))
    expect(catalogue.resource('things', holding('c:d', 'things:cost'))).to.equal(one)
    expect(catalogue.resource('things', holding(...all))).to.equal(catalogue.resources('gateway')[1])
    const plain = makeCatalogue([{ ...makers, columns: makers.columns.slice(0, 2) }])
    expect(plain.resource('makers', anonymous)).to.equal(plain.resource('makers', holding('makers:manage')))
  })

  it('Field sets are remembered up to 512 for an entity, by all callers together whatever permissions they hold.', () => {
    const letters = Array.from('abcdefghij')
    const entity = defineEntity({
      name: 'letters',
      description: 'Letters.',
      fields: {
        id: readOnly(int()),
        ...Object.fromEntries(letters.map((letter) => [letter, int()])),
        name: text(9),
        secret: readableBy('letters:secret', int())
      },
      label: 'name',
      filterable: [],
      sortable: [],
      access: { read: everyone }
    })
    const seenBy = makeCatalogue([entity])
    const callers = [anonymous, holding('letters:secret')]
    const key = (caller: Caller, mask: number): string => {
      const { projections, properties } = seenBy.resource('letters', caller)
      const asked = letters.filter((_letter, bit) => (mask & (1 << bit)) !== 0)
      return projections.of(asked.flatMap((letter) => properties.get(letter) ?? [])).key
    }
    for (let mask = 1; mask <= 512; mask++) expect(key(callers[mask % 2] ?? anonymous, mask)).not.to.include('secret')
    for (const caller of callers) {
      const whole = seenBy.resource('letters', caller).projections.whole({ references: false, children: false })
      expect(key(caller, 513)).to.equal(whole.key)
      expect(key(caller, 512)).to.equal('id,j')
    }
  })
})
