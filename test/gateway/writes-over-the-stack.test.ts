import { expect } from 'chai'
import { ApiStore } from '../api/api-store.js'
import type { Answer } from '../api/http-call.js'

const NEW_CATEGORY = { name: 'Saws', slug: 'saws', parentId: null }

describe('writes over the whole stack', function () {
  this.timeout(60_000)
  const store = new ApiStore('sqlite')
  before(() => store.start({}))
  after(() => store.stop())

  const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    store.as('clerk', path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
  const tagOf = ({ headers }: Answer): string => headers.etag ?? ''
  const pathOf = ({ headers }: Answer): string => new URL(String(headers.location)).pathname

  it('a row is created, replayed, replaced, acted on and deleted, each answer’s tag good for the next write', async () => {
    const key = { 'idempotency-key': 'one' }
    const created = await send('POST', '/categories?x=1', { ...NEW_CATEGORY, id: 1, nope: 1 }, key)
    expect(created.status, created.text).to.equal(201)
    expect(String(created.headers['x-ignored-parameters']).split(',')).to.have.members(['x', 'body.id', 'body.nope'])
    const path = pathOf(created)
    expect(String(created.headers.location)).to.equal(`${store.url}${path}`)
    const read = await store.call(path)
    expect([read.text, tagOf(read)]).to.deep.equal([created.text, tagOf(created)])

    const replaced = await send('PUT', path, { ...NEW_CATEGORY, name: 'Blades' }, { 'if-match': tagOf(created) })
    expect(replaced.status, replaced.text).to.equal(200)
    const moved = await send('PUT', `${path}/move`, { parentId: 1 }, { 'if-match': tagOf(replaced) })
    expect(moved.status, moved.text).to.equal(200)
    expect(moved.text).to.equal((await store.call(path)).text)
    const deleted = await send('DELETE', path, undefined, { 'if-match': tagOf(moved) })
    expect([deleted.status, deleted.text]).to.deep.equal([204, ''])

    const again = await send('POST', '/categories', { nope: 1, id: 1, ...NEW_CATEGORY }, { 'idempotency-key': '"one"' })
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect([again.status, again.bytes]).to.deep.equal([201, created.bytes])
    expect([again.headers.location, tagOf(again)]).to.deep.equal([created.headers.location, tagOf(created)])
    expect((await store.call(path)).status).to.equal(404)
  })

  it('a guarded conflict says what an unguarded one says, the status aside', async () => {
    const unguarded = await send('POST', '/categories', { ...NEW_CATEGORY, slug: 'tools' })
    const conflict = store.problem(unguarded, { status: 409, code: 'conflict' })
    const row = await store.call('/categories/2')
    const body = { name: 'x', slug: 'tools', parentId: null }
    const taken = await send('PUT', '/categories/2', body, { 'if-match': tagOf(row) })
    const stale = await send('PUT', '/categories/2', { ...body, slug: 'free' }, { 'if-match': '"AAAA"' })
    for (const answer of [taken, stale]) {
      const { title, detail } = store.problem(answer, { status: 412, code: 'conflict' })
      expect({ title, detail }, answer.path).to.deep.equal({ title: conflict.title, detail: conflict.detail })
    }
    expect((await store.call('/categories/2')).text).to.equal(row.text)
  })

  const GUARDED: readonly (readonly [header: string | undefined, status: number, code: string])[] = [
    [undefined, 428, 'precondition.required'],
    ['', 428, 'precondition.required'],
    ['*', 428, 'precondition.required'],
    ['AAAA', 400, 'precondition.malformed'],
    ['w/"AAAA"', 400, 'precondition.malformed'],
    ['""', 400, 'precondition.malformed'],
    ['"AAAA", *', 400, 'precondition.malformed'],
    ['"AAAA", "A"', 400, 'precondition.malformed'],
    ['"AAAA"', 412, 'conflict'],
    ['"AAAA", W/"AQIDBAUGBwg="', 412, 'conflict']
  ]
  for (const [header, status, code] of GUARDED) {
    it(`If-Match ${header} on a PUT and an action is ${status}, and nothing runs`, async () => {
      const before = await store.call('/categories/3')
      const headers: Record<string, string> = header === undefined ? {} : { 'if-match': header }
      const put = await send('PUT', '/categories/3', { ...NEW_CATEGORY, slug: 'new' }, headers)
      store.problem(put, { status, code })
      store.problem(await send('PUT', '/categories/3/move', { parentId: null }, headers), { status, code })
      expect((await store.call('/categories/3')).text).to.equal(before.text)
    })
  }

  it('a list with the current tag in it matches', async () => {
    const tag = tagOf(await store.call('/categories/3'))
    const answer = await send('PUT', '/categories/3/move', { parentId: null }, { 'if-match': `"AAAA", ${tag}` })
    expect(answer.status, answer.text).to.equal(200)
  })

  it('violations of a body are all named with their pointers', async () => {
    const problem = store.problem(await send('POST', '/categories', { name: '', parentId: 'x' }), {
      status: 400,
      code: 'body.invalid'
    })
    expect(problem.errors?.map((one) => ('pointer' in one ? one.pointer : one))).to.have.members([
      '/name',
      '/slug',
      '/parentId'
    ])
  })

  it('a large body is read to its end', async () => {
    const text = JSON.stringify({ ...NEW_CATEGORY, name: 'x'.repeat(1024 * 1024 - 100) })
    store.problem(await send('POST', '/categories', text), { status: 400, code: 'body.invalid' })
  })

  it('strict handling refuses query and body at once', async () => {
    const answer = await send('POST', '/categories?y=1', { ...NEW_CATEGORY, z: 1 }, { prefer: 'handling=strict' })
    const { errors = [] } = store.problem(answer, { status: 400, code: 'parameter.unknown' })
    expect(JSON.stringify(errors)).to.include('"parameter":"y"').and.include('"pointer":"/z"')
  })
})
