import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { Random } from '../faults/fuzz.js'
import { dataSeed, isSoak } from '../harness/in-soak.js'
import { StatementLog } from '../api/statement-log.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>
type Response = { content: Record<string, { schema: object }> }

const MEMBER: Claims = { sub: 'm', member_id: 1 }
const LIBRARIAN: Claims = { sub: 'l', role: 'Librarian', branches: [2] }

/** Callers and, written by hand, the errands that they may change, and delete. */
const WRITERS: readonly (readonly [name: string, claims: Claims, change: string, remove: string | null])[] = [
  ['a member', MEMBER, 'member_id = 1', null],
  ['a librarian of a branch', LIBRARIAN, 'branch_id = 2', 'branch_id = 2'],
  [
    'a librarian of two branches who is a member',
    { ...LIBRARIAN, branches: [2, 3], member_id: 3 },
    'member_id = 3 OR branch_id IN (2, 3)',
    'branch_id IN (2, 3)'
  ],
  ['a librarian without branches', { sub: 'l', role: 'Librarian' }, '1 = 0', '1 = 0'],
  ['a librarian whose branches are no list', { ...LIBRARIAN, branches: 2 }, '1 = 0', '1 = 0'],
  ['the bypass role', { sub: 'a', role: 'Admin', branches: [4] }, '1 = 1', 'branch_id = 4']
]

const SEED = dataSeed
const BATCHES = isSoak ? 1500 : 60

interface Errand {
  readonly id: number
  readonly title: string
  readonly memberId: number
  readonly branchId: number
  readonly isOpen: boolean
}

type Reach = (row: Errand) => boolean

/** The rows that callers change, and delete: what errands.ts says, worked out by hand for their claims. */
const REACHES: readonly (readonly [claims: Claims, change: Reach, remove: Reach | null])[] = [
  [MEMBER, ({ memberId }) => memberId === 1, null],
  [LIBRARIAN, ({ branchId }) => branchId === 2, ({ branchId }) => branchId === 2],
  [
    { ...LIBRARIAN, branches: [2, 3], member_id: 3 },
    ({ memberId, branchId }) => memberId === 3 || branchId === 2 || branchId === 3,
    ({ branchId }) => branchId === 2 || branchId === 3
  ],
  [{ sub: 'l', role: 'Librarian' }, () => false, () => false],
  [{ sub: 'a', role: 'Admin', branches: [4] }, () => true, ({ branchId }) => branchId === 4]
]

interface Item {
  readonly id: number
  readonly isStale: boolean
  readonly change: Partial<Omit<Errand, 'id'>>
}

/** What a batch comes to, one item after the other (contract.md sections 5 and 6): its rows, or the answers of the item that ends it. */
function outcomeOf(
  rows: ReadonlyMap<number, Errand>,
  items: readonly Item[],
  { reach, isDelete }: { readonly reach: Reach; readonly isDelete: boolean }
): { readonly rows: ReadonlyMap<number, Errand> } | { readonly at: number; readonly codes: readonly string[] } {
  const after = new Map(rows)
  for (const [at, { id, isStale, change }] of items.entries()) {
    const row = after.get(id)
    if (row === undefined || !reach(row)) return { at, codes: ['404 not-found'] }
    const changed = { ...row, ...change }
    const leaves = !isDelete && !reach(changed)
    // The scope comes before the version where the row is the one that the caller saw.
    if (isStale) return { at, codes: leaves ? ['403 ownership.denied', '412 conflict'] : ['412 conflict'] }
    if (leaves) return { at, codes: ['403 ownership.denied'] }
    if (isDelete) after.delete(id)
    else if ([...after.values()].some((one) => one.id !== id && one.title === changed.title)) {
      return { at, codes: ['412 conflict'] }
    } else after.set(id, changed)
  }
  return { rows: after }
}

function randomItems(random: Random): Item[] {
  const ids = new Set(Array.from({ length: 1 + random.below(5) }, () => 1 + random.below(ERRANDS + 1)))
  return [...ids].map((id) => ({
    id,
    isStale: random.percent(5),
    change: random.pick<Item['change']>([
      {},
      { isOpen: random.percent(50) },
      { title: `T${1 + random.below(2 * ERRANDS)}` },
      { memberId: 1 + random.below(3) },
      { branchId: 1 + random.below(4) }
    ])
  }))
}

/** A write that the log of statements is read for: how many rows it takes, and the statement that writes each. */
type Written = readonly [
  name: string,
  rows: number,
  statement: string,
  write: (rows: readonly { readonly id: number; readonly tag: string }[]) => Promise<Answer>
]

/** Every member at every branch, and a closed one of each member. */
const ERRANDS = 15

/** contract.md section 6, write scope. The entity files are errands.ts and documents.ts. */
describeLibrary('a write scope', (store, kind) => {
  const run = (sql: string, values: readonly (string | number | Buffer | null)[] = []): Promise<Row[]> =>
    store.sql.run(sql, [...values])

  const fill = async (): Promise<void> => {
    await run('DELETE FROM errands')
    const rows = Array.from({ length: ERRANDS }, (_, at) => at + 1)
    await run(
      `INSERT INTO errands (id, title, member_id, branch_id, is_open, row_version)
        VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?)').join()}`,
      rows.flatMap((n) => [n, `T${n}`, (n % 3) + 1, (n % 4) + 1, n % 5 === 0 ? 0 : 1, versionOf(n)])
    )
  }
  const versionOf = (n: number): Buffer => Buffer.from([0, 0, 0, 0, 0, 0, 1, n])
  const tagOf = (n: number): string => `W/"${versionOf(n).toString('base64')}"`
  const stored = (): Promise<Row[]> =>
    run('SELECT id, title, member_id, branch_id, is_open, HEX(row_version) AS version FROM errands ORDER BY id')
  const idsWhere = async (where: string): Promise<number[]> =>
    (await run(`SELECT id FROM errands WHERE ${where} ORDER BY id`)).map(({ id }) => Number(id))

  const send = (
    claims: Claims,
    method: string,
    path: string,
    { body, tag }: { readonly body?: unknown; readonly tag?: string } = {}
  ): Promise<Answer> =>
    store.as(claims, path, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(tag === undefined ? {} : { 'if-match': tag })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const codeOf = (answer: Answer): string => `${answer.status} ${(json(answer) as { code: string }).code}`
  const problemOf = (answer: Answer): object => {
    const { instance: _path, requestId: _id, ...rest } = json(answer) as Record<string, unknown>
    return rest
  }

  beforeEach(fill)

  for (const [at, [name, claims, change, remove]] of WRITERS.entries()) {
    for (const [number, [method, title, action, body]] of (
      [
        ['PATCH', 'a patch', '', {}],
        ['PUT', 'an action of the state alone', '/give', { memberId: 0 }],
        ['PUT', 'an action that looks at the row', '/move', { branchId: 0 }]
      ] as const
    ).entries()) {
      // Each on one of the two databases in turn, and on both in the soak.
      if (!isSoak && (at + number) % 2 !== Number(kind === 'sqlite')) continue
      it(`lets ${name} reach its rows by ${title}, and answers 404 for all others`, async () => {
        const reached = await idsWhere(change)
        const absent = await send(claims, method, `/errands/999${action}`, { body, tag: tagOf(1) })
        expect(codeOf(absent)).to.equal('404 not-found')
        const before = await stored()
        for (let n = 1; n <= ERRANDS; n++) {
          const [row] = await run('SELECT member_id AS memberId, branch_id AS branchId FROM errands WHERE id = ?', [n])
          const open = n % 5 !== 0 || action !== '/give'
          const asIs =
            action === '/give' ? { memberId: Number(row?.['memberId']) } : { branchId: Number(row?.['branchId']) }
          const answer = await send(claims, method, `/errands/${n}${action}`, {
            body: action === '' ? body : asIs,
            tag: tagOf(n)
          })
          const wanted = reached.includes(n) ? (open ? 200 : 422) : 404
          expect(answer.status, `errand ${n}: ${answer.text}`).to.equal(wanted)
          if (wanted === 404) expect(problemOf(answer)).to.deep.equal(problemOf(absent))
        }
        const written = (await stored()).filter((row, at) => row['version'] !== before[at]?.['version'])
        const expected = reached.filter((n) => n % 5 !== 0 || action !== '/give')
        expect(written.map(({ id }) => Number(id))).to.deep.equal(expected)
      })
    }

    if (isSoak || at % 2 === Number(kind === 'sqlite')) {
      it(`lets ${name} reach its rows by their unique title, and answers 404 for all others`, async () => {
        const reached = await idsWhere(change)
        const absent = await send(claims, 'PUT', '/errands/by/title/T999', {
          body: { memberId: 1, branchId: 2, isOpen: true },
          tag: tagOf(1)
        })
        const before = await stored()
        for (let n = 1; n <= ERRANDS; n++) {
          const [row] = await run('SELECT member_id AS memberId, branch_id AS branchId FROM errands WHERE id = ?', [n])
          const body = { memberId: Number(row?.['memberId']), branchId: Number(row?.['branchId']), isOpen: true }
          const path = `/errands/by/title/t${n}`
          const [read, answer] = [
            await send(claims, 'GET', path),
            await send(claims, 'PUT', path, { body, tag: tagOf(n) })
          ]
          const wanted = reached.includes(n) ? 200 : 404
          expect([read.status, answer.status], `errand ${n}: ${answer.text}`).to.deep.equal([wanted, wanted])
          if (wanted === 404)
            expect([problemOf(read), problemOf(answer)]).to.deep.equal(Array(2).fill(problemOf(absent)))
        }
        const written = (await stored()).filter((row, at) => row['version'] !== before[at]?.['version'])
        expect(written.map(({ id }) => Number(id))).to.deep.equal(reached)
      })
    }

    it(`lets ${name} delete its rows alone`, async () => {
      const reached = remove === null ? [] : await idsWhere(remove)
      const all = await idsWhere('1 = 1')
      for (const n of all) {
        const answer = await send(claims, 'DELETE', `/errands/${n}`)
        expect(answer.status, `errand ${n}`).to.equal(remove === null ? 403 : reached.includes(n) ? 204 : 404)
      }
      expect(await idsWhere('1 = 1')).to.deep.equal(all.filter((n) => !reached.includes(n)))
    })
  }

  it('rejects what would leave a row outside of it, and writes nothing', async () => {
    const before = await stored()
    const [own] = await idsWhere('member_id = 1 AND branch_id <> 2 AND is_open = 1')
    const [ofBranch] = await idsWhere('branch_id = 2 AND member_id <> 1')
    const full = { title: 'X', memberId: 2, branchId: 2, isOpen: true }
    for (const [claims, method, path, body] of [
      [MEMBER, 'PUT', '', full],
      [MEMBER, 'PATCH', '', { memberId: 3 }],
      [MEMBER, 'PUT', '/give', { memberId: 3 }],
      [LIBRARIAN, 'PUT', '', { ...full, branchId: 1 }],
      [LIBRARIAN, 'PATCH', '', { branchId: 1 }],
      [LIBRARIAN, 'PUT', '/move', { branchId: 1 }]
    ] as const) {
      const id = (claims === MEMBER ? own : ofBranch) ?? 0
      const answer = await send(claims, method, `/errands/${id}${path}`, { body, tag: tagOf(id) })
      expect(codeOf(answer), `${method} ${path}`).to.equal('403 ownership.denied')
    }
    expect(await stored()).to.deep.equal(before)
  })

  it('lets an action give a row away that says so, and shows the row only to who still sees it', async () => {
    const [own] = await idsWhere('member_id = 1 AND branch_id <> 2')
    const given = await send(MEMBER, 'PUT', `/errands/${own}/hand-over`, {
      body: { memberId: 2 },
      tag: tagOf(own ?? 0)
    })
    expect([given.status, json(given), given.headers['etag']]).to.deep.equal([200, { id: own }, undefined])
    const [row] = await run('SELECT member_id AS memberId FROM errands WHERE id = ?', [own ?? 0])
    expect(Number(row?.['memberId'])).to.equal(2)
    const [ofBranch] = await idsWhere('branch_id = 2 AND member_id = 3')
    const body = { memberId: 2 }
    const kept = await send(LIBRARIAN, 'PUT', `/errands/${ofBranch}/hand-over`, { body, tag: tagOf(ofBranch ?? 0) })
    expect(json(kept)).to.include({ id: ofBranch, memberId: 2, branchId: 2 })
    expect(kept.headers['etag']).to.be.a('string')
  })

  it('rejects new rows outside of it, alone and in batches, and writes nothing', async () => {
    const before = await stored()
    const inside = { title: 'New', memberId: 2, branchId: 2, isOpen: true }
    const outside = { ...inside, title: 'Newer', branchId: 1 }
    expect(codeOf(await send(LIBRARIAN, 'POST', '/errands', { body: outside }))).to.equal('403 ownership.denied')
    const batch = await send(LIBRARIAN, 'POST', '/errands/batch', { body: [inside, outside] })
    expect(codeOf(batch)).to.equal('403 ownership.denied')
    expect((json(batch) as { detail: string }).detail).to.match(/^Row 1, /)
    expect(codeOf(await send(MEMBER, 'POST', '/errands', { body: inside }))).to.equal('403 ownership.denied')
    expect(await stored()).to.deep.equal(before)
    const made = await send(LIBRARIAN, 'POST', '/errands', { body: inside })
    expect([made.status, (json(made) as Row)['memberId']]).to.deep.equal([201, 2])
    const { memberId: _claimed, ...rest } = { ...inside, title: 'Own' }
    const own = await send(MEMBER, 'POST', '/errands', { body: rest })
    expect([own.status, (json(own) as Row)['memberId']]).to.deep.equal([201, 1])
  })

  it('holds in batches of changes and of deletes, of which nothing stays when one row is not of it', async () => {
    const before = await stored()
    const [first = 0, second = 0] = await idsWhere('branch_id = 2')
    const [foreign = 0] = await idsWhere('branch_id <> 2')
    const item = (n: number, more: object = {}) => ({ id: n, rowVersion: versionOf(n).toString('base64'), ...more })
    const batch = (claims: Claims, method: 'PATCH' | 'POST', body: readonly object[]): Promise<Answer> =>
      send(claims, method, method === 'PATCH' ? '/errands/batch' : '/errands/batch/delete', { body })
    const told = (answer: Answer): unknown => {
      const { errors = [] } = json(answer) as { errors?: readonly { pointer?: string }[] }
      return [codeOf(answer), errors.map(({ pointer }) => pointer)]
    }
    const [changes, absent] = [{ isOpen: false }, item(999)]
    for (const other of [item(foreign), absent]) {
      const patched = await batch(LIBRARIAN, 'PATCH', [item(first, changes), { ...other, ...changes }])
      expect(told(patched)).to.deep.equal(['404 not-found', ['/1']])
      expect(told(await batch(LIBRARIAN, 'POST', [item(first), other]))).to.deep.equal(['404 not-found', ['/1']])
    }
    const leaving = await batch(LIBRARIAN, 'PATCH', [item(first, changes), item(second, { branchId: 1 })])
    expect(told(leaving)).to.deep.equal(['403 ownership.denied', ['/1']])
    expect(codeOf(await batch(MEMBER, 'POST', [item(first)]))).to.equal('403 capability.denied')
    expect(await stored()).to.deep.equal(before)
    const changed = await batch(LIBRARIAN, 'PATCH', [item(first, changes), item(second, changes)])
    expect(changed.status, changed.text).to.equal(200)
    const gone = await batch(LIBRARIAN, 'POST', json(changed) as object[])
    expect(gone.status, gone.text).to.equal(204)
    expect((await stored()).map(({ id }) => Number(id))).to.deep.equal(
      before.map(({ id }) => Number(id)).filter((id) => id !== first && id !== second)
    )
  })

  it(`holds in random batches of changes and deletes, as an oracle says, seed ${SEED}`, async function () {
    this.timeout(600_000)
    const all = async (): Promise<Map<number, Errand & { readonly rowVersion: string }>> => {
      const found = (await stored()).map((row) => ({
        id: Number(row['id']),
        title: String(row['title']),
        memberId: Number(row['member_id']),
        branchId: Number(row['branch_id']),
        isOpen: Number(row['is_open']) === 1,
        rowVersion: Buffer.from(String(row['version']), 'hex').toString('base64')
      }))
      return new Map(found.map((row) => [row.id, row]))
    }
    let done = 0
    for (let number = 0; number < BATCHES; number++) {
      if (number % 10 === 0) await fill()
      const random = new Random(SEED + number)
      const told = `batch of seed ${SEED + number}`
      const [claims, change, remove] = random.pick([REACHES[0] ?? [{}, () => false, null], ...REACHES])
      const isDelete = random.percent(20)
      const items = randomItems(random)
      const before = await all()
      const body = items.map(({ id, isStale, change: members }) => ({
        id,
        rowVersion: isStale ? 'AAAAAAAAAAA=' : (before.get(id)?.rowVersion ?? 'AAAAAAAAAAA='),
        ...(isDelete ? {} : members)
      }))
      const answer = isDelete
        ? await send(claims, 'POST', '/errands/batch/delete', { body })
        : await send(claims, 'PATCH', '/errands/batch', { body })
      const now = await all()
      if (isDelete && remove === null) {
        expect(codeOf(answer), told).to.equal('403 capability.denied')
        expect(now, told).to.deep.equal(before)
        continue
      }
      const outcome = outcomeOf(before, items, { reach: (isDelete ? remove : change) ?? change, isDelete })
      if ('codes' in outcome) {
        expect(outcome.codes, `${told}: ${answer.text}`).to.include(codeOf(answer))
        const { errors } = json(answer) as { readonly errors: readonly { readonly pointer: string }[] }
        expect(
          errors.map(({ pointer }) => pointer),
          told
        ).to.deep.equal([`/${outcome.at}`])
        expect(now, told).to.deep.equal(before)
        continue
      }
      done += 1
      expect(answer.status, `${told}: ${answer.text}`).to.equal(isDelete ? 204 : 200)
      const written = new Set(items.map(({ id }) => id))
      expect([...now.keys()], told).to.have.members([...outcome.rows.keys()])
      for (const [id, { rowVersion, ...row }] of now) {
        expect(rowVersion === before.get(id)?.rowVersion, `${told}, errand ${id}`).to.equal(!written.has(id))
        const { rowVersion: _, ...expected } = { rowVersion: '', ...outcome.rows.get(id) }
        expect(row, told).to.deep.equal(expected)
      }
      if (!isDelete) {
        expect(
          (json(answer) as Row[]).map((row) => [row['id'], row['rowVersion']]),
          told
        ).to.deep.equal(items.map(({ id }) => [id, now.get(id)?.rowVersion]))
      }
    }
    expect(done).to.be.greaterThan(0)
  })

  it('holds for each row of an import', async () => {
    const before = await idsWhere('1 = 1')
    const inside = { title: 'Brought', memberId: 2, branchId: 2, isOpen: true }
    const rows = [inside, { ...inside, title: 'Outside', branchId: 1 }, { ...inside, title: 'Brought too' }]
    const imported = (onError: string): Promise<Answer> =>
      store.as(LIBRARIAN, `/errands/import?onError=${onError}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `errands-${onError}` },
        body: rows.map((row) => JSON.stringify(row)).join('\n')
      })
    expect(codeOf(await imported('stop'))).to.equal('403 ownership.denied')
    expect(await idsWhere('1 = 1')).to.deep.equal(before)
    const { created, failed, errors } = json(await imported('skip')) as {
      created: number
      failed: number
      errors: Row[]
    }
    expect({ created, failed }).to.deep.equal({ created: 2, failed: 1 })
    expect(errors.map(({ row, code }) => [row, code])).to.deep.equal([[2, 'ownership.denied']])
    expect(await idsWhere("title IN ('Brought', 'Brought too') AND branch_id = 2")).to.have.length(2)
    expect(await idsWhere("title = 'Outside'")).to.deep.equal([])
  })

  it('comes before conflicts and states, and after 404 and the precondition', async () => {
    const before = await stored()
    const [own = 0] = await idsWhere('member_id = 1 AND branch_id <> 2 AND is_open = 1')
    const [closed = 0] = await idsWhere('member_id = 1 AND is_open = 0')
    const [foreign = 0] = await idsWhere('member_id = 2 AND branch_id <> 2')
    const taken = { title: `T${foreign}`, memberId: 2, branchId: 1, isOpen: true }
    const code = async (path: string, body: object, tag?: string): Promise<string> =>
      codeOf(await send(MEMBER, 'PUT', `/errands/${path}`, { body, ...(tag === undefined ? {} : { tag }) }))
    expect(await code(`${own}`, taken)).to.equal('428 precondition.required')
    expect(await code(`${foreign}`, taken, tagOf(foreign))).to.equal('404 not-found')
    expect(await code('999', taken, tagOf(own))).to.equal('404 not-found')
    expect(await code(`${own}`, taken, tagOf(own))).to.equal('403 ownership.denied')
    expect(await code(`${own}`, taken, tagOf(99))).to.equal('403 ownership.denied')
    expect(await code(`${closed}/give`, { memberId: 2 }, tagOf(closed))).to.equal('403 ownership.denied')
    expect(await code(`${closed}/give`, { memberId: 1 }, tagOf(closed))).to.equal('422 state.invalid')
    expect(await code(`${own}`, { ...taken, memberId: 1 }, tagOf(own))).to.equal('412 conflict')
    // The change that would leave the scope is never made where the row is another one than its caller saw.
    const stale = await send(LIBRARIAN, 'PUT', '/errands/1/move', { body: { branchId: 1 }, tag: tagOf(99) })
    expect(codeOf(stale)).to.equal('412 conflict')
    const { memberId: _claimed, ...create } = taken
    expect(codeOf(await send(MEMBER, 'POST', '/errands', { body: taken }))).to.equal('403 ownership.denied')
    expect(codeOf(await send(MEMBER, 'POST', '/errands', { body: create }))).to.equal('409 conflict')
    expect(await stored()).to.deep.equal(before)
  })

  it('holds for what a caller could not read, whatever the write access says', async () => {
    const [ofNone] = await idsWhere('member_id = 2 AND is_open = 0')
    const clerk = { sub: 'c', permissions: ['loans:read'] }
    const reopen = (claims: Claims, id = ofNone) =>
      send(claims, 'PUT', `/errands/${id}/reopen`, { body: {}, tag: tagOf(id ?? 0) })
    expect(codeOf(await reopen(clerk))).to.equal('403 capability.denied')
    expect(codeOf(await reopen({ ...clerk, member_id: 1 }))).to.equal('404 not-found')
    const owned = await reopen({ ...clerk, member_id: 2 })
    expect(owned.status, owned.text).to.equal(200)
    const document = { title: 'D', branchId: 3, isOpen: false, grade: 9 }
    const unseen = await send(LIBRARIAN, 'POST', '/documents', { body: document })
    expect(codeOf(unseen)).to.equal('403 ownership.denied')
    const seen = await send(LIBRARIAN, 'POST', '/documents', { body: { ...document, isOpen: true } })
    const { id } = json(seen) as { id: number }
    const hidden = { body: document, tag: String(seen.headers['etag']) }
    expect(codeOf(await send(LIBRARIAN, 'PUT', `/documents/${id}`, hidden))).to.equal('403 ownership.denied')
  })

  it('goes beyond what its caller reads where the entity says so, and shows nothing but the id', async () => {
    const made = await send(LIBRARIAN, 'POST', '/complaints', { body: { text: 'a', about: 'ann' } })
    const { id } = json(made) as { id: number }
    expect([made.status, json(made), made.headers['etag']]).to.deep.equal([201, { id }, undefined])
    expect((await store.as(LIBRARIAN, `/complaints/${id}`)).status).to.equal(404)
    const shown = await store.as({ sub: 'ann' }, `/complaints/${id}`)
    const changed = await send(LIBRARIAN, 'PATCH', `/complaints/${id}`, {
      body: { text: 'b' },
      tag: String(shown.headers['etag'])
    })
    expect([changed.status, json(changed)]).to.deep.equal([200, { id }])
    const batch = await send(LIBRARIAN, 'POST', '/complaints/batch', {
      body: [{ text: 'c' }, { text: 'd', about: 'l' }]
    })
    const [first, second] = json(batch) as Row[]
    expect(Object.keys(first ?? {})).to.deep.equal(['id'])
    expect(second).to.include({ text: 'd', about: 'l' })
    expect((await send(LIBRARIAN, 'DELETE', `/complaints/${id}`)).status).to.equal(204)
    const { paths, components } = json(await store.as(LIBRARIAN, '/openapi.json')) as {
      paths: Record<string, { post: { responses: { 201: Response } }; put: { responses: { 200: { $ref: string } } } }>
      components: { responses: Record<string, Response> }
    }
    const ofCreate = (path: string) => paths[path]?.post.responses[201].content['application/json']?.schema
    const ofPut = (path: string) => {
      const name = paths[path]?.put.responses[200].$ref.split('/').at(-1)
      return components.responses[name ?? '']?.content['application/json']?.schema
    }
    const oneOrId = (name: string): object => ({
      anyOf: [name, `${name}.unseen`].map((one) => ({ $ref: `#/components/schemas/${one}` }))
    })
    expect(ofCreate('/complaints')).to.deep.equal(oneOrId('complaints'))
    expect(ofCreate('/errands')).to.deep.equal({ $ref: '#/components/schemas/errands' })
    expect(ofPut('/errands/{id}/hand-over')).to.deep.equal(oneOrId('errands'))
    expect(ofPut('/errands/{id}/give')).to.deep.equal({ $ref: '#/components/schemas/errands' })
    expect(ofPut('/errands/{id}')).to.deep.equal({ $ref: '#/components/schemas/errands' })
    expect(await run('SELECT id FROM complaints WHERE id = ?', [id])).to.deep.equal([])
  })

  it('is the same over gRPC', async () => {
    const grpc = new GrpcCaller(store.stack.dataAddress)
    const token = store.tokenOf(MEMBER)
    const before = await stored()
    const [own = 0] = await idsWhere('member_id = 1 AND branch_id <> 2')
    const [foreign = 0] = await idsWhere('member_id = 2')
    const told = async (method: 'Create' | 'Update' | 'Delete' | 'Act', request: object): Promise<unknown> => {
      const answer = await grpc.unary(method, { resource: 'errands', ...request }, { token })
      return isFailure(answer) ? [answer.status, answer.details.reason] : answer
    }
    const tags = (n: number) => ({ kind: 'PRECONDITION_KIND_TAGS', versions: [versionOf(n)] })
    const body = Buffer.from(JSON.stringify({ title: 'X', memberId: 2, branchId: 1, isOpen: true }))
    const missing = [status.NOT_FOUND, 'not-found']
    const denied = [status.PERMISSION_DENIED, 'ownership.denied']
    const guarded = (n: number) => ({ id: String(n), precondition: tags(n) })
    try {
      expect(await told('Update', { ...guarded(foreign), body })).to.deep.equal(missing)
      expect(await told('Update', { ...guarded(own), body })).to.deep.equal(denied)
      expect(await told('Create', { body })).to.deep.equal(denied)
      const give = { action: 'give', body: Buffer.from('{"memberId":2}') }
      expect(await told('Act', { ...guarded(own), ...give })).to.deep.equal(denied)
      expect(await told('Act', { ...guarded(foreign), ...give })).to.deep.equal(missing)
      expect(await told('Delete', { id: String(own) })).to.deep.equal([status.PERMISSION_DENIED, 'capability.denied'])
      expect(await stored()).to.deep.equal(before)
    } finally {
      grpc.close()
    }
  })

  if (kind !== 'sqlite') {
    it('is a part of the UPDATE and of the read before the COMMIT, without a further statement', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const textsOf = async (path: string, write: () => Promise<Answer>): Promise<string[]> => {
          const lines = await log.during(async () => {
            const answer = await write()
            expect(answer.status, `${path}: ${answer.text}`).to.be.oneOf([200, 204])
          })
          return lines.filter(({ command }) => command === 'Execute').map(({ text }) => text)
        }
        const [own = 0] = await idsWhere('member_id = 1')
        const scoped = await textsOf('errands', () =>
          send(MEMBER, 'PATCH', `/errands/${own}`, { body: { title: 'Q' }, tag: tagOf(own) })
        )
        await run("INSERT INTO complaints (id, text, about, row_version) VALUES (77, 'x', 'l', ?)", [versionOf(7)])
        const plain = await textsOf('complaints', () =>
          send({ ...LIBRARIAN, role: 'Admin' }, 'PATCH', '/complaints/77', { body: { text: 'Q' }, tag: tagOf(7) })
        )
        // Errands have a history, for which the row is read under its lock before.
        expect(scoped.length).to.equal(plain.length + 1)
        // The entry of the audit trail has the name as a value, which the log shows where the statement was known already.
        const about = scoped.filter((text) => /\b(?:UPDATE|FROM) `errands`/.test(text))
        expect(about).to.have.length(3)
        for (const text of about) expect(text.replace(/^.*?\bWHERE\b/i, '')).to.include('member_id')
        const rows = async (count: number) =>
          (await run('SELECT id, HEX(row_version) AS version FROM errands WHERE branch_id = 2 ORDER BY id'))
            .slice(0, count)
            .map(({ id, version }) => ({ id: Number(id), tag: Buffer.from(String(version), 'hex').toString('base64') }))
        for (const [name, count, statement, write] of [
          [
            'an action',
            1,
            'UPDATE',
            ([row]) =>
              send(LIBRARIAN, 'PUT', `/errands/${row?.id}/move`, { body: { branchId: 2 }, tag: `W/"${row?.tag}"` })
          ],
          [
            'a batch of changes',
            2,
            'UPDATE',
            (two) =>
              send(LIBRARIAN, 'PATCH', '/errands/batch', {
                body: two.map(({ id, tag }) => ({ id, rowVersion: tag, isOpen: false }))
              })
          ],
          ['a delete', 1, 'DELETE', ([row]) => send(LIBRARIAN, 'DELETE', `/errands/${row?.id}`)],
          [
            'a batch of deletes',
            2,
            'DELETE',
            (two) =>
              send(LIBRARIAN, 'POST', '/errands/batch/delete', {
                body: two.map(({ id, tag }) => ({ id, rowVersion: tag }))
              })
          ]
        ] as const satisfies readonly Written[]) {
          const texts = await textsOf(name, async () => write(await rows(count)))
          const written = texts.filter((text) => text.startsWith(statement) && text.includes('`errands`'))
          expect(written, name).to.have.length(count)
          for (const text of written) expect(text.replace(/^.*?\bWHERE\b/i, ''), name).to.include('branch_id')
        }
      } finally {
        await log.close()
      }
    })
  }
})
