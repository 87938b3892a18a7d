import { expect } from 'chai'
import { type Answer, filter, json } from '../api/http-call.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

const RANKER: Claims = { ...LIBRARIAN, permissions: ['tickets:rank'] }

/** contract.md section 6: a column that takes a permission to write. The entity file is tickets.ts. */
describeLibrary('a column that takes a permission to write', (store) => {
  const send = (
    claims: Claims,
    [method, target]: readonly [string, string],
    body: unknown,
    more: object = {}
  ): Promise<Answer> =>
    store.as(claims, target, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...more
      },
      body: JSON.stringify(body)
    })
  const create = async (claims: Claims, body: object): Promise<Answer> => {
    const answer = await send(claims, ['POST', '/tickets'], body)
    expect(answer.status, answer.text).to.equal(201)
    return answer
  }
  const tag = (answer: Answer): object => ({ 'if-match': String(answer.headers['etag']) })
  const pathOf = (answer: Answer): string => `/tickets/${String((json(answer) as Row)['id'])}`
  const withoutPlace = ({ status, text, headers }: Answer): object => {
    const { requestId: _id, ...body } = JSON.parse(text) as Row
    return { status, body, ignored: headers['x-ignored-parameters'] }
  }

  it('is set by callers who have it, on create, PUT and PATCH', async () => {
    const created = await create(RANKER, { title: 'a', priority: 8, due: '2026-01-31' })
    expect(json(created)).to.include({ priority: 8, due: '2026-01-31' })
    expect(created.headers['x-ignored-parameters']).to.equal(undefined)
    const put = await send(RANKER, ['PUT', pathOf(created)], { title: 'a', priority: 7 }, tag(created))
    expect(json(put)).to.include({ priority: 7, due: null })
    const patched = await send(RANKER, ['PATCH', pathOf(created)], { due: '2026-02-01' }, tag(put))
    expect(json(patched)).to.include({ priority: 7, due: '2026-02-01' })
  })

  it('takes its default in creates of others, of children and of batches too', async () => {
    const created = await create(LIBRARIAN, {
      title: 'b',
      priority: 8,
      due: '2026-01-31',
      lines: [{ text: 'x', weight: 5 }]
    })
    expect(json(created)).to.include({ priority: 3, due: null })
    expect(String(created.headers['x-ignored-parameters']).split(',').toSorted()).to.deep.equal([
      'body.due',
      'body.lines%2F0%2Fweight',
      'body.priority'
    ])
    const weights = async (answer: Answer): Promise<unknown[]> =>
      (
        await store.sql.run('SELECT weight FROM ticket_lines WHERE ticket_id = ?', [
          Number((json(answer) as Row)['id'])
        ])
      ).map(({ weight }) => Number(weight))
    expect(await weights(created)).to.deep.equal([1])
    expect(await weights(await create(RANKER, { title: 'b', lines: [{ text: 'x', weight: 5 }] }))).to.deep.equal([5])
    const batch = await send(LIBRARIAN, ['POST', '/tickets/batch'], [{ title: 'c', priority: 9 }])
    expect((json(batch) as Row[]).map(({ priority }) => priority)).to.deep.equal([3])
  })

  it('keeps its value in a PUT and a PATCH of others', async () => {
    const created = await create(RANKER, { title: 'd', priority: 8, due: '2026-01-31' })
    const put = await send(LIBRARIAN, ['PUT', pathOf(created)], { title: 'e', priority: 1 }, tag(created))
    expect(put.status, put.text).to.equal(200)
    expect(json(put)).to.include({ title: 'e', priority: 8, due: '2026-01-31' })
    const patched = await send(LIBRARIAN, ['PATCH', pathOf(created)], { due: null, priority: 2 }, tag(put))
    expect(json(patched)).to.include({ title: 'e', priority: 8, due: '2026-01-31' })
  })

  it('is answered exactly as an unknown member, whatever its value', async () => {
    for (const strict of [{}, { prefer: 'handling=strict' }]) {
      for (const value of [1, 'none', null, 1e9]) {
        const known = await send(LIBRARIAN, ['POST', '/tickets'], { priority: value }, strict)
        const unknown = await send(LIBRARIAN, ['POST', '/tickets'], { priorities: value }, strict)
        const named = JSON.stringify(withoutPlace(known)).replaceAll('priority', 'priorities')
        expect(named).to.equal(JSON.stringify(withoutPlace(unknown)))
        expect(known.status).to.equal(400)
      }
    }
  })

  it('is read, filtered and sorted by all', async () => {
    await create(RANKER, { title: 'f', priority: 9 })
    const answer = await store.as(LIBRARIAN, `/tickets/paged?${filter('priority', 'eq', '9')}&sortColumn=priority`)
    expect((json(answer) as Row[]).map(({ title }) => title)).to.include('f')
  })

  it('is named by Describe, which says that others may not set it', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const described = async (claims: Claims): Promise<Row | undefined> => {
        const { resources } = (await rpc.unary('Describe', {}, { token: store.tokenOf(claims) })) as {
          resources: { name: string; properties: Row[] }[]
        }
        return resources.find(({ name }) => name === 'tickets')?.properties.find(({ name }) => name === 'priority')
      }
      expect(await described(RANKER)).to.include({ setOnCreate: true, setOnUpdate: true, writableBy: 'tickets:rank' })
      expect(await described(LIBRARIAN)).to.include({ setOnCreate: false, setOnUpdate: false, filterable: true })
    } finally {
      rpc.close()
    }
  })

  it('holds over gRPC', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const create = async (claims: Claims): Promise<unknown> => {
        const request = { resource: 'tickets', body: Buffer.from('{"title":"g","priority":6}') }
        const { record } = (await rpc.unary('Create', request, { token: store.tokenOf(claims) })) as {
          record: { json: Buffer }
        }
        return (JSON.parse(record.json.toString()) as Row)['priority']
      }
      expect([await create(RANKER), await create(LIBRARIAN)]).to.deep.equal([6, 3])
      const made = json(await send(RANKER, ['POST', '/tickets'], { title: 'h', priority: 8 })) as Row
      const update = async (claims: Claims, rowVersion: unknown): Promise<Row> => {
        const request = {
          resource: 'tickets',
          id: String(made['id']),
          precondition: { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.from(String(rowVersion), 'base64')] },
          body: Buffer.from('{"title":"i","priority":1}')
        }
        const { record } = (await rpc.unary('Update', request, { token: store.tokenOf(claims) })) as {
          record: { json: Buffer }
        }
        return JSON.parse(record.json.toString()) as Row
      }
      const kept = await update(LIBRARIAN, made['rowVersion'])
      expect(kept).to.include({ title: 'i', priority: 8 })
      expect(await update(RANKER, kept['rowVersion'])).to.include({ title: 'i', priority: 1 })
    } finally {
      rpc.close()
    }
  })
})
