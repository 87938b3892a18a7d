import { expect } from 'chai'
import fc from 'fast-check'
import { storedJson } from '../../../data-service/entity/fields/json-parser.js'
import { isArray, isObject, JsonNumber, type JsonValue } from '../../../data-service/entity/fields/json-values.js'

/** The value as JSON.parse has it. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text)
  if (isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

function outcome(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    return error instanceof SyntaxError ? 'a SyntaxError' : error
  }
}

const anyJson = fc
  .tuple(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom('', ' ', 2, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space))

describe('The JSON of stored values and bodies', () => {
  it('It is what JSON.parse makes of it, but for the digits of numbers.', () => {
    fc.assert(
      fc.property(anyJson, (text) => {
        expect(plain(storedJson(text))).to.deep.equal(JSON.parse(text))
      })
    )
    for (const text of [
      '"\\\\"',
      '"\\\\\\""',
      '[[],{},[{}]]',
      '"\\u00e9\\ud83d"',
      ' {"a" : [ 1 , -0.5e+3 ] } ',
      '{"__proto__":1}'
    ]) {
      expect(plain(storedJson(text)), text).to.deep.equal(JSON.parse(text))
    }
    const exact = '[12345678901234567890.10,1E400,-0]'
    expect((storedJson(exact) as readonly JsonNumber[]).map(({ text }) => text)).to.deep.equal([
      '12345678901234567890.10',
      '1E400',
      '-0'
    ])
  })

  it('A text with a character more, less or another is what JSON.parse takes it for, mostly no JSON.', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom('', ...'{}[]":,\\ue0-.1 tn\n\u0000\u00a0'), fc.nat(1))
    fc.assert(
      fc.property(anyJson, change, (text, [place, character, removed]) => {
        const at = place % (text.length + 1)
        const changed = text.slice(0, at) + character + text.slice(at + removed)
        expect(outcome(() => plain(storedJson(changed)))).to.deep.equal(outcome(() => JSON.parse(changed) as unknown))
      }),
      { numRuns: 1000 }
    )
  })

  it('The caller is told of a name that comes twice, and the last value is kept.', () => {
    const twice: string[] = []
    expect(plain(storedJson('{"a":1,"b":{"c":1,"\\u0063":1},"a":2}', (name) => twice.push(name)))).to.deep.equal({
      a: 2,
      b: { c: 1 }
    })
    expect(twice).to.deep.equal(['c', 'a'])
  })

  it('A long string takes about as much memory as it has bytes.', () => {
    const text = JSON.stringify('x'.repeat(8 * 1024 * 1024))
    const before = process.memoryUsage().heapUsed
    const value = storedJson(text)
    expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 1024 * 1024)
    expect(value).to.have.length(8 * 1024 * 1024)
  })
})
