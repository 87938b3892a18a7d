import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { changesNothing, count, select } from '../api/writes/stored.js'
import { describeLibrary } from './describe-library.js'

const LIBRARIAN = { sub: 'lena', role: 'Librarian' }
const JSON_BODY = { 'content-type': 'application/json' }

describeLibrary('hooks before the commit', (store) => {
  type Write = {
    readonly body?: object
    readonly headers?: Readonly<Record<string, string>>
    readonly patch?: boolean
  }
  const send = (method: string, target: string, { body, headers = {}, patch = false }: Write = {}): Promise<Answer> =>
    store.as(LIBRARIAN, target, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': patch ? 'application/merge-patch+json' : 'application/json' }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const ok = async (answer: Promise<Answer>, status: number): Promise<Answer> => {
    const got = await answer
    expect(got.status, got.text).to.equal(status)
    return got
  }
  let parcels = 0
  const newParcel = async (more: object = {}): Promise<{ id: number; etag: string; code: string }> => {
    const code = `P-${++parcels}`
    const made = await ok(send('POST', '/parcels', { body: { code, depotId: 1, note: 'silent', ...more } }), 201)
    return { id: (json(made) as { id: number }).id, etag: made.headers.etag ?? '', code }
  }
  /** What the first hook was told of a parcel, in order, by hand-written SQL. */
  const told = async (id: number): Promise<unknown[][]> => {
    const rows = await select(
      { databaseUrl: store.databaseUrl },
      'SELECT operation, via, by_whom, `before`, `after` FROM parcel_writes WHERE parcel_id = ? ORDER BY id',
      [id]
    )
    return rows.map((row) => [row['operation'], row['via'], row['by_whom'], row['before'], row['after']])
  }
  const stored = (): { readonly databaseUrl: string } => ({ databaseUrl: store.databaseUrl })
  const counted = async (depot: number): Promise<number> => {
    const [row] = await select(stored(), 'SELECT parcels FROM depots WHERE id = ?', [depot])
    return Number(row?.['parcels'])
  }

  before(async () => {
    for (const name of ['North', 'South', 'East']) await ok(send('POST', '/depots', { body: { name } }), 201)
  })

  it('run once for a create, with the row as it is stored and no row before', async () => {
    const { id, code } = await newParcel()
    expect(await told(id)).to.deep.equal([['create', 'request', 'lena', null, `${code} 1 silent new`]])
  })

  it('run once for each row of a batch', async () => {
    const body = [1, 2, 3].map((n) => ({ code: `B-${n}`, depotId: 1, note: 'silent' }))
    const answer = await ok(send('POST', '/parcels/batch', { body }), 201)
    for (const { id, code } of json(answer) as { id: number; code: string }[]) {
      expect(await told(id)).to.deep.equal([['create', 'batch', 'lena', null, `${code} 1 silent new`]])
    }
  })

  it('run once for a PUT, a PATCH, an effect, a change and a DELETE, with the row before and after', async () => {
    const { id, code, etag } = await newParcel()
    const path = `/parcels/${id}`
    const put = await ok(
      send('PUT', path, { body: { code, depotId: 2, note: 'silent' }, headers: { 'if-match': etag } }),
      200
    )
    const ifMatch = (answer: Answer) => ({ 'if-match': answer.headers.etag ?? '' })
    const patched = await ok(send('PATCH', path, { patch: true, body: { depotId: 3 }, headers: ifMatch(put) }), 200)
    const sent = await ok(send('PUT', `${path}/send`, { body: {}, headers: ifMatch(patched) }), 200)
    const back = await ok(send('PUT', `${path}/call-back`, { body: { note: 'silent' }, headers: ifMatch(sent) }), 200)
    await ok(send('DELETE', path, { headers: ifMatch(back) }), 204)
    expect(await told(id)).to.deep.equal([
      ['create', 'request', 'lena', null, `${code} 1 silent new`],
      ['update', 'request', 'lena', `${code} 1 silent new`, `${code} 2 silent new`],
      ['update', 'request', 'lena', `${code} 2 silent new`, `${code} 3 silent new`],
      ['send', 'request', 'lena', `${code} 3 silent new`, `${code} 3 silent sent`],
      ['call-back', 'request', 'lena', `${code} 3 silent sent`, `${code} 3 silent new`],
      ['delete', 'request', 'lena', `${code} 3 silent new`, null]
    ])
  })

  it('run for rows that the rule of another root changes and creates', async () => {
    const { id, code } = await newParcel({ depotId: 3 })
    const depot = await ok(send('GET', '/depots/3'), 200)
    await ok(send('PUT', '/depots/3/send-all', { body: {}, headers: { 'if-match': depot.headers.etag ?? '' } }), 200)
    expect(await told(id)).to.deep.equal([
      ['create', 'request', 'lena', null, `${code} 3 silent new`],
      ['update', 'rule', 'lena', `${code} 3 silent new`, `${code} 3 silent sent`]
    ])
    const [extra] = await select(stored(), "SELECT id FROM parcels WHERE code = 'extra-3'")
    expect(await told(Number(extra?.['id']))).to.deep.equal([['create', 'rule', 'lena', null, 'extra-3 3 null new']])
    // A hook of the new parcel counts it in the depot, after the action.
    const ofDepot = "SELECT action FROM ur_audit_entries WHERE resource = 'depots' AND row_id = '3' ORDER BY id"
    const actions = (await select(stored(), ofDepot)).map(({ action }) => action)
    expect(actions.slice(-2)).to.deep.equal(['send-all', 'update'])
  })

  it('change rows of other resources with the write, whichever write it is', async () => {
    const before = [await counted(1), await counted(2)]
    const { id, code, etag } = await newParcel()
    expect([await counted(1), await counted(2)]).to.deep.equal([Number(before[0]) + 1, before[1]])
    await ok(
      send('PUT', `/parcels/${id}`, { body: { code, depotId: 2, note: 'silent' }, headers: { 'if-match': etag } }),
      200
    )
    expect([await counted(1), await counted(2)]).to.deep.equal([before[0], Number(before[1]) + 1])
    await ok(send('DELETE', `/parcels/${id}`), 204)
    expect([await counted(1), await counted(2)]).to.deep.equal(before)
    const entries = await count(
      stored(),
      "ur_audit_entries WHERE resource = 'depots' AND row_id = '2' AND action = 'update'"
    )
    expect(entries).to.be.at.least(2)
  })

  it('run no second time where a response is replayed', async () => {
    const body = { code: 'replayed', depotId: 1, note: 'silent' }
    const headers = { 'idempotency-key': 'one-parcel' }
    const first = await ok(send('POST', '/parcels', { body, headers }), 201)
    const again = await ok(send('POST', '/parcels', { body, headers }), 201)
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect(await told((json(first) as { id: number }).id)).to.have.length(1)
  })

  const REJECTIONS = [
    { note: 'reject state', post: 422, guarded: 422, code: 'state.invalid' },
    { note: 'reject input', post: 400, guarded: 400, code: 'body.invalid' },
    { note: 'reject conflict', post: 409, guarded: 412, code: 'conflict' },
    { note: 'throw', post: 500, guarded: 500, code: 'internal' }
  ]
  for (const { note, post, guarded, code } of REJECTIONS) {
    it(`that say "${note}" roll everything back, on every write path`, async () => {
      const { id, code: name, etag } = await newParcel()
      const other = await newParcel()
      const ifMatch = { 'if-match': etag }
      const key = (of: string) => ({ 'idempotency-key': `${of} ${note}`.replaceAll(' ', '-') })
      const row = { code: `X ${note}`, depotId: 1, note }
      const writes: (readonly [string, () => Promise<Answer>, number])[] = [
        ['create', () => send('POST', '/parcels', { body: row, headers: key('create') }), post],
        [
          'batch',
          () =>
            send('POST', '/parcels/batch', {
              body: [{ ...row, code: 'fine', note: 'ok' }, row],
              headers: key('batch')
            }),
          post
        ],
        [
          'PUT',
          () =>
            send('PUT', `/parcels/${id}`, {
              body: { code: name, depotId: 2, note },
              headers: { ...ifMatch, ...key('put') }
            }),
          guarded
        ],
        [
          'PATCH',
          () =>
            send('PATCH', `/parcels/${id}`, {
              patch: true,
              body: { note },
              headers: { ...ifMatch, ...key('patch') }
            }),
          guarded
        ],
        [
          'change',
          () => send('PUT', `/parcels/${id}/call-back`, { body: { note }, headers: { ...ifMatch, ...key('act') } }),
          guarded
        ]
      ]
      for (const [what, write, status] of writes) {
        const answer = await changesNothing(stored(), write)
        expect([answer.status, (json(answer) as { code: string }).code], `${what}: ${answer.text}`).to.deep.equal([
          status,
          code
        ])
        if (code === 'body.invalid' && what === 'batch') expect(answer.text).to.include('Row 1, counted from 0')
      }
      // A corrected request may use the key of one that was rejected.
      await ok(send('POST', '/parcels', { body: { ...row, note: 'silent' }, headers: key('create') }), 201)
      expect(await told(other.id)).to.have.length(1)
    })
  }

  it('reject a DELETE by the row before, and an effect by the row after', async () => {
    const kept = await newParcel({ note: 'keep' })
    const answer = await changesNothing(stored(), () => send('DELETE', `/parcels/${kept.id}`))
    expect([answer.status, (json(answer) as { detail: string }).detail]).to.deep.equal([422, 'It is kept.'])
    const { id } = await newParcel()
    // Past the service, since no write with such a note is let through.
    await select(stored(), "UPDATE parcels SET note = 'reject state' WHERE id = ?", [id])
    const etag = (await ok(send('GET', `/parcels/${id}`), 200)).headers.etag ?? ''
    const sent = await changesNothing(stored(), () =>
      send('PUT', `/parcels/${id}/send`, { body: {}, headers: { 'if-match': etag } })
    )
    expect(sent.status, sent.text).to.equal(422)
  })

  it('leave the order of rejections as it is: no row, then a stale tag, then the state, then the hook', async () => {
    const { id, etag } = await newParcel()
    const sent = await ok(send('PUT', `/parcels/${id}/send`, { body: {}, headers: { 'if-match': etag } }), 200)
    const writes = (await told(id)).length
    await ok(send('PUT', '/parcels/999999/send', { body: {}, headers: { 'if-match': etag } }), 404)
    await ok(send('PUT', `/parcels/${id}/send`, { body: {}, headers: { 'if-match': etag } }), 412)
    await ok(send('PUT', `/parcels/${id}/send`, { body: {}, headers: { 'if-match': sent.headers.etag ?? '' } }), 422)
    const body = { code: 'x', depotId: 1, note: 'reject state' }
    await ok(send('PUT', '/parcels/999999', { body, headers: { 'if-match': etag } }), 404)
    await ok(send('PUT', `/parcels/${id}`, { body, headers: { 'if-match': etag } }), 412)
    await ok(send('DELETE', `/parcels/${id}`, { headers: { 'if-match': etag } }), 412)
    await ok(send('DELETE', '/parcels/999999'), 404)
    expect(await told(id)).to.have.length(writes)
  })

  it('keep a count right under concurrent writes that wait for each other', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => newParcel()))
    const before = [await counted(1), await counted(2)]
    const entries = await count(stored(), 'ur_outbox')
    const answers = await Promise.all(
      made.map(({ id, code, etag }, n) =>
        store.as(LIBRARIAN, `/parcels/${id}`, {
          method: 'PUT',
          alone: true,
          headers: { ...JSON_BODY, 'if-match': etag },
          body: JSON.stringify({ code, depotId: 2, note: n % 2 === 0 ? 'lock 1,2' : 'lock 2,1' })
        })
      )
    )
    const done = answers.filter(({ status }) => status === 200).length
    // A deadlock is run again as a whole; whoever lost too often has written nothing.
    expect(answers.every(({ status }) => [200, 412, 503].includes(status))).to.equal(true)
    expect(done).to.be.at.least(1)
    expect([await counted(1), await counted(2)]).to.deep.equal([Number(before[0]) - done, Number(before[1]) + done])
    expect(await count(stored(), 'ur_outbox')).to.equal(entries + done)
  })
})
