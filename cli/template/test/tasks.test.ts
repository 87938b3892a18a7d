import { expect } from 'chai'
import { eachDatabase, type FreshDatabase, freshDatabase, type Stack, startStack } from 'uniform-rest/testing'

eachDatabase((kind) => {
  describe(`tasks on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack

    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({ app: new URL('..', import.meta.url), database })
    })
    after(async () => {
      await stack?.stop()
      await database?.dispose()
    })

    it('are completed once', async () => {
      const token = stack.token({ sub: 'ada', role: 'Editor' })
      const created = await stack.call('/tasks', { token, body: { title: 'Water the plants' } })
      expect(created.status, created.text).to.equal(201)
      const path = `${new URL(String(created.headers['location'])).pathname}/complete`
      const completed = await stack.call(path, { method: 'PUT', token, ifMatch: created.headers['etag'], body: {} })
      expect(completed.body).to.include({ title: 'Water the plants', isDone: true })
      const again = await stack.call(path, { method: 'PUT', token, ifMatch: completed.headers['etag'], body: {} })
      expect(again.body).to.include({ status: 422, code: 'state.invalid' })
    })
  })
})
