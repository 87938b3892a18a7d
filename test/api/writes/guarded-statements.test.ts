import { expect } from 'chai'
import { orderItem, PRODUCTS, rowOf, VARIANTS, versionOf } from '../fixture.js'
import type { Answer } from '../http-call.js'
import { describeLogged } from '../statement-log.js'
import { rowIn, send, tagOf, type Write } from './send.js'
import { changesNothing } from './stored.js'

/** Eight ASCII bytes, which the log shows as they are. */
const STALE = 'STALETAG'
const stale = Buffer.from(STALE).toString('base64')

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }

interface Sent {
  readonly line: string
  readonly write: Write
  readonly status: number
  /**
   * What the server is told between the beginning and the end of the transaction, each by its first words. The
   * audit entry and the row for the answer are asked for together with the UPDATE, before its answer is there: the entry is
   * inserted only if the UPDATE has changed a row. After an UPDATE that has matched none, the row is read to tell why. Of
   * products and orders, which have a history, the row is read under its lock before.
   */
  readonly statements: readonly string[]
}

const product = { name: 'Hammer', sku: 'HM-001', categoryId: 2, price: '19.90', isActive: true }
const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
const variantRowVersion = versionOf(rowOf(VARIANTS, 1))

const REJECTED: Readonly<Record<string, Sent>> = {
  'a stale PUT': {
    line: 'clerk PUT /products/1',
    write: { body: product, ifMatch: tagOf(stale) },
    status: 412,
    statements: ['SELECT products FOR UPDATE', `UPDATE products ${STALE}`]
  },
  'a stale PUT with a list of tags': {
    line: 'clerk PUT /products/1',
    write: { body: product, ifMatch: `"AAAAAAAAAAE=", ${tagOf(stale)}, "AAAAAAAAAAI="` },
    status: 412,
    statements: ['SELECT products FOR UPDATE', `UPDATE products ${STALE}`]
  },
  'a PUT of a row that is not there': {
    line: 'clerk PUT /products/999',
    write: { body: product, ifMatch: tagOf(stale) },
    status: 404,
    statements: ['SELECT products FOR UPDATE']
  },
  'a stale PUT that a rule looks at': {
    line: 'clerk PUT /categories/1',
    write: { body: { name: 'n', slug: 'n' }, ifMatch: tagOf(stale) },
    status: 412,
    statements: ['SELECT categories FOR UPDATE', `UPDATE categories ${STALE}`]
  },
  'a stale action without a rule': {
    line: 'clerk PUT /products/1/unpublish',
    write: { ifMatch: tagOf(stale) },
    status: 412,
    statements: ['SELECT products FOR UPDATE', `UPDATE products ${STALE}`]
  },
  'an action in the wrong state': {
    line: 'clerk PUT /products/1/publish',
    write: { ifMatch },
    status: 422,
    statements: [
      'SELECT products FOR UPDATE',
      'UPDATE products',
      'INSERT ur_audit_entries',
      'SELECT products',
      'SELECT products'
    ]
  },
  'a stale action with a rule': {
    line: 'clerk PUT /products/1/remove-variant',
    write: { body: { variantId: 1 }, ifMatch: tagOf(stale) },
    status: 412,
    statements: ['SELECT products FOR UPDATE', 'SELECT product_variants', `UPDATE products ${STALE}`]
  },
  'an action on a stale child': {
    line: 'clerk PUT /products/1/adjust-variant-stock',
    write: { body: { variantId: 1, delta: 1, variantRowVersion: stale }, ifMatch },
    status: 412,
    statements: ['SELECT products FOR UPDATE', 'SELECT product_variants', `UPDATE product_variants ${STALE}`]
  },
  'a stale PATCH': {
    line: 'clerk PATCH /products/1',
    write: { body: { price: '1.00' }, ifMatch: tagOf(stale), headers: MERGE_PATCH },
    status: 412,
    statements: ['SELECT products FOR UPDATE', `UPDATE products ${STALE}`]
  },
  'a stale PATCH that a rule looks at': {
    line: 'clerk PATCH /categories/1',
    write: { body: {}, ifMatch: tagOf(stale), headers: MERGE_PATCH },
    status: 412,
    statements: ['SELECT categories FOR UPDATE', `UPDATE categories ${STALE}`]
  },
  'a stale DELETE': {
    line: 'clerk DELETE /products/1',
    write: { ifMatch: tagOf(stale) },
    status: 412,
    statements: ['SELECT products FOR UPDATE', `DELETE products ${STALE}`, 'SELECT products']
  },
  "an action on another's row": {
    line: 'ada PUT /orders/2/pay',
    write: { ifMatch: tagOf(orderItem(2)['rowVersion']) },
    status: 404,
    statements: ['SELECT orders FOR UPDATE']
  }
}

const DONE: Readonly<Record<string, Sent>> = {
  'an action on a child': {
    line: 'clerk PUT /products/1/adjust-variant-stock',
    write: { body: { variantId: 1, delta: 1, variantRowVersion }, ifMatch },
    status: 200,
    statements: [
      'SELECT products FOR UPDATE',
      'SELECT product_variants',
      'UPDATE products',
      'UPDATE product_variants',
      'INSERT ur_audit_entries',
      'SELECT products'
    ]
  },
  'a PUT': {
    line: 'clerk PUT /products/2',
    write: { body: { ...product, sku: 'PUT-2' }, ifMatch: tagOf(versionOf(rowOf(PRODUCTS, 2))) },
    status: 200,
    statements: ['SELECT products FOR UPDATE', 'UPDATE products', 'INSERT ur_audit_entries', 'SELECT products']
  },
  'a PATCH': {
    line: 'clerk PATCH /products/4',
    write: { body: { price: '1.00' }, ifMatch: tagOf(versionOf(rowOf(PRODUCTS, 4))), headers: MERGE_PATCH },
    status: 200,
    statements: ['SELECT products FOR UPDATE', 'UPDATE products', 'INSERT ur_audit_entries', 'SELECT products']
  },
  'an action without a rule': {
    line: 'clerk PUT /products/3/change-category',
    write: { body: { categoryId: 1 }, ifMatch: tagOf(versionOf(rowOf(PRODUCTS, 3))) },
    status: 200,
    statements: ['SELECT products FOR UPDATE', 'UPDATE products', 'INSERT ur_audit_entries', 'SELECT products']
  },
  'a DELETE': {
    line: 'clerk DELETE /products/12',
    write: { ifMatch: tagOf(versionOf(rowOf(PRODUCTS, 12))) },
    status: 204,
    statements: ['SELECT products FOR UPDATE', 'DELETE products', 'INSERT ur_audit_entries']
  }
}

describeLogged('statements of guarded writes in the log of MariaDB', (store, during) => {
  it('set the members of a PATCH and the version, and nothing else', async () => {
    const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 5)))
    const write = { body: { weightGrams: 5, description: null }, ifMatch, headers: MERGE_PATCH }
    const statements = await executed({ line: 'clerk PATCH /products/5', write, status: 200 })
    const [set] = statements.flatMap((text) => /^UPDATE `products` SET (.*?) WHERE /.exec(text)?.[1] ?? [])
    const columns = Array.from(set?.matchAll(/`(\w+)`=/g) ?? [], ([, column]) => column)
    expect(columns).to.deep.equal(['weight_grams', 'description', 'row_version'])
  })

  const told = async (sent: Sent): Promise<string[]> => (await executed(sent)).map(shortened)

  /** Sends it and answers what the transaction told the server, from its beginning to its end. */
  async function executed({ line, write, status }: Omit<Sent, 'statements'>): Promise<string[]> {
    let answer: Answer | undefined
    const lines = await during(async () => {
      answer = await send(store, line, write)
    })
    expect(answer?.status, answer?.text).to.equal(status)
    return lines
      .filter(({ command, text }) => command === 'Execute' || /^(START|COMMIT|ROLLBACK)/.test(text))
      .map(({ text }) => text)
  }

  for (const [title, sent] of Object.entries(REJECTED)) {
    it(`of ${title}`, async () => {
      const statements = await changesNothing(store, () => told(sent))
      expect(statements).to.deep.equal(['START TRANSACTION', ...sent.statements, 'ROLLBACK'])
    })
  }

  it('of a resource without a history begin with the UPDATE or the DELETE', async () => {
    const body = { name: 'Plain', country: 'DE' }
    const { id, rowVersion } = rowIn(await send(store, 'clerk POST /suppliers', { body }))
    const path = `/suppliers/${String(id)}`
    const [update, stale412] = [
      ['UPDATE suppliers', 'INSERT ur_audit_entries', 'SELECT suppliers'],
      [`UPDATE suppliers ${STALE}`, 'INSERT ur_audit_entries', 'SELECT suppliers', 'SELECT suppliers']
    ]
    const old = { ifMatch: tagOf(stale) }
    const patch = { body: { name: 'Patched' }, headers: MERGE_PATCH }
    const rejected = [
      [`clerk PUT ${path}`, { body, ...old }, stale412],
      [`clerk PATCH ${path}`, { ...patch, ...old }, stale412],
      [`clerk PUT ${path}/deactivate`, old, stale412],
      [`clerk DELETE ${path}`, old, [`DELETE suppliers ${STALE}`, 'SELECT suppliers']]
    ] as const
    for (const [line, write, statements] of rejected) {
      const found = await changesNothing(store, () => told({ line, write, status: 412, statements }))
      expect(found, line).to.deep.equal(['START TRANSACTION', ...statements, 'ROLLBACK'])
    }
    let ifMatch = tagOf(rowVersion)
    for (const [line, write] of [
      [`clerk PUT ${path}`, { body }],
      [`clerk PATCH ${path}`, patch],
      [`clerk PUT ${path}/deactivate`, {}]
    ] as const) {
      const found = await told({ line, write: { ...write, ifMatch }, status: 200, statements: update })
      expect(found, line).to.deep.equal(['START TRANSACTION', ...update, 'COMMIT'])
      ifMatch = tagOf(rowIn(await send(store, `clerk GET ${path}`))['rowVersion'])
    }
    const found = await told({ line: `clerk DELETE ${path}`, write: { ifMatch }, status: 204, statements: [] })
    expect(found).to.deep.equal(['START TRANSACTION', 'DELETE suppliers', 'INSERT ur_audit_entries', 'COMMIT'])
  })

  it('of a DELETE in a state that does not allow it: the row is read after the DELETE alone', async () => {
    const supplier = rowIn(await send(store, 'clerk POST /suppliers', { body: { name: 'S', country: 'DE' } }))
    const order = { supplierId: supplier['id'], lines: [{ productId: 1, quantity: 1 }] }
    const { id, rowVersion } = rowIn(await send(store, 'clerk POST /purchase-orders', { body: order }))
    await send(store, `clerk PUT /purchase-orders/${String(id)}/submit`, { ifMatch: tagOf(rowVersion) })
    const statements = ['START TRANSACTION', 'DELETE purchase_orders', 'SELECT purchase_orders', 'ROLLBACK']
    const sent = { line: `clerk DELETE /purchase-orders/${String(id)}`, write: {}, status: 422, statements }
    expect(await changesNothing(store, () => told(sent))).to.deep.equal(statements)
  })

  for (const [title, sent] of Object.entries(DONE)) {
    it(`of ${title}`, async () => {
      expect(await told(sent)).to.deep.equal(['START TRANSACTION', ...sent.statements, 'COMMIT'])
    })
  }
})

/** The verb, the table, and whether rows are locked or the stale version is compared. */
function shortened(text: string): string {
  const [verb = ''] = text.split(' ')
  if (!['SELECT', 'UPDATE', 'DELETE', 'INSERT'].includes(verb)) return text
  const [, table] = /^(?:UPDATE|SELECT .*? FROM|DELETE FROM|INSERT INTO) `?(\w+)`?/s.exec(text) ?? []
  const compared = text.slice(text.lastIndexOf(' WHERE ')).includes(STALE)
  return `${verb} ${table}${compared ? ` ${STALE}` : ''}${text.endsWith(' FOR UPDATE') ? ' FOR UPDATE' : ''}`
}
