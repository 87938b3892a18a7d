import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'
import { HOUSE } from './tickets.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

const TENANT = '0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'
const ANN: Claims = { ...LIBRARIAN, sub: 'ann', branch: 1, tenant: TENANT.toUpperCase(), member_id: 7 }
const BIG = '9007199254740993'

/** contract.md section 6: a create takes the value of a preset. The entity file is tickets.ts. */
describeLibrary('a preset', (store) => {
  const send = (
    claims: Claims,
    [method, target]: readonly [string, string],
    body: unknown,
    headers = {}
  ): Promise<Answer> =>
    store.as(claims, target, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...headers
      },
      body: JSON.stringify(body)
    })
  const create = (claims: Claims, body: object): Promise<Answer> => send(claims, ['POST', '/tickets'], body)
  const count = async (): Promise<number> =>
    Number((await store.sql.run('SELECT COUNT(*) AS number FROM tickets'))[0]?.['number'])
  const denied = (answer: Answer, pointer?: string): void => {
    expect(answer.status, answer.text).to.equal(403)
    const { code, errors } = json(answer) as { code: string; errors?: readonly { pointer: string }[] }
    expect([code, ...(errors ?? []).map((one) => one.pointer)]).to.deep.equal([
      'ownership.denied',
      ...(pointer === undefined ? [] : [pointer])
    ])
  }

  it('gives a new row and its children the values of the token, of any type, a hidden column included', async () => {
    const created = await create(ANN, { title: 'a', lines: [{ text: 'x' }] })
    expect(created.status, created.text).to.equal(201)
    const { id, tenant, author, number, ...rest } = json(created) as Row
    expect([tenant, author, number]).to.deep.equal([TENANT, 'ann', '7'])
    expect(rest).to.not.have.property('channel')
    const [row] = await store.sql.run('SELECT channel FROM tickets WHERE id = ?', [Number(id)])
    expect(row?.['channel']).to.equal('desk')
    const [line] = await store.sql.run('SELECT writer FROM ticket_lines WHERE ticket_id = ?', [Number(id)])
    expect(line?.['writer']).to.equal('ann')
    const large = await create({ ...LIBRARIAN, member_id: BIG }, { title: 'b' })
    expect(large.status, large.text).to.equal(201)
    expect(json(large)).to.include({ tenant: HOUSE, number: BIG })
  })

  it('takes the same value from the body, and rejects any other one without a write', async () => {
    const same = await create(ANN, {
      title: 'c',
      tenant: TENANT.toUpperCase(),
      author: 'ann',
      number: 7,
      lines: [{ text: 'x', writer: 'ann' }]
    })
    expect(same.status, same.text).to.equal(201)
    const before = await count()
    for (const [other, pointer] of [
      [{ tenant: HOUSE }, '/tenant'],
      [{ author: 'Ann' }, '/author'],
      [{ number: '8' }, '/number'],
      [{ number: null }, '/number'],
      [{ lines: [{ text: 'w' }, { text: 'x', writer: 'ben' }] }, '/lines/1/writer']
    ] as const) {
      denied(await create(ANN, { title: 'd', ...other }), pointer)
    }
    expect((await create(ANN, { title: 'd', tenant: 'none' })).status, 'no guid').to.equal(400)
    expect(await count()).to.equal(before)
  })

  it('does not know a hidden column in a body', async () => {
    const created = await create(ANN, { title: 'e', channel: 'phone' })
    expect(created.status).to.equal(201)
    expect(created.headers['x-ignored-parameters']).to.equal('body.channel')
  })

  for (const tenant of [undefined, null, '', 'none', 7, [TENANT]]) {
    it(`rejects a caller whose claim is ${JSON.stringify(tenant) ?? 'absent'}`, async () => {
      const before = await count()
      denied(await create({ ...LIBRARIAN, branch: 1, tenant }, { title: 'f' }))
      denied(await create({ ...LIBRARIAN, branch: 1, tenant }, { title: 'f', tenant: TENANT }))
      expect(await count()).to.equal(before)
    })
  }

  it('is kept by PUT and PATCH, which know no such member', async () => {
    const created = await create(ANN, { title: 'g' })
    const { id } = json(created) as { id: number }
    const ben = { ...LIBRARIAN, sub: 'ben' }
    const put = await send(ben, ['PUT', `/tickets/${id}`], { title: 'h', author: 'ben' }, ifMatch(created))
    expect(put.status, put.text).to.equal(200)
    expect(json(put)).to.include({ title: 'h', author: 'ann', tenant: TENANT, number: '7' })
    expect(put.headers['x-ignored-parameters']).to.equal('body.author')
    const patched = await send(ben, ['PATCH', `/tickets/${id}`], { title: 'i', tenant: HOUSE }, ifMatch(put))
    expect(json(patched)).to.include({ title: 'i', author: 'ann', tenant: TENANT })
  })

  it('holds for each row of a batch, of which one that is rejected undoes all', async () => {
    const answer = await send(ANN, ['POST', '/tickets/batch'], [{ title: 'j' }, { title: 'k', author: 'ann' }])
    expect(answer.status, answer.text).to.equal(201)
    expect((json(answer) as Row[]).map(({ author, tenant }) => [author, tenant])).to.deep.equal([
      ['ann', TENANT],
      ['ann', TENANT]
    ])
    const before = await count()
    denied(await send(ANN, ['POST', '/tickets/batch'], [{ title: 'l' }, { title: 'm', author: 'ben' }]), '/1/author')
    expect(await count()).to.equal(before)
  })

  it('is replayed by key as it was first answered, and rejected before the key is used up', async () => {
    const key = { 'idempotency-key': 'ticket-1' }
    denied(await send(ANN, ['POST', '/tickets'], { title: 'n', author: 'ben' }, key), '/author')
    const first = await send(ANN, ['POST', '/tickets'], { title: 'n' }, key)
    expect(first.status, first.text).to.equal(201)
    const again = await send(ANN, ['POST', '/tickets'], { title: 'n' }, key)
    expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([first.text, 'true'])
  })

  it('is the same over gRPC', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = store.tokenOf(ANN)
      const call = (method: 'Create' | 'CreateBatch', body: unknown) =>
        rpc.unary(method, { resource: 'tickets', body: Buffer.from(JSON.stringify(body)) }, { token })
      const created = (await call('Create', { title: 'o' })) as { record: { json: Buffer } }
      expect(JSON.parse(created.record.json.toString())).to.include({ author: 'ann', tenant: TENANT })
      for (const answer of [
        await call('Create', { title: 'p', author: 'ben' }),
        await call('CreateBatch', [{ title: 'p' }, { title: 'q', tenant: HOUSE }])
      ]) {
        if (!isFailure(answer)) throw new Error('It was answered')
        expect(answer.details.reason).to.equal('ownership.denied')
      }
    } finally {
      rpc.close()
    }
  })

  it('may be left out says OpenAPI, and names no update', async () => {
    const { components } = json(await store.as(ANN, '/openapi.json')) as {
      components: {
        schemas: Record<string, { required: string[]; properties: Record<string, { description?: string }> }>
      }
    }
    const body = components.schemas['tickets.create']
    expect(body?.required).to.deep.equal(['title'])
    expect(body?.properties['tenant']?.description).to.include('The token of the caller gives the value')
    expect(Object.keys(components.schemas['tickets.update']?.properties ?? {})).to.deep.equal(['title'])
  })
})

function ifMatch(answer: Answer): Readonly<Record<string, string>> {
  return { 'if-match': String(answer.headers['etag']) }
}
