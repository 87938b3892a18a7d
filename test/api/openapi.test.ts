import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { json } from './http-call.js'

describeApi('GET /openapi.json', (store) => {
  it('is OpenAPI 3.1 and holds every read of every resource', async () => {
    const answer = await store.call('/openapi.json')
    expect(answer.status).to.equal(200)
    expect(answer.headers['content-type']).to.match(/json/)
    const document = json(answer)
    expect(document)
      .to.have.property('openapi')
      .that.matches(/^3\.1\./)
    for (const resource of ['products', 'categories', 'customers', 'orders']) {
      for (const route of ['', '/paged', '/export', '/lookup', '/{id}']) {
        expect(document).to.have.nested.property(`paths./${resource}${route}.get`)
      }
    }
  })
})

describeApi('problem pages', (store) => {
  it('explain the code that `type` names', async () => {
    const { type } = store.problem(await store.call('/products/x'), { status: 400, code: 'id.invalid' })
    const page = await store.call(new URL(type).pathname)
    expect(page.status).to.equal(200)
    expect(page.text).to.include('id.invalid')
  })
})
