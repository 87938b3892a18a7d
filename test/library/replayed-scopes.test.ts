import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>

const LIBRARIAN: Claims = { sub: 'l', role: 'Librarian', branches: [2, 3] }
const MOVED: Claims = { ...LIBRARIAN, branches: [3] }
const WITHOUT: Claims = { sub: 'l', role: 'Librarian' }
const WIDER: Claims = { ...LIBRARIAN, branches: [5, 2] }
const REPEATED: Claims = { ...LIBRARIAN, branches: [3, 2, 3] }
const PROMOTED: Claims = { ...LIBRARIAN, role: ['Librarian', 'Admin'] }

/** contract.md section 6: an answer never shows a row that its caller's reads would not. The entity file is errands.ts. */
describeLibrary('a stored answer', (store) => {
  const send = (
    claims: Claims,
    [method, target]: readonly [string, string],
    body: unknown,
    headers: Readonly<Record<string, string>>
  ): Promise<Answer> =>
    store.as(claims, target, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body)
    })
  const errand = (title: string): object => ({ title, memberId: 7, branchId: 2, isOpen: true })
  const stored = () => store.sql.run('SELECT id, title, is_open, HEX(row_version) AS version FROM errands ORDER BY id')
  /** Calls again as the others, which must write nothing. */
  const replays = async (first: Answer, again: (claims: Claims) => Promise<Answer>): Promise<void> => {
    const before = await stored()
    for (const claims of [LIBRARIAN, { ...LIBRARIAN, branches: [3, 2], exp: exp() }, WIDER, REPEATED, PROMOTED]) {
      const answer = await again(claims)
      expect([answer.status, answer.text, answer.headers['idempotent-replayed']], JSON.stringify(claims)).to.deep.equal(
        [first.status, first.text, 'true']
      )
    }
    for (const claims of [MOVED, WITHOUT]) {
      const answer = await again(claims)
      const { code, errors } = json(answer) as { code: string; errors?: readonly { header?: string }[] }
      expect([answer.status, code, errors?.[0]?.header]).to.deep.equal([403, 'ownership.denied', 'Idempotency-Key'])
      expect(answer.headers).to.not.have.any.keys('etag', 'location')
    }
    expect(await stored()).to.deep.equal(before)
  }
  const exp = (): number => Math.floor(Date.now() / 1000) + 1000

  it('of a create and of an action is for those who read its rows', async () => {
    const key = { 'idempotency-key': 'create' }
    const create = (claims: Claims): Promise<Answer> => send(claims, ['POST', '/errands'], errand('One'), key)
    const made = await create(LIBRARIAN)
    expect(made.status, made.text).to.equal(201)
    await replays(made, create)
    const { id } = json(made) as { readonly id: number }
    const guarded = { 'idempotency-key': 'close', 'if-match': String(made.headers['etag']) }
    const close = (claims: Claims): Promise<Answer> => send(claims, ['PUT', `/errands/${id}/close`], {}, guarded)
    const closed = await close(LIBRARIAN)
    expect(closed.status, closed.text).to.equal(200)
    await replays(closed, close)
  })

  it('is for those whose scope shows what it told, also when the row is gone or another has its key', async () => {
    const key = { 'idempotency-key': 'gone' }
    const create = (claims: Claims): Promise<Answer> => send(claims, ['POST', '/errands'], errand('Gone'), key)
    const made = await create(LIBRARIAN)
    expect(made.status, made.text).to.equal(201)
    const { id } = json(made) as { readonly id: number }
    await store.sql.run(`DELETE FROM errands WHERE id = ${id}`)
    await replays(made, create)
    await store.sql.run(
      `INSERT INTO errands (id, title, member_id, branch_id, is_open, row_version)
       VALUES (${id}, 'Another', 8, 3, 1, x'0102030400000000')`
    )
    await replays(made, create)
  })

  it('that told no more than an id is for every caller with the same rights', async () => {
    const [branch, key] = [9, { 'idempotency-key': 'unseen' }]
    const swatch = {
      name: 'Unseen',
      colour: '#00ff00',
      price: '1.00',
      mixedAt: '2026-01-31T08:00:00Z',
      branchId: branch
    }
    const create = (claims: Claims): Promise<Answer> => send(claims, ['POST', '/swatches'], swatch, key)
    const made = await create(LIBRARIAN)
    expect(made.status, made.text).to.equal(201)
    expect(Object.keys(json(made) as object)).to.deep.equal(['id'])
    for (const claims of [LIBRARIAN, MOVED, WIDER]) {
      const answer = await create(claims)
      expect([answer.status, answer.text, answer.headers['idempotent-replayed']]).to.deep.equal([
        201,
        made.text,
        'true'
      ])
    }
  })

  it('of a batch is so too, and over gRPC', async () => {
    const key = { 'idempotency-key': 'batch' }
    const batch = (claims: Claims): Promise<Answer> =>
      send(claims, ['POST', '/errands/batch'], [errand('Two'), errand('Three')], key)
    const made = await batch(LIBRARIAN)
    expect(made.status, made.text).to.equal(201)
    await replays(made, batch)
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const request = {
        resource: 'errands',
        body: Buffer.from(JSON.stringify(errand('Four'))),
        idempotencyKey: 'grpc'
      }
      const create = (claims: Claims) => rpc.unary('Create', request, { token: store.tokenOf(claims) })
      expect(isFailure(await create(LIBRARIAN))).to.equal(false)
      expect(await create(LIBRARIAN)).to.include({ replayed: true })
      const moved = await create(MOVED)
      expect(isFailure(moved) && moved.details.reason).to.equal('ownership.denied')
    } finally {
      rpc.close()
    }
  })
})
