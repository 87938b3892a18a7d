import { expect } from 'chai'
import {
  eachDatabase,
  type FreshDatabase,
  freshDatabase,
  loadEntityRows,
  readOracle,
  type Stack,
  startStack,
  withTestDatabase
} from 'uniform-rest/testing'
import application from './uniform-rest.config.js'

eachDatabase((kind) => {
  describe(`tasks on ${kind}`, function () {
    this.timeout(60_000)
    let database: FreshDatabase
    let stack: Stack
    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({ app: new URL('.', import.meta.url), database })
    })
    after(async () => {
      await stack?.stop()
      await database?.dispose()
    })

    it('are finished once', async () => {
      const token = stack.token({ sub: 'ada', member: 7 })
      const created = await stack.call('/tasks', { token, body: { key: 'Post a letter', priority: 'high' } })
      expect(created.status, created.text).to.equal(201)
      const target = `${String(created.headers.location)}/finish`
      const finished = await stack.call(new URL(target).pathname, {
        method: 'PUT',
        token,
        ifMatch: created.headers.etag,
        body: {}
      })
      expect(finished.body).to.include({ isDone: true })
      const again = await stack.call(new URL(target).pathname, {
        method: 'PUT',
        token,
        ifMatch: finished.headers.etag,
        body: {}
      })
      expect(again.status).to.equal(422)
      expect(again.body).to.include({ code: 'state.invalid' })
    })

    it('are filtered and sorted as the oracle says', async () => {
      const [tasks] = application.entities
      if (tasks === undefined) throw new Error('no tasks')
      const token = stack.token({ sub: 'ada', member: 7 })
      for (const key of ['b', 'C', 'a']) await stack.call('/tasks', { token, body: { key, priority: 'low' } })
      await stack.call('/tasks', { token: stack.token({ member: 8 }), body: { key: 'd', priority: 'low' } })
      const rows = await withTestDatabase(database.url, (sql) => loadEntityRows(sql, tasks, application.entities))
      const own = rows.filter((row) => row['memberId'] === 7)
      const expected = readOracle(tasks, own, {
        filters: [{ property: 'priority', operator: 'equals', value: 'low' }],
        sortColumn: 'key',
        pageSize: 2
      })
      if (expected.rejected !== null) throw new Error(expected.rejected.join())
      expect(expected.items.map((row) => row['key'])).to.deep.equal(['a', 'b'])
      const filters = 'filters[priority].operator=equals&filters[priority].value=low'
      const page = await stack.call(`/tasks/paged?${filters}&sortColumn=key&pageSize=2&fields=key`, { token })
      expect(page.body).to.deep.equal(expected.items.map(({ key }) => ({ key })))
      expect(page.headers['x-total-count']).to.equal(String(expected.total))
      expect(readOracle(tasks, own, { sortColumn: 'isDone' })).to.deep.equal({ rejected: ['sort.property.unknown'] })
    })

    it('are nothing to anybody without a token, or with a member claim of another', async () => {
      const [row] = await withTestDatabase(database.url, (sql) =>
        sql.run('SELECT id FROM tasks WHERE member_id = ?', [7])
      )
      const target = `/tasks/${String(row?.['id'])}`
      const anonymous = await stack.call(target)
      const other = await stack.call(target, { token: stack.token({ member: 8 }) })
      expect([anonymous.status, other.status]).to.deep.equal([401, 404])
    })
  })
})
