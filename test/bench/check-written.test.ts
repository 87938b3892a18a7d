import { expect } from 'chai'
import type { ProductVersion } from '../../bench/database/write-ledger.js'
import { checkChanged, checkCreated } from '../../bench/workloads/writes.js'

function entry(rowId: string, action: string, count = 1) {
  return { subject: 'issuer somebody', resource: 'products', action, rowId, count }
}

function product(id: number, count: number): ProductVersion {
  return { id, sku: `SKU-${id}`, categoryId: 1, version: Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, count]) }
}

describe('what the bench checks in the database after a round', () => {
  const created = { products: 2, keys: 2, entries: [entry('7', 'create'), entry('8', 'create')] }

  it('passes creates that are all there once', () => {
    expect(() => checkCreated(created, 2)).not.to.throw()
  })

  for (const [what, found] of [
    ['a product that is missing', { ...created, products: 1 }],
    ['a product too many', { ...created, products: 3 }],
    ['a key without its answer', { ...created, keys: 1 }],
    ['a row without an audit entry', { ...created, entries: [entry('7', 'create')] }],
    ['a row with two audit entries', { ...created, entries: [entry('7', 'create'), entry('8', 'create', 2)] }],
    ['an entry of something else', { ...created, entries: [...created.entries, entry('8', 'update')] }]
  ] as const) {
    it(`finds ${what}`, () => {
      expect(() => checkCreated(found, 2)).to.throw('2 acknowledged writes, but')
    })
  }

  const before = [product(1, 0), product(2, 5)]
  const after = [product(1, 1), product(2, 7)]
  const written = { products: 0, keys: 0, entries: [entry('1', 'update'), entry('2', 'update', 2)] }

  it('passes updates that are all there once', () => {
    expect(() => checkChanged({ before, after, written, action: 'update' }, 3)).not.to.throw()
  })

  for (const [what, found] of [
    ['an update that was lost', { before, after: [product(1, 1), product(2, 6)], written }],
    ['an update made twice', { before, after: [product(1, 2), product(2, 7)], written }],
    ['an update without an entry', { before, after, written: { ...written, entries: [entry('2', 'update', 2)] } }],
    [
      'an entry of another action',
      { before, after, written: { ...written, entries: [entry('1', 'publish'), entry('2', 'update', 2)] } }
    ],
    ['a row that is gone', { before, after: [product(2, 7), product(3, 1)], written }]
  ] as const) {
    it(`finds ${what}`, () => {
      expect(() => checkChanged({ ...found, action: 'update' }, 3)).to.throw(/acknowledged writes, but|came or went/)
    })
  }
})
