import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { customerItem } from '../fixture.js'
import { json } from '../http-call.js'

describeApi(
  'OWNER_PARAMETER_NAME',
  (store) => {
    it('is of the query where it is not the id of the route', async () => {
      const own = await store.as('ada', '/customers/1?ownerId=01')
      expect(json(own)).to.deep.equal(customerItem(1))
      expect(own.headers).not.to.have.property('x-ignored-parameters')
      for (const target of ['/customers/1', '/customers/1?id=1', '/customers/1?ownerId=2', '/customers/1?ownerId=']) {
        store.problem(await store.as('ada', target), { status: 403, code: 'ownership.denied' })
      }
      store.problem(await store.as('ada', '/customers/1'), { status: 403, code: 'ownership.denied', says: 'ownerId' })
    })

    it('opens no row beyond the scope', async () => {
      store.problem(await store.as('ada', '/customers/2?ownerId=1'), { status: 404, code: 'not-found' })
    })

    it('needs no word of the bypass role', async () => {
      expect((await store.as('admin', '/customers/2')).status).to.equal(200)
      expect((await store.as('admin', '/customers/2?ownerId=1')).status).to.equal(200)
    })

    it('leaves the parameters that resources name themselves', async () => {
      expect((await store.as('ada', '/bookmarks?userId=1')).status).to.equal(200)
      store.problem(await store.as('ada', '/bookmarks?ownerId=1'), { status: 403, code: 'ownership.denied' })
    })
  },
  { on: 'sqlite', env: () => ({ OWNER_PARAMETER_NAME: 'ownerId' }) }
)
