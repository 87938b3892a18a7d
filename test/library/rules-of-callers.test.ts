import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

const ANN: Claims = { ...LIBRARIAN, sub: 'ann', guest: true }
const BEN: Claims = { ...LIBRARIAN, sub: 'ben', guest: true }

/** Rules and hooks that know who calls. The entity file is petitions.ts. */
describeLibrary('a rule that knows its caller', (store) => {
  const send = (
    claims: Claims,
    [method, target]: readonly [string, string],
    body: unknown,
    tag?: string
  ): Promise<Answer> =>
    store.as(claims, target, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(tag === undefined ? {} : { 'if-match': tag })
      },
      body: JSON.stringify(body)
    })
  const create = async (claims: Claims, title = 'a'): Promise<{ path: string; tag: string; row: Row }> => {
    const answer = await send(claims, ['POST', '/petitions'], { title })
    expect(answer.status, answer.text).to.equal(201)
    const row = json(answer) as Row
    return { path: `/petitions/${String(row['id'])}`, tag: String(answer.headers['etag']), row }
  }
  const denied = (answer: Answer, detail: string): void => {
    expect(answer.status, answer.text).to.equal(403)
    expect(json(answer)).to.include({ code: 'ownership.denied', detail })
  }
  const withoutPlace = ({ status, text }: Answer): object => {
    const { requestId: _id, instance: _path, ...body } = JSON.parse(text) as Row
    return { status, body }
  }
  const etagOf = (row: Row): string => `W/"${String(row['rowVersion'])}"`
  const stored = async (path: string): Promise<unknown> => (json(await store.as(ANN, path)) as Row)['rowVersion']

  it('sets columns by it in prepare and in an effect', async () => {
    const { path, tag, row } = await create(ANN)
    expect(row).to.include({ author: 'ann', enteredBy: 'ann', closedBy: null })
    expect((await create({ role: 'Admin', sub: 'root' })).row).to.include({ enteredBy: 'the house' })
    const closed = await send(BEN, ['PUT', `${path}/close`], {}, tag)
    expect(json(closed)).to.include({ closedBy: 'ben' })
  })

  it('rejects a create in prepare with 403, one of a batch too', async () => {
    const banned = { ...ANN, banned: true }
    denied(await send(banned, ['POST', '/petitions'], { title: 'b' }), 'You may enter no petitions.')
    expect((await send(banned, ['POST', '/petitions/batch'], [{ title: 'b' }])).status).to.equal(403)
  })

  it('rejects a PUT and a PATCH with 403, and writes nothing', async () => {
    const { path, tag, row } = await create(ANN)
    for (const method of ['PUT', 'PATCH']) {
      denied(await send(BEN, [method, path], { title: 'c' }, tag), 'Guests change their own petitions alone.')
    }
    expect(await stored(path)).to.equal(row['rowVersion'])
    expect((await send(ANN, ['PUT', path], { title: 'c' }, tag)).status).to.equal(200)
  })

  it('answers a row that it denies in a delete and in an action as one that does not exist', async () => {
    const { path, tag, row } = await create(ANN)
    for (const of of [
      (target: string) => send(BEN, ['DELETE', target], undefined),
      (target: string) => send(BEN, ['PUT', `${target}/support`], {}, tag)
    ]) {
      const [hidden, absent] = [await of(path), await of('/petitions/999999')]
      expect(hidden.status).to.equal(404)
      expect(withoutPlace(hidden)).to.deep.equal(withoutPlace(absent))
    }
    expect(await stored(path)).to.equal(row['rowVersion'])
    expect((await send(ANN, ['DELETE', path], undefined)).status).to.equal(204)
  })

  it('keeps a row from its caller whatever its version and state are', async () => {
    const { path, row } = await create(ANN)
    const stale = 'W/"AAAAAAAAAAE="'
    for (const method of ['PUT', 'PATCH']) {
      denied(await send(BEN, [method, path], { title: 'c' }, stale), 'Guests change their own petitions alone.')
    }
    for (const tag of [stale, etagOf(row)]) {
      const published = await send(BEN, ['PUT', `${path}/publish`], { title: 'c' }, tag)
      denied(published, 'Guests publish their own petitions alone.')
    }
    for (const of of [
      (target: string) => send(BEN, ['DELETE', target], undefined, stale),
      (target: string) => send(BEN, ['PUT', `${target}/support`], {}, stale)
    ]) {
      const [hidden, absent] = [await of(path), await of('/petitions/999999')]
      expect(hidden.status).to.equal(404)
      expect(withoutPlace(hidden)).to.deep.equal(withoutPlace(absent))
    }
    expect(await stored(path)).to.equal(row['rowVersion'])
  })

  it('decides nothing else about a row of another version or state, and may not even understand it', async () => {
    const { path, row } = await create(ANN)
    const stale = 'W/"AAAAAAAAAAE="'
    for (const [method, target, body] of [
      ['PUT', path, { title: 'c' }],
      ['PATCH', path, { title: 'c' }],
      ['PUT', `${path}/support`, {}],
      ['PUT', `${path}/publish`, { title: 'draft' }],
      ['DELETE', path, undefined]
    ] as const) {
      const answer = await send(ANN, [method, target], body, stale)
      expect([answer.status, answer.headers['conflict-reason']], target).to.deep.equal([412, 'stale'])
    }
    const published = await send(ANN, ['PUT', `${path}/publish`], { title: 'draft' }, etagOf(row))
    expect([published.status, (json(published) as Row)['code']]).to.deep.equal([422, 'state.invalid'])
    const draft = await create(ANN, 'draft')
    const same = await send(ANN, ['PUT', `${draft.path}/publish`], { title: 'draft' }, draft.tag)
    expect([same.status, (json(same) as Row)['code']]).to.deep.equal([400, 'body.invalid'])
    expect((await send(ANN, ['PUT', `${draft.path}/publish`], { title: 'c' }, draft.tag)).status).to.equal(200)
  })

  it('may be a hook, whose rejection undoes the write', async () => {
    const { path, tag, row } = await create(ANN)
    denied(await send(ANN, ['PUT', path], { title: 'forbidden' }, tag), 'No guest may say that.')
    const hidden = await send(ANN, ['PUT', path], { title: 'hidden' }, tag)
    expect(withoutPlace(hidden)).to.deep.equal(
      withoutPlace(await send(ANN, ['PUT', '/petitions/999999'], { title: 'x' }, tag))
    )
    expect(await stored(path)).to.equal(row['rowVersion'])
  })

  it('rejects with the same code over gRPC', async () => {
    const { row, tag } = await create(ANN)
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = store.tokenOf(BEN)
      const versions = [Buffer.from(tag.slice(3, -1), 'base64')]
      const precondition = { kind: 'PRECONDITION_KIND_TAGS', versions }
      const id = String(row['id'])
      const body = Buffer.from('{"title":"d"}')
      const answers = [
        await rpc.unary('Update', { resource: 'petitions', id, precondition, body }, { token }),
        await rpc.unary('Delete', { resource: 'petitions', id }, { token }),
        await rpc.unary('Act', { resource: 'petitions', id, action: 'support', precondition }, { token })
      ]
      expect(answers.map((one) => (isFailure(one) ? one.details.reason : 'answered'))).to.deep.equal([
        'ownership.denied',
        'not-found',
        'not-found'
      ])
    } finally {
      rpc.close()
    }
  })
})
