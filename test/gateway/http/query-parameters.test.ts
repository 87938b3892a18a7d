import { expect } from 'chai'
import { parseQuery, pathOfTarget, queryOf } from '../../../gateway/http/query-string.js'

describe('parseQuery', () => {
  const TABLE: readonly (readonly [query: string, pairs: readonly (readonly [string, string])[]])[] = [
    ['', []],
    ['a=1', [['a', '1']]],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['=b', [['', 'b']]],
    ['&&a=1&', [['a', '1']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a=x+y', [['a', 'x y']]],
    ['a=x%2By%26', [['a', 'x+y&']]],
    ['%61%5B%5d=%E2%82%AC', [['a[]', '€']]],
    [
      'a=1&a=2',
      [
        ['a', '1'],
        ['a', '2']
      ]
    ]
  ]
  for (const [query, pairs] of TABLE) {
    it(`reads ${query || 'nothing'}`, () => {
      expect(parseQuery(query).map(({ name, value }) => [name, value])).to.deep.equal(pairs)
    })
  }

  for (const query of ['a=%', 'a=%2', 'a=%zz', 'a=%ff', '%E0%A4=1', 'a=%ED%A0%80']) {
    it(`rejects ${query}`, () => {
      expect(() => parseQuery(query))
        .to.throw()
        .with.property('code', 'request.malformed')
    })
  }
})

describe('a request target', () => {
  it('falls apart at its first question mark', () => {
    expect([pathOfTarget('/a/b?c?d'), queryOf('/a/b?c?d'), pathOfTarget('/a'), queryOf('/a')]).to.deep.equal([
      '/a/b',
      'c?d',
      '/a',
      ''
    ])
  })
})
