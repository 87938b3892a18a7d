import { expect } from 'chai'
import { errorOf } from './violations-of.js'
import { canonicalJson, isObject } from '../../../data-service/entity/fields/json-values.js'
import { parseJson } from '../../../data-service/plan/parsing/json-body.js'

const parse = (json: string) => parseJson(Buffer.from(json))
const canonical = (json: string): string => canonicalJson(parse(json))

describe('parseJson', () => {
  it('keeps the digits of numbers and names that objects have a meaning for', () => {
    const value = parse('{"n":12345678901234567890.10,"__proto__":{"x":1},"constructor":null}')
    expect(isObject(value) && Object.keys(value)).to.deep.equal(['n', '__proto__', 'constructor'])
    expect(canonicalJson(value)).to.contain('123456789012345678901e-1')
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype)
  })

  for (const json of ['', '{', '{"a":1,}', '{a:1}', "{'a':1}", '[1 2]', 'undefined', 'NaN', '01', '\uFEFF{}', '{} x']) {
    it(`rejects ${JSON.stringify(json)} as malformed`, () => {
      expect(errorOf(() => parse(json)).code).to.equal('body.malformed')
    })
  }

  it('rejects bytes that are no UTF-8', () => {
    expect(errorOf(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).code).to.equal('body.malformed')
  })

  it('rejects a member said twice, and nesting without end', () => {
    expect(errorOf(() => parse('{"a":1,"a":2}')).code).to.equal('body.invalid')
    expect(errorOf(() => parse(`${'['.repeat(101)}${']'.repeat(101)}`)).code).to.equal('body.invalid')
    // What is never closed is no JSON, as the gateway says too.
    expect(errorOf(() => parse('['.repeat(1_000_000))).code).to.equal('body.malformed')
    expect(errorOf(() => parse('['.repeat(500_000) + ']'.repeat(500_000))).code).to.equal('body.invalid')
    expect(() => parse(`${'['.repeat(100)}${']'.repeat(100)}`)).not.to.throw()
  })
})

describe('canonicalJson', () => {
  const alike: readonly (readonly [string, string])[] = [
    ['{"a":1,"b":[2,{}]}', '{ "b": [2.0, {}], "a": 10e-1 }'],
    ['0', '-0.000e7'],
    ['1200', '1.2E+3'],
    ['"é"', String.raw`"\u00e9"`]
  ]
  for (const [one, other] of alike) {
    it(`has one text for ${one} and ${other}`, () => expect(canonical(one)).to.equal(canonical(other)))
  }

  const different: readonly (readonly [string, string])[] = [
    ['1', '"1"'],
    ['[1,2]', '[2,1]'],
    ['{"a":null}', '{}'],
    ['1', '-1'],
    ['9007199254740993', '9007199254740992'],
    ['{"a":{"b":1}}', '{"a":1,"b":1}']
  ]
  for (const [one, other] of different) {
    it(`tells ${one} from ${other}`, () => expect(canonical(one)).not.to.equal(canonical(other)))
  }
})
