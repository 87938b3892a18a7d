import { expect } from 'chai'
import type { ReadName } from '../../../shared/read-parameters.js'
import { parametersOfRead, READ_ROUTES } from '../../../gateway/entity-routes/paths.js'
import { routeQuery } from '../../../gateway/http/query-string.js'
import { products, property } from '../fake-data-client.js'

const read = (operation: ReadName, query: string): ReturnType<typeof routeQuery> =>
  routeQuery(query, parametersOfRead(operation, undefined))

describe('the query of a route', () => {
  const KNOWN: readonly (readonly [ReadName, query: string, values: object])[] = [
    [
      'list',
      'fields=id,name&includeFKs=true&includeChildren=false',
      { fields: 'id,name', includeFKs: 'true', includeChildren: 'false' }
    ],
    ['list', 'FIELDS=id&INCLUDEfks=x', { fields: 'id', includeFKs: 'x' }],
    ['paged', 'pageSize=5&pageNumber=2&includeTotal=false', { pageSize: '5', pageNumber: '2', includeTotal: 'false' }],
    ['paged', 'page=3', { pageNumber: '3' }],
    ['paged', 'page=3&pageNumber=4', { pageNumber: '3,4' }],
    ['paged', 'pageSize=1&pageSize=1', { pageSize: '1,1' }],
    ['paged', 'pageSize=', { pageSize: '' }],
    ['paged', 'fields=a&fields=b', { fields: 'a,b' }],
    [
      'export',
      'bom=false&escapeFormulas=true&sortColumn=a&sortDirection=DESC',
      { bom: 'false', escapeFormulas: 'true', sortColumn: 'a', sortDirection: 'DESC' }
    ],
    ['lookup', 'search=a+b', { search: 'a b' }],
    ['paged', 'AFTER=x&before=y', { after: 'x', before: 'y' }],
    ['get', 'fields=%20id%20', { fields: ' id ' }]
  ]
  for (const [operation, query, values] of KNOWN) {
    it(`of ${operation} knows ${query}`, () => {
      expect(read(operation, query)).to.deep.equal({
        values,
        filters: [],
        groups: [],
        owner: undefined,
        ignored: [],
        rejected: []
      })
    })
  }

  const IGNORED: readonly (readonly [ReadName, query: string, names: readonly string[]])[] = [
    ['list', 'pageSize=1&sortColumn=a&search=x', ['pageSize', 'sortColumn', 'search']],
    ['list', 'filters[a].operator=eq&filters[a].value=1', ['filters[a].operator', 'filters[a].value']],
    ['lookup', 'fields=a&filters[a].value=1', ['fields', 'filters[a].value']],
    ['get', 'bom=true&x=1&x=2', ['bom', 'x']],
    ['export', 'pageSize=1&includeFKs=true&includeTotal=true', ['pageSize', 'includeFKs', 'includeTotal']],
    [
      'paged',
      'search=1&filters[a]=1&filters[a].op=1&filter[a].value=1',
      ['search', 'filters[a]', 'filters[a].op', 'filter[a].value']
    ],
    ['paged', '__proto__=1&constructor=2', ['__proto__', 'constructor']]
  ]
  for (const [operation, query, names] of IGNORED) {
    it(`of ${operation} ignores ${query}`, () => {
      expect(read(operation, query)).to.deep.equal({
        values: {},
        filters: [],
        groups: [],
        owner: undefined,
        ignored: names,
        rejected: []
      })
    })
  }

  it('of an export rejects includeChildren, as it was written', () => {
    expect(read('export', 'INCLUDECHILDREN=false')).to.deep.include({ ignored: [], rejected: ['INCLUDECHILDREN'] })
  })
})

describe('search', () => {
  it('is a parameter of collections that have searchable properties', () => {
    const searched = products({ properties: [property('sku', 'string', { searchable: true })] })
    for (const operation of ['list', 'paged', 'export'] as const) {
      const { values, ignored } = routeQuery('search=a+b', parametersOfRead(operation, searched))
      expect({ values, ignored }).to.deep.equal({ values: { search: 'a b' }, ignored: [] })
    }
  })
})

describe('the owner parameter', () => {
  const OWNERS: readonly (readonly [query: string, owner: string | undefined, ignored: readonly string[]])[] = [
    ['userId=42', '42', []],
    ['USERID=%2B42', '+42', []],
    ['userId=+42', ' 42', []],
    ['userId=', '', []],
    ['userId', '', []],
    ['userId=1&x=2&userid=1', '1,1', ['x']],
    ['user=1&userId2=1&id=1', undefined, ['user', 'userId2', 'id']]
  ]
  for (const [query, owner, ignored] of OWNERS) {
    it(`is read from ${query}`, () => {
      const { values, ...rest } = routeQuery(query, READ_ROUTES.list, 'userId')
      expect(rest).to.deep.equal({ filters: [], groups: [], owner, ignored, rejected: [] })
      expect(values).to.deep.equal({})
    })
  }

  it('is unknown where the route takes none', () => {
    expect(read('list', 'userId=1')).to.deep.include({ owner: undefined, ignored: ['userId'] })
  })

  it('comes before any other parameter of its name', () => {
    const { owner, values } = routeQuery('search=1', READ_ROUTES.lookup, 'Search')
    expect([owner, values]).to.deep.equal(['1', {}])
  })
})

describe('parameters of a resource’s own', () => {
  it('are taken by their names alone', () => {
    const route = { names: ['from', 'page'], filters: false, rejected: [] }
    const { values, ignored } = routeQuery('FROM=1&page=2&from=3&pageNumber=4&filters[a].value=5', route)
    expect(values).to.deep.equal({ from: '1,3', page: '2' })
    expect(ignored).to.deep.equal(['pageNumber', 'filters[a].value'])
  })
})

describe('filters', () => {
  it('of a group are apart from the plain ones and from those of other groups, each paired by itself', () => {
    const query =
      'anyOf[3].filters[a].operator=eq&filters[a].operator=gt&ANYOF%5B3%5D.Filters[A].value=1&filters[a].value=2' +
      '&anyOf[1].filters[b].operator=lt&anyOf[3].filters[b].operator=lt&anyOf[3].filters[b].value=3' +
      '&anyOf[0].filters[a].value=4&anyOf[11].filters[a].value=5&anyOf[03].filters[a].value=6&anyOf[2].search=7'
    const { filters, groups, ignored } = read('paged', query)
    expect(filters).to.deep.equal([{ property: 'a', operator: 'gt', value: '2' }])
    const third = [
      { property: 'a', operator: 'eq', value: '1' },
      { property: 'b', operator: 'lt', value: '3' }
    ]
    expect(groups).to.deep.equal([[], [], third])
    expect(ignored).to.deep.equal([
      'anyOf[0].filters[a].value',
      'anyOf[11].filters[a].value',
      'anyOf[03].filters[a].value',
      'anyOf[2].search',
      'anyOf[1].filters[b].operator'
    ])
  })

  const TABLE: readonly (readonly [
    query: string,
    filters: readonly (readonly [string, string, string])[],
    ignored: readonly string[]
  ])[] = [
    ['filters[name].operator=eq&filters[name].value=x', [['name', 'eq', 'x']], []],
    ['FILTERS[Name].OPERATOR=eq&filters[nAME].Value=x', [['Name', 'eq', 'x']], []],
    ['filters%5Bname%5D.operator=eq&filters%5bname%5d.value=a%2Cb', [['name', 'eq', 'a,b']], []],
    ['filters[a].value=1&filters[a].operator=eq', [['a', 'eq', '1']], []],
    ['filters[a].operator=eq&filters[a].value=', [['a', 'eq', '']], []],
    ['filters[a].operator=eq&filters[a].value', [['a', 'eq', '']], []],
    ['filters[a].operator=&filters[a].value=1', [['a', '', '1']], []],
    ['filters[a].operator=eq', [], ['filters[a].operator']],
    ['filters[nope].value=1', [], ['filters[nope].value']],
    [
      'filters[a].operator=gt&filters[a].operator=lt&filters[a].value=1&filters[a].value=9',
      [
        ['a', 'gt', '1'],
        ['a', 'lt', '9']
      ],
      []
    ],
    ['filters[a].operator=gt&filters[A].operator=lt&filters[a].value=1', [['a', 'gt', '1']], ['filters[A].operator']],
    ['filters[a].operator=gt&filters[b].value=1', [], ['filters[a].operator', 'filters[b].value']],
    ['filters[].operator=eq&filters[].value=1', [['', 'eq', '1']], []],
    ['filters[a b].operator=eq&filters[a b].value=1', [['a b', 'eq', '1']], []]
  ]
  for (const [query, filters, ignored] of TABLE) {
    it(`read ${query}`, () => {
      const answer = read('paged', query)
      expect(answer.filters.map(({ property, operator, value }) => [property, operator, value])).to.deep.equal(filters)
      expect(answer.ignored).to.deep.equal(ignored)
    })
  }
})
