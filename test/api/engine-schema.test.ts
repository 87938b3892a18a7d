import { expect } from 'chai'
import { dumpOf } from '../harness/dump.js'
import { freshDatabase as freshStore, type FreshDatabase as FreshStore } from '../harness/database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { json } from './http-call.js'
import { sendTo, type Write } from './writes/send.js'

describe('the store with the tables of the engine in another database of the server', () => {
  let store: FreshStore
  let engine: FreshDatabase
  let stack: Stack
  before(async () => {
    store = await freshStore('mysql')
    engine = await freshDatabase('mysql')
    const schema = new URL(engine.url).pathname.slice(1)
    const env = { ENGINE_TABLE_PREFIX: `${schema}.ur_` }
    stack = await startStack({ database: store, env })
  })
  after(async () => {
    await stack?.stop()
    await store?.dispose()
    await engine?.dispose()
  })

  const send = async (line: string, write: Write = {}) => {
    const [account = '', method = '', target = ''] = line.split(' ')
    return sendTo(stack.url, { method, target, token: await stack.token(`${account}@example.com`) }, write)
  }

  it('holds them all there, and none of them beside the rows', async () => {
    const own = (names: readonly string[]): string[] => names.filter((name) => name.startsWith('ur_'))
    expect(own(Object.keys(await dumpOf(store.url)))).to.deep.equal([])
    expect(own(Object.keys(await dumpOf(engine.url)))).to.have.length(12)
  })

  it('writes rows, key and audit entry in one transaction, and serves the trail', async () => {
    const body = { name: 'Apart', slug: 'apart' }
    const first = await send('clerk POST /categories', { body, key: 'apart-1' })
    const again = await send('clerk POST /categories', { body, key: 'apart-1' })
    expect([first.status, again.status]).to.deep.equal([201, 201])
    expect(again.headers['idempotent-replayed']).to.equal('true')
    const filter = 'filters[resource].operator=equals&filters[resource].value=categories'
    for (const path of [
      `/audit-entries/paged?${filter}&sortColumn=at&sortDirection=desc`,
      `/audit-entries/paged?${filter}&search=create`,
      '/audit-entries?fields=id,action'
    ]) {
      const found = await send(`admin GET ${path}`)
      expect(found.status, path).to.equal(200)
      expect(json(found), path).to.have.length(1)
    }
    const taken = await send('clerk POST /categories', { body: { name: 'Other', slug: 'apart' }, key: 'apart-2' })
    expect(taken.status).to.equal(409)
    expect(json(await send('admin GET /audit-entries'))).to.have.length(1)
    const entries = (await dumpOf(engine.url))['ur_idempotency_keys'] ?? []
    // The statement that makes the table, and one key.
    expect(entries).to.have.length(2)
  })

  it('signs in, refreshes, and keeps sessions there', async () => {
    const login = await send('admin POST /auth/login', {
      body: { email: 'ada@example.com', password: 'demo-password' }
    })
    expect(login.status).to.equal(200)
    expect((await dumpOf(engine.url))['ur_refresh_families'] ?? []).to.have.length(2)
  })
})
