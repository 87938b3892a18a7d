import { expect } from 'chai'
import { headerLines } from '../../../gateway/http/header-fields.js'
import { idempotencyKey } from '../../../gateway/http/preconditions.js'

describe('Idempotency-Key', () => {
  const KEYS: readonly (readonly [line: string, key: string | undefined])[] = [
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    [' \tabc\t ', 'abc'],
    ['a,b;c=d', 'a,b;c=d'],
    ['a"b', 'a"b'],
    ['"a\\"b"', 'a"b'],
    ['a\\b', 'a\\b'],
    ['"a\\\\b"', 'a\\b'],
    ['!~', '!~'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
    ['', undefined],
    [' \t ', undefined]
  ]
  for (const [line, key] of KEYS) {
    it(`reads ${line.slice(0, 30)} as ${key?.slice(0, 30)}`, () => expect(idempotencyKey([line])).to.equal(key))
  }
  it('is absent without a line', () => expect(idempotencyKey([])).to.equal(undefined))

  const INVALID: readonly (readonly string[])[] = [
    ['x'.repeat(256)],
    [`"${'x'.repeat(256)}"`],
    ['a b'],
    ['"a b"'],
    ['a\tb'],
    ['"a\tb"'],
    ['a\u0001b'],
    ['a\u007f'],
    ['a\u00e9'],
    ['"\u00e9"'],
    ['\u00a0'],
    ['""'],
    ['"'],
    ['"abc'],
    ['"abc"x'],
    ['"abc";a=1'],
    ['"a"b"'],
    ['"a\\b"'],
    ['"abc\\"'],
    ['abc', 'abc'],
    ['abc', ''],
    ['', '']
  ]
  for (const lines of INVALID) {
    it(`rejects ${JSON.stringify(lines).slice(0, 40)}`, () => {
      expect(() => idempotencyKey(lines))
        .to.throw(/Idempotency-Key/)
        .that.deep.include({ code: 'idempotency.key.invalid' })
        .and.has.nested.property('violations[0].place.name', 'Idempotency-Key')
    })
  }

  it('comes from each of its lines, in any letter case', () => {
    const raw = ['Host', 'x', 'IDEMPOTENCY-KEY', 'a', 'X', 'idempotency-key', 'idempotency-key', 'b']
    expect(headerLines(raw, 'idempotency-key')).to.deep.equal(['a', 'b'])
  })
})
