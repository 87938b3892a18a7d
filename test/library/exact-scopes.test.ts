import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { type Answer, filter, ids, json } from '../api/http-call.js'
import { isSoak } from '../harness/in-soak.js'
import { StatementLog } from '../api/statement-log.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>

/** Authors whom the databases' collations or PAD SPACE take for others, each of the diary with the number of its place. */
const AUTHORS = [
  'anna',
  'Anna',
  'Anna ',
  'Änna',
  'ANNA',
  'a\u0308nna',
  'anna\u0001',
  'Anna Maria',
  'hanna',
  'Straße',
  'Strasse',
  '',
  '\u0001',
  null
]

const isBy = (test: (author: string) => boolean) => (author: string | null) => author !== null && test(author)

/** Scopes and, written by hand, the authors whose diaries are in them. */
const SCOPES: readonly (readonly [claims: Claims, isInside: (author: string | null) => boolean])[] = [
  ...['anna', 'Anna', 'Anna ', 'Änna', 'aNNA', 'Strasse', 'Stra\u00dfe'].map(
    (sub) => [{ sub }, (author: string | null) => author === sub] as const
  ),
  [{ sub: 'x', operator: 'in', names: ['Anna', 'STRASSE', 'hanna'] }, (one) => one === 'Anna' || one === 'hanna'],
  [{ sub: 'x', operator: 'not equals', part: 'Anna' }, (one) => one !== 'Anna'],
  // No column holds U+0000.
  [{ sub: 'x', operator: 'in', names: ['Anna', 'hanna\0'] }, (one) => one === 'Anna'],
  [{ sub: 'x', operator: 'not equals', part: 'Anna\0' }, () => false],
  [{ sub: 'x', operator: 'starts with', part: 'Ann' }, isBy((one) => one.startsWith('Ann'))],
  [{ sub: 'x', operator: 'ends with', part: 'Anna' }, isBy((one) => one.endsWith('Anna'))],
  [{ sub: 'x', operator: 'ends with', part: '' }, isBy(() => true)],
  [{ sub: 'x', operator: 'contains', part: 'ann' }, isBy((one) => one.includes('ann'))],
  [{ sub: 'x', operator: 'contains', part: '_' }, () => false],
  [{ sub: 'x', operator: 'not contains', part: 'ann' }, (one) => one === null || !one.includes('ann')],
  [{ sub: 'x', operator: 'is empty' }, (one) => one === null || one === ''],
  [{ sub: 'x', operator: 'is not empty' }, isBy((one) => one !== '')]
]

/** contract.md section 6: a scope compares text exactly. The entity file is diaries.ts. */
describeLibrary('a scope over text', (store, kind) => {
  const run = (sql: string, values: readonly (string | number | Buffer | null)[] = []) =>
    store.sql.run(sql, [...values])
  const versionOf = (n: number): Buffer => Buffer.from([0, 0, 0, 0, 0, 0, 1, n])
  const tagOf = (n: number): string => `W/"${versionOf(n).toString('base64')}"`
  const stored = () => run('SELECT id, title, author, HEX(row_version) AS version FROM diaries ORDER BY id')
  const insideOf = (isInside: (author: string | null) => boolean): number[] =>
    AUTHORS.flatMap((author, at) => (isInside(author) ? [at + 1] : []))
  const send = (claims: Claims, [method, target]: readonly [string, string], body?: object, tag?: string) =>
    store.as(claims, target, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(tag === undefined ? {} : { 'if-match': tag })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const codeOf = (answer: Answer): string => `${answer.status} ${(json(answer) as { code: string }).code}`

  beforeEach(async () => {
    await run('UPDATE diaries SET previous_id = NULL')
    await run('DELETE FROM diaries')
    await run(
      `INSERT INTO diaries (id, title, author, previous_id, row_version)
        VALUES ${AUTHORS.map(() => '(?, ?, ?, ?, ?)').join()}`,
      AUTHORS.flatMap((author, at) => [at + 1, `T${at + 1}`, author, at === 0 ? null : at, versionOf(at + 1)])
    )
  })

  for (const [at, [claims, isInside]] of SCOPES.entries()) {
    // Every scope reads on one database and writes on the other, and both on both in the soak.
    const reads = isSoak || (at % 2 === 0) === (kind === 'mysql')
    const writes = isSoak || !reads
    if (reads)
      it(`shows ${JSON.stringify(claims)} the rows with exactly this text by every read`, async () => {
        const expected = insideOf(isInside)
        const read = (target: string): Promise<Answer> => store.as(claims, `/diaries${target}`)
        expect(ids(await read('')), 'list').to.deep.equal(expected)
        const paged = await read('/paged?pageSize=500&sortColumn=author')
        expect(new Set(ids(paged)), 'paged').to.deep.equal(new Set(expected))
        for (const size of [1, 500]) {
          const { headers } = await read(`/paged?pageSize=${size}&pageNumber=1&${filter('title', 'contains', 't')}`)
          expect(headers['x-total-count'], `count of pages of ${size}`).to.equal(String(expected.length))
        }
        const csv = await read('/export?bom=false&fields=id')
        expect(csv.text.split('\r\n').slice(1, -1).map(Number), 'export').to.deep.equal(expected)
        const { items } = json(await read('/lookup')) as { items: { id: number }[] }
        expect(new Set(items.map(({ id }) => id)), 'lookup').to.deep.equal(new Set(expected))
        const including = json(await read('?includeFKs=true')) as { id: number; previous: { id: number } | null }[]
        for (const { id, previous } of including) {
          expect(previous?.id ?? null, `the reference of ${id}`).to.equal(expected.includes(id - 1) ? id - 1 : null)
        }
        const answers = await Promise.all(AUTHORS.map((_, at) => read(`/${at + 1}`)))
        expect(answers.flatMap((answer, at) => (answer.status === 200 ? [at + 1] : []))).to.deep.equal(expected)
        const rpc = new GrpcCaller(store.stack.dataAddress)
        try {
          const list = await rpc.unary('List', { resource: 'diaries' }, { token: store.tokenOf(claims) })
          const { records } = list as { records: { json: Buffer }[] }
          const listed = records.map((record) => (JSON.parse(record.json.toString()) as { id: number }).id)
          expect(listed, 'gRPC').to.deep.equal(expected)
        } finally {
          rpc.close()
        }
      })

    if (writes)
      it(`lets ${JSON.stringify(claims)} write the rows with exactly this text alone`, async () => {
        const expected = insideOf(isInside)
        await run('UPDATE diaries SET previous_id = NULL')
        for (const [at] of AUTHORS.entries()) {
          const [id, found] = [at + 1, expected.includes(at + 1)]
          const title = `New ${id}`
          const patched = await send(claims, ['PATCH', `/diaries/${id}`], { title }, tagOf(id))
          expect(patched.status, `PATCH of ${id}: ${patched.text}`).to.equal(found ? 200 : 404)
          const { status: deleted } = await send(claims, ['DELETE', `/diaries/${id}`])
          expect(deleted, `DELETE of ${id}`).to.equal(found ? 204 : 404)
        }
        expect((await stored()).map(({ id }) => Number(id))).to.deep.equal(insideOf((author) => !isInside(author)))
      })
  }

  it('rejects a row that would have a text that is the same to filters alone', async () => {
    const [anna, before] = [{ sub: 'anna' }, await stored()]
    const row = { title: 'New', previousId: null }
    for (const author of ['Anna', 'anna ', 'änna', 'ANNA', 'a\u0308nna', 'anna\u0001']) {
      for (const answer of [
        await send(anna, ['POST', '/diaries'], { ...row, author }),
        await send(
          anna,
          ['POST', '/diaries/batch'],
          [
            { ...row, author: 'anna' },
            { ...row, title: 'Newer', author }
          ]
        ),
        await send(anna, ['PUT', '/diaries/1'], { ...row, author }, tagOf(1)),
        await send(anna, ['PATCH', '/diaries/1'], { author }, tagOf(1)),
        await send(anna, ['PUT', '/diaries/1/sign'], { author }, tagOf(1))
      ]) {
        expect(codeOf(answer), author).to.equal('403 ownership.denied')
      }
      // A taken title is a conflict, which is reported after the scope.
      const taken = author.endsWith(' ') ? '409 conflict' : '403 ownership.denied'
      const conflicting = await send(anna, ['POST', '/diaries'], { title: 'T2', author })
      expect(codeOf(conflicting), `${author}, with a conflict`).to.equal(taken)
    }
    expect(await stored()).to.deep.equal(before)
    const made = await send(anna, ['POST', '/diaries'], { ...row, author: 'anna' })
    expect(made.status, made.text).to.equal(201)
    const spaced = await send({ sub: 'anna ' }, ['POST', '/diaries'], { ...row, title: 'Spaced', author: 'anna ' })
    expect([spaced.status, (json(spaced) as { author: string }).author]).to.deep.equal([201, 'anna '])
  })

  it('is the same for writes over gRPC', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    const before = await stored()
    const token = store.tokenOf({ sub: 'ANNA' })
    const told = async (method: 'Create' | 'Update' | 'Delete' | 'Act', request: object): Promise<unknown> => {
      const answer = await rpc.unary(method, { resource: 'diaries', ...request }, { token })
      return isFailure(answer) ? [answer.status, answer.details.reason] : answer
    }
    const guarded = (n: number) => ({
      id: String(n),
      precondition: { kind: 'PRECONDITION_KIND_TAGS', versions: [versionOf(n)] }
    })
    const bodyOf = (author: string) => ({
      body: Buffer.from(JSON.stringify({ title: 'New', author, previousId: null }))
    })
    const [missing, denied] = [
      [status.NOT_FOUND, 'not-found'],
      [status.PERMISSION_DENIED, 'ownership.denied']
    ]
    try {
      for (const id of [1, 2, 3, 4]) {
        expect(await told('Update', { ...guarded(id), ...bodyOf('ANNA') })).to.deep.equal(missing)
        expect(
          await told('Act', { ...guarded(id), action: 'sign', body: Buffer.from('{"author":"ANNA"}') })
        ).to.deep.equal(missing)
        expect(await told('Delete', { id: String(id) })).to.deep.equal(missing)
      }
      expect(await told('Update', { ...guarded(5), ...bodyOf('anna') })).to.deep.equal(denied)
      expect(await told('Create', bodyOf('Anna'))).to.deep.equal(denied)
      expect(await stored()).to.deep.equal(before)
      expect(await told('Update', { ...guarded(5), ...bodyOf('ANNA') })).to.have.property('record')
    } finally {
      rpc.close()
    }
  })

  it('leaves the rules of filters and of conditions of own reads as they are', async () => {
    const seen: Claims = { sub: 'x', operator: 'is not empty' }
    const found = await store.as(seen, `/diaries/paged?${filter('author', 'equals', 'ANNA')}`)
    expect(ids(found)).to.include.members([1, 2, 5])
    const titles = json(await store.as(seen, '/diaries/titles-of?author=ANNA'))
    expect(titles).to.include.members(['T1', 'T2', 'T5'])
  })

  if (kind !== 'sqlite') {
    it('is served by an index, and has one text whatever the claims', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const lines = await log.during(async () => {
          for (const sub of ['anna', 'Anna', 'Änna', "o'neil", ' ']) {
            expect((await store.as({ sub }, '/diaries?fields=id')).status).to.equal(200)
          }
        })
        const texts = new Set(lines.filter(({ command }) => command === 'Prepare').map(({ text }) => text))
        expect([...texts]).to.have.length(1)
        const [text = ''] = texts
        // The last one is the LIMIT.
        const values = Array.from(text.matchAll(/\?/g), () => 'anna').slice(1)
        const [plan] = await run(`EXPLAIN ${text}`, [...values, 10])
        expect(String(plan?.['possible_keys'])).to.include('author')
      } finally {
        await log.close()
      }
    })
  }
})
