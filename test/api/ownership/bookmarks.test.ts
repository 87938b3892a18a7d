import { expect } from 'chai'
import { withTestDatabase } from '../../oracle/test-database.js'
import { describeApi } from '../api-store.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { ids, json, type Answer } from '../http-call.js'
import { changesNothing } from '../writes/stored.js'
import { etagOf, rowIn, send } from '../writes/send.js'

describeApi('ownership of bookmarks', (store) => {
  const own: Record<string, number[]> = { ada: [], ben: [] }

  before(async () => {
    for (const [account, sessionId] of [
      ['ada', 17],
      ['ben', 17],
      ['ada', 3],
      ['ben', 5]
    ] as const) {
      const created = await send(store, `${account} POST /bookmarks`, { body: { sessionId, note: account } })
      expect(created.status, created.text).to.equal(201)
      own[account]?.push(Number(rowIn(created)['id']))
    }
  })

  const foreign = (): number => own['ben']?.[0] ?? 0
  const rejected = (answer: Answer): unknown => store.problem(answer, { status: 403, code: 'ownership.denied' })

  it('the list and the session ids are one user’s, who must be named and be the caller', async () => {
    for (const [account, sessions] of [
      ['ada', [3, 17]],
      ['ben', [5, 17]]
    ] as const) {
      const userId = account === 'ada' ? 1 : 2
      expect(ids(await store.as(account, `/bookmarks?userId=${userId}`)), account).to.deep.equal(own[account])
      expect(json(await store.as(account, `/bookmarks/session-ids?userId=${userId}`)), account).to.deep.equal(sessions)
    }
    for (const path of ['/bookmarks', '/bookmarks/session-ids']) {
      for (const query of [
        '',
        '?userId=2',
        '?USERID=2',
        '?id=1',
        '?filters[userId].operator=equals&filters[userId].value=1'
      ]) {
        rejected(await store.as('ada', `${path}${query}`))
      }
      for (const account of ['nobody', 'clerk']) rejected(await store.as(account, `${path}?userId=1`))
      store.problem(await store.call(`${path}?userId=1`), { status: 401, code: 'auth.required' })
    }
  })

  it('the other routes go by the scope, and take the parameter for one that they do not know', async () => {
    for (const query of ['', 'userId=1', 'userId=2', 'userId=x']) {
      const known = query === '' ? undefined : 'userId'
      const paged = await store.as('ada', `/bookmarks/paged?${query}`)
      expect(ids(paged), JSON.stringify(query)).to.deep.equal(own['ada'])
      expect(paged.headers, JSON.stringify(query)).to.include({ 'x-total-count': '2' })
      expect(paged.headers['x-ignored-parameters'], JSON.stringify(query)).to.equal(known)
      const exported = await store.as('ada', `/bookmarks/export?fields=sessionId&bom=false&${query}`)
      expect(exported.text, JSON.stringify(query)).to.equal('sessionId\r\n17\r\n3\r\n')
      const lookup = json(await store.as('ada', `/bookmarks/lookup?${query}`)) as { items: { name: string }[] } // contract.md
      expect(
        lookup.items.map(({ name }) => name),
        JSON.stringify(query)
      ).to.deep.equal(['3', '17'])
      expect(
        (await store.as('ada', `/bookmarks/${String(own['ada']?.[0])}?${query}`)).status,
        JSON.stringify(query)
      ).to.equal(200)
      store.problem(await store.as('ada', `/bookmarks/${foreign()}?${query}`), { status: 404, code: 'not-found' })
    }
  })

  it("another's bookmark can neither be annotated nor deleted, nor one be made for another", async () => {
    const path = `/bookmarks/${foreign()}`
    const ifMatch = etagOf(await store.as('ben', path))
    for (const query of ['', '?userId=2']) {
      for (const attempt of [
        () => send(store, `ada PUT ${path}/annotate${query}`, { body: { note: 'mine' }, ifMatch }),
        () => send(store, `ada DELETE ${path}${query}`)
      ]) {
        store.problem(await changesNothing(store, attempt), { status: 404, code: 'not-found' })
      }
      const made = { body: { sessionId: 99, userId: 2 } }
      rejected(await changesNothing(store, () => send(store, `ada POST /bookmarks${query}`, made)))
      rejected(await changesNothing(store, () => send(store, `nobody POST /bookmarks${query}`, made)))
    }
  })

  it('session ids are a read like the others: HEAD, ignored parameters, methods', async () => {
    const path = '/bookmarks/session-ids'
    const read = await store.as('ada', `${path}?userId=1&colour=red`)
    expect(read.headers).to.include({
      'x-ignored-parameters': 'colour',
      'x-row-limit': '1000',
      'cache-control': 'no-store',
      'api-supported-versions': '1.0'
    })
    const head = await store.as('ada', `${path}?userId=1`, { method: 'HEAD' })
    expect([head.status, head.text]).to.deep.equal([200, ''])
    const strict = { headers: { prefer: 'handling=strict' } }
    store.problem(await store.as('ada', `${path}?userId=1&colour=red`, strict), {
      status: 400,
      code: 'parameter.unknown'
    })
    const posted = await send(store, `ada POST ${path}?userId=1`, { body: {} })
    store.problem(posted, { status: 405, code: 'method.not-allowed' })
    expect(posted.headers.allow).to.equal('GET, HEAD, OPTIONS')
    expect(json(await store.as('ada', '/bookmarks/session%2Dids?userId=1'))).to.deep.equal(json(read))
    for (const id of [
      '/bookmarks/session_ids',
      '/bookmarks/Session-Ids',
      '/bookmarks/session-ids%20',
      '/products/session-ids'
    ])
      store.problem(await store.as('ada', `${id}?userId=1`), { status: 400, code: 'id.invalid' })
  })

  it('session ids stop at 1000 and say so, and are the same over gRPC', async () => {
    const sessions = Array.from({ length: 1001 }, (_, index) => 1000 + index)
    await withTestDatabase(store.databaseUrl, (database) =>
      database.run(
        `INSERT INTO bookmarks (user_id, session_id, created_at, row_version) VALUES ${sessions
          .map((session) => `(3, ${session}, '2026-01-01 00:00:00.000', X'0102030405060708')`)
          .join()}`
      )
    )
    const read = await store.as('admin', '/bookmarks/session-ids?userId=3')
    expect(json(read)).to.deep.equal(sessions.slice(0, 1000))
    expect(read.headers).to.include({ 'x-row-limit': '1000', 'x-truncated': 'true' })
    const list = await store.as('admin', '/bookmarks?userId=3&fields=userId')
    const next = /<([^>]+)>; rel="next"/.exec(String(list.headers['link']))?.[1] ?? ''
    const rest = await store.as('admin', next.slice(next.indexOf('/bookmarks')))
    expect(json(rest)).to.deep.equal([{ userId: 3 }])
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = await store.stack.token('admin@example.com')
      const request = { resource: 'bookmarks', name: 'session-ids', ownerParameter: '3' }
      const answer = await rpc.unary('Read', request, { token })
      expect(answer).to.deep.include({ json: read.bytes, rowLimit: 1000, truncated: true })
      const none = await rpc.unary('Read', { ...request, name: 'session_ids' }, { token })
      expect(isFailure(none) && none.details.reason).to.equal('route.not-found')
    } finally {
      rpc.close()
    }
  })
})
