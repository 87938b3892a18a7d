import { expect } from 'chai'
import { openTestDatabase, type TestDatabase } from '../../oracle/test-database.js'
import { describeApi } from '../api-store.js'
import { json } from '../http-call.js'
import { productItem } from '../fixture.js'

/** source.md, reads, rule 9: a row whose stored version is empty, as other tools may have left it. */
describeApi('a row with an empty version', (store) => {
  let sql: TestDatabase | undefined
  before(async () => {
    sql = await openTestDatabase(store.databaseUrl)
    for (const table of ['products', 'product_variants']) {
      // A BINARY(8) column would fill it up with zeros.
      if (sql.kind === 'mysql') await sql.run(`ALTER TABLE ${table} MODIFY row_version VARBINARY(8) NOT NULL`)
    }
    await sql.run("UPDATE products SET row_version = x'' WHERE id IN (1, 12)")
    await sql.run("UPDATE product_variants SET row_version = x'' WHERE id = 3")
  })
  after(() => sql?.close())

  it('is shown with an empty text and without an ETag', async () => {
    const whole = await store.call('/products/1')
    expect(json(whole)).to.deep.equal({ ...productItem(1), rowVersion: '' })
    expect(whole.headers).to.not.have.property('etag')
    const part = await store.call('/products/1?fields=rowVersion')
    expect(part.text).to.equal('{"rowVersion":""}')
    expect(part.headers).to.not.have.property('etag')
  })

  it('takes no guarded write, whatever tag comes', async () => {
    const before = (await store.call('/products/1?includeChildren=true')).text
    for (const tag of ['W/"AAAAAAAAAAA="', '"AA=="', 'W/"AAAAAAAAAAE=", W/"AQ=="']) {
      const headers = { 'if-match': tag, 'content-type': 'application/json' }
      const { name, sku, categoryId, price, isActive } = productItem(1)
      const body = JSON.stringify({ name, sku, categoryId, price, isActive })
      const put = await store.as('clerk', '/products/1', { method: 'PUT', headers, body })
      store.problem(put, { status: 412, code: 'conflict' })
      const publish = await store.as('clerk', '/products/1/publish', { method: 'PUT', headers, body: '{}' })
      store.problem(publish, { status: 412, code: 'conflict' })
      const deleted = await store.as('clerk', '/products/12', { method: 'DELETE', headers: { 'if-match': tag } })
      store.problem(deleted, { status: 412, code: 'conflict' })
    }
    const missing = await store.as('clerk', '/products/1/publish', { method: 'PUT' })
    store.problem(missing, { status: 428, code: 'precondition.required' })
    expect((await store.call('/products/1?includeChildren=true')).text).to.equal(before)
    expect((await store.as('clerk', '/products/12', { method: 'DELETE' })).status).to.equal(204)
  })

  it('is no child that an action can change', async () => {
    const tag = (await store.call('/products/3')).headers.etag ?? ''
    const headers = { 'if-match': tag, 'content-type': 'application/json' }
    const body = JSON.stringify({ variantId: 3 })
    const removed = await store.as('clerk', '/products/3/remove-variant', { method: 'PUT', headers, body })
    store.problem(removed, { status: 412, code: 'conflict' })
    expect(await sql?.run('SELECT id FROM product_variants WHERE id = 3')).to.have.length(1)
  })
})
