import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { anonymous } from '../../../data-service/entity/caller.js'
import { decimal, guid, int, long, optional, text } from '../../../data-service/entity/fields/words.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import { CursorCodec, isCursor } from '../../../data-service/plan/parsing/cursors.js'
import { parseSearch } from '../../../data-service/plan/parsing/filters.js'
import type { Position, SortKey } from '../../../data-service/plan/model/plans.js'
import { Violations } from '../../../data-service/plan/parsing/violations.js'
import { exampleCatalogue } from './example-entities.js'

const key = (name: string, field: Field, descending = false): SortKey => ({
  path: { through: null, column: { name, column: name, field } },
  descending
})
const sort = [key('price', decimal(6, 2)), key('serial', optional(long()), true), key('code', guid()), key('id', int())]
const query = { resource: 'things', conditions: [], sort }
const codec = new CursorCodec(query)
const CODE = '0190a8e2-0000-4000-8000-000000000001'
const place: Position = { keys: ['5.50', null, CODE, 7], includesRow: false }

/** A cursor with a right checksum around any members, as anybody can make one. */
function forged(members: unknown): string {
  const payload = Buffer.from(JSON.stringify(members))
  const checksum = createHash('sha256').update(payload).digest().subarray(0, 9)
  return Buffer.concat([checksum, payload]).toString('base64url')
}

describe('cursors', () => {
  const cursor = codec.encode(place) ?? ''
  const members = JSON.parse(Buffer.from(cursor, 'base64url').subarray(9).toString()) as unknown[]

  it('hold the keys of a position, exactly', () => {
    expect(codec.decode(cursor)).to.deep.equal(place)
    const after = { keys: ['0.00', '9007199254740993', CODE, -1], includesRow: true }
    expect(codec.decode(codec.encode(after) ?? '')).to.deep.equal(after)
    expect(forged(members)).to.equal(cursor)
  })

  const [fingerprint, includesRow, price, serial, code, id] = members
  const FORGED: readonly (readonly [what: string, members: unknown])[] = [
    ['another query', ['AAAAAAAAAAAA', includesRow, price, serial, code, id]],
    ['too few keys', [fingerprint, includesRow, price, serial, code]],
    ['too many keys', [fingerprint, includesRow, price, serial, code, id, 1]],
    ['null in a column that has none', [fingerprint, includesRow, null, serial, code, id]],
    ['a null id', [fingerprint, includesRow, price, serial, code, null]],
    ['a decimal of another scale', [fingerprint, includesRow, '5.5', serial, code, id]],
    ['a decimal that is a number', [fingerprint, includesRow, 5.5, serial, code, id]],
    ['a long beyond its type', [fingerprint, includesRow, price, '9223372036854775808', code, id]],
    ['text for a guid', [fingerprint, includesRow, price, serial, "' OR 1=1 --", id]],
    ['a fraction for an int', [fingerprint, includesRow, price, serial, code, 1.5]],
    ['an object for a key', [fingerprint, includesRow, price, serial, code, { id }]],
    ['no flag', [fingerprint, 'no', price, serial, code, id]],
    ['no array', { price }],
    ['null', null]
  ]
  for (const [what, wrong] of FORGED) {
    it(`with ${what} are none of this query, although their checksum is right`, () => {
      expect(codec.decode(forged(wrong))).to.equal(undefined)
    })
  }

  it('have one spelling', () => {
    const payload = Buffer.from(` ${JSON.stringify(members)}`)
    const checksum = createHash('sha256').update(payload).digest().subarray(0, 9)
    expect(codec.decode(Buffer.concat([checksum, payload]).toString('base64url'))).to.equal(undefined)
    for (const text of [`${cursor}=`, ` ${cursor}`, cursor.replace(/.$/, ''), Buffer.from(cursor).toString('base64')]) {
      expect(isCursor(text), text).to.equal(false)
    }
  })

  it('belong to one resource, order and set of conditions', () => {
    const [first, ...rest] = sort
    const condition = { path: key('id', int()).path, comparison: 'equals', operands: [1] } as const
    const others = [
      { ...query, resource: 'other' },
      { ...query, sort: [...(first === undefined ? [] : [{ ...first, descending: true }]), ...rest] },
      { ...query, conditions: [condition] },
      { ...query, conditions: [{ anyOf: [condition] }] as const }
    ]
    for (const other of others) expect(new CursorCodec(other).decode(cursor)).to.equal(undefined)
  })

  it('are left out above 1 KiB', () => {
    const texts = new CursorCodec({ ...query, sort: [key('title', text(2000)), key('id', int())] })
    expect(texts.encode({ keys: ['a'.repeat(700), 1], includesRow: false })).to.have.length.at.most(1024)
    expect(texts.encode({ keys: ['a'.repeat(800), 1], includesRow: false })).to.equal(undefined)
  })
})

describe('a search without searchable properties', () => {
  it('is rejected for callers that the gateway does not speak for', () => {
    const violations = new Violations()
    expect(parseSearch('a', exampleCatalogue.resource('things', anonymous), violations)).to.deep.equal([])
    expect(() => violations.finish())
      .to.throw()
      .with.property('code', 'parameter.unknown')
  })
})
