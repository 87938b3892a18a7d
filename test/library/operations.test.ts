import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { expectProblem } from '../api/expect-problem.js'
import { type Answer, type CallOptions, json } from '../api/http-call.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeLibrary } from './describe-library.js'
import { parametersOf } from '../harness/openapi-document.js'

const LIBRARIAN = { role: 'Librarian', sub: 'lib' }
const ADMIN = { role: 'Admin', sub: 'adm' }
const READER = { sub: 'y', branches: [1] }
const NOBODY = {}
const BODY = { 'content-type': 'application/json' }

const PLACE = { branchId: 3 }
const REPAINT = { to: '#ABCDEF', ids: [1, 2], note: null, extra: [{ name: 'New', price: '3.00' }], place: PLACE }

/** docs/own-operations.md */
describeLibrary(
  'an operation of the application',
  (store) => {
    const rows = [
      { name: 'Dawn', colour: '#ff8800', price: '10.50', mixedAt: '2026-01-01T00:00:00Z', branchId: 1 },
      { name: 'Dusk', colour: '#ff8800', price: '0.75', mixedAt: '2026-01-02T00:00:00Z', branchId: 1 },
      { name: 'Noon', colour: '#ffffff', price: '5.00', mixedAt: '2026-01-03T00:00:00Z', branchId: 2 }
    ]

    beforeEach(async () => {
      await store.sql.run('DELETE FROM swatches')
      await store.sql.run(
        store.sql.kind === 'sqlite'
          ? "DELETE FROM sqlite_sequence WHERE name = 'swatches'"
          : 'ALTER TABLE swatches AUTO_INCREMENT = 1'
      )
      const answer = await store.as(LIBRARIAN, '/swatches/batch', {
        method: 'POST',
        headers: BODY,
        body: JSON.stringify(rows)
      })
      expect(answer.status, answer.text).to.equal(201)
    })

    type Claims = Readonly<Record<string, unknown>>
    const as = (claims: Claims, target: string, options: CallOptions = {}): Promise<Answer> =>
      store.as(claims === NOBODY ? undefined : claims, target, options)
    const send = (
      claims: Claims,
      route: `${string} ${string}`,
      body: unknown,
      headers: Record<string, string> = {}
    ): Promise<Answer> => {
      const [method = '', target = ''] = route.split(' ')
      return as(claims, target, {
        method,
        headers: { ...(body === undefined ? {} : BODY), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    }
    const repaint = (body: unknown, headers: Record<string, string> = {}, claims: Claims = LIBRARIAN) =>
      send(claims, 'POST /reports/repaints', body, headers)
    const problem = (answer: Answer, status: number, code: string, violations: readonly object[] = []) =>
      expectProblem(answer, {
        status,
        code,
        base: store.stack.url,
        ...(violations.length === 0 ? {} : { violations: violations as never })
      })
    const colours = async (): Promise<unknown[]> =>
      (await store.sql.run('SELECT colour FROM swatches ORDER BY id')).map(({ colour }) => colour)

    describe('that reads', () => {
      it('answers what it declares, in the forms of the wire, and nothing else of the rows', async () => {
        const answer = await as(ADMIN, '/reports/branches/1')
        expect(answer.status, answer.text).to.equal(200)
        expect(answer.text).to.equal(
          '{"branchId":1,"count":2,"exact":"9007199254740993","cheapest":"0.75",' +
            '"newest":{"name":"Dusk","mixedAt":"2026-01-02T00:00:00.000Z","tags":["a","b"]},' +
            '"swatches":[{"id":2,"name":"Dusk","colour":"#ff8800","price":"0.75"},' +
            '{"id":1,"name":"Dawn","colour":"#ff8800","price":"10.50"}]}'
        )
        expect(answer.headers).to.include({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'no-store',
          'api-supported-versions': '1.0'
        })
        expect(answer.headers['x-request-id']).to.be.a('string')
        expect(answer.headers).to.not.have.any.keys('etag', 'x-ignored-parameters', 'idempotent-replayed')
      })

      it('finds the rows of its caller alone, unless it spells out that it reads all', async () => {
        const seen = json(await as(READER, '/reports/branches/1')) as { count: number }
        expect(seen.count).to.equal(2)
        problem(await as(READER, '/reports/branches/2'), 404, 'not-found')
        problem(await as(NOBODY, '/reports/branches/1'), 401, 'auth.required')
        expect(json(await as(NOBODY, '/reports/colours'))).to.deep.equal([
          { colour: '#ff8800', swatches: 2, total: '11.25', first: '2026-01-01T00:00:00.000Z' },
          { colour: '#ffffff', swatches: 1, total: '5.00', first: '2026-01-03T00:00:00.000Z' }
        ])
      })

      it('binds the values of its own SELECT', async () => {
        const found = async (query: string) => json(await as(NOBODY, `/reports/colours?${query}`))
        const white = { colour: '#ffffff', swatches: 1, total: '5.00', first: '2026-01-03T00:00:00.000Z' }
        const orange = { colour: '#ff8800', swatches: 1, total: '10.50', first: '2026-01-01T00:00:00.000Z' }
        expect(await found('least=5')).to.deep.equal([orange, white])
        expect(await found('least=5.01')).to.deep.equal([orange])
        expect(await found('from=2026-01-03')).to.deep.equal([white])
        expect(await found(`word=${encodeURIComponent("' OR 1=1 --")}`)).to.deep.equal([])
      })

      it('reads parameters as custom reads do, and tells all violations at once', async () => {
        const query = 'since=2026-01-02&tint=%23FF8800&MOST=1'
        const { swatches } = json(await as(ADMIN, `/reports/branches/1?${query}`)) as { swatches: { id: number }[] }
        expect(swatches.map(({ id }) => id)).to.deep.equal([2])
        problem(await as(ADMIN, '/reports/branches/x1?since=soon&tint=red&most=51&most=2'), 400, 'id.invalid', [
          { code: 'id.invalid', parameter: 'branchId' },
          { code: 'filter.value.invalid', parameter: 'since' },
          { code: 'filter.value.invalid', parameter: 'tint' },
          { code: 'filter.value.invalid', parameter: 'most' }
        ])
        problem(await as(ADMIN, '/reports/branches/0'), 400, 'id.invalid')
        problem(await as(NOBODY, '/reports/branches/x1?since=soon'), 401, 'auth.required')
      })

      it('names the parameters that it ignores, or rejects them under strict handling', async () => {
        const unknown = 'constructor=1&__proto__=2&branchId=7&fields=id'
        const answer = await as(ADMIN, `/reports/branches/1?${unknown}`)
        expect(answer.status).to.equal(200)
        expect(answer.headers['x-ignored-parameters']).to.equal('constructor,__proto__,branchId,fields')
        const strict = await as(ADMIN, `/reports/branches/1?${unknown}`, { headers: { prefer: 'handling=strict' } })
        problem(
          strict,
          400,
          'parameter.unknown',
          ['constructor', '__proto__', 'branchId', 'fields'].map((parameter) => ({
            code: 'parameter.unknown',
            parameter
          }))
        )
      })

      it('rejects parameters of 60 KB and ids that are too long', async () => {
        problem(await as(NOBODY, `/reports/colours?word=${'a'.repeat(60_000)}`), 400, 'filter.too-many')
        const answer = await as(ADMIN, `/reports/branches/${'9'.repeat(60_000)}`)
        expect(answer.status).to.equal(400)
        expect(answer.text.length).to.be.lessThan(62_000)
        expect((json(answer) as { code: string }).code).to.equal('id.invalid')
      })

      it('has the methods that it declares', async () => {
        const head = await as(ADMIN, '/reports/branches/1', { method: 'HEAD' })
        expect([head.status, head.text]).to.deep.equal([200, ''])
        const options = await as(NOBODY, '/reports/branches/1', { method: 'OPTIONS' })
        expect([options.status, options.headers['allow']]).to.deep.equal([204, 'GET, HEAD, PUT, DELETE, OPTIONS'])
        for (const method of ['POST', 'PATCH', 'QUERY', 'TRACE']) {
          const answer = await as(ADMIN, '/reports/branches/1', { method })
          problem(answer, 405, 'method.not-allowed')
          expect(answer.headers['allow']).to.equal('GET, HEAD, PUT, DELETE, OPTIONS')
        }
        for (const path of [
          '/reports',
          '/reports/',
          '/reports/branches',
          '/reports/branches/',
          '/reports/branches/1/x'
        ]) {
          for (const method of ['GET', 'POST', 'OPTIONS']) {
            const answer = await as(ADMIN, path, { method })
            problem(answer, 404, 'route.not-found')
          }
        }
        expect((await as(ADMIN, '/rep%6Frts/branches/%31')).status).to.equal(200)
        problem(await as(ADMIN, '/Reports/branches/1'), 404, 'route.not-found')
      })

      it('keeps the order of rejections', async () => {
        const version = { 'api-version': '2' }
        problem(await as(NOBODY, '/reports/nothing', { headers: version }), 404, 'route.not-found')
        problem(await as(NOBODY, '/reports/branches/1', { headers: version }), 400, 'version.unsupported')
        problem(
          await as(NOBODY, '/reports/branches/1', { headers: { authorization: 'Bearer x' } }),
          401,
          'auth.invalid-token'
        )
      })

      it('gets hidden columns of all rows, and none of those that it reads as its caller', async () => {
        await store.sql.run("UPDATE swatches SET recipe = 'shake' WHERE id = 2")
        const answer = json(await as(READER, '/reports/recipes/2')) as Readonly<Record<string, unknown>>
        expect(answer).to.deep.include({ one: 'shake', found: ['shake'], has: true })
        expect(answer['seen']).to.include('mixedAt').and.not.include('recipe').and.not.include('cost')
      })

      it('can change nothing', async () => {
        const answer = await as(NOBODY, '/reports/cheat')
        problem(answer, 500, 'internal')
        expect(answer.text).to.not.include('swatches')
        expect((await store.sql.run("SELECT id FROM swatches WHERE name = 'x'")).length).to.equal(0)
      })

      it('ends at the deadline of its call, even if it does not look at the signal', async () => {
        const rpc = new GrpcCaller(store.stack.dataAddress)
        try {
          const began = Date.now()
          const answer = await rpc
            .unary('Call', { operation: 'slow' }, { deadline: 500 })
            .catch((error: unknown) => error)
          expect(JSON.stringify(answer)).to.match(/"status":4|"code":4/)
          expect(Date.now() - began, 'milliseconds of a call that would take a minute').to.be.lessThan(30_000)
        } finally {
          rpc.close()
        }
      })
    })

    describe('that writes', () => {
      it('writes and answers in one transaction, with audit entries', async () => {
        const answer = await repaint(
          { ...REPAINT, note: 'x', place: { ...PLACE, shelf: 'A' } },
          { 'x-request-id': 'paint-1' }
        )
        expect(answer.status, answer.text).to.equal(201)
        expect(answer.text).to.equal('{"changed":2,"made":[4],"note":"x","total":3}')
        expect(answer.headers).to.include({ 'cache-control': 'no-store', 'api-supported-versions': '1.0' })
        expect(answer.headers).to.not.have.any.keys('etag', 'location')
        expect(await colours()).to.deep.equal(['#abcdef', '#abcdef', '#ffffff', '#abcdef'])
        const audit = await store.sql.run(
          "SELECT action FROM ur_audit_entries WHERE request_id = 'paint-1' ORDER BY id"
        )
        expect(audit.map(({ action }) => action)).to.deep.equal(['update', 'update', 'create'])
      })

      it('leaves nothing of a dry run', async () => {
        const before = await colours()
        const answer = await repaint(REPAINT, {
          'x-request-id': 'dry-1',
          'idempotency-key': 'dry',
          prefer: 'tx=rollback'
        })
        expect([answer.status, answer.headers['preference-applied']], answer.text).to.deep.equal([201, 'tx=rollback'])
        expect(answer.text).to.match(/^\{"changed":2,/)
        expect(await colours()).to.deep.equal(before)
        expect(await store.sql.run("SELECT action FROM ur_audit_entries WHERE request_id = 'dry-1'")).to.deep.equal([])
      })

      it('tells all violations of query and body at once', async () => {
        const wrong = {
          to: 'red',
          ids: [1, 0, 'x', 4],
          extra: [{ name: '', price: '1' }, 7, { name: 'ok', price: '1.005' }],
          place: { branchId: '3' }
        }
        const answer = await send(LIBRARIAN, 'POST /reports/repaints?dryRun=maybe-so', wrong)
        problem(answer, 400, 'filter.value.invalid', [
          { code: 'filter.value.invalid', parameter: 'dryRun' },
          { code: 'body.invalid', pointer: '/to', says: 'to must have 7 characters.' },
          { code: 'body.invalid', pointer: '/note', says: 'note is missing; it may be null.' },
          { code: 'body.invalid', pointer: '/ids', says: 'ids must be an array of 1 to 3.' },
          { code: 'body.invalid', pointer: '/extra/0/name' },
          { code: 'body.invalid', pointer: '/extra/1', says: 'extra/1 must be a JSON object.' },
          { code: 'body.invalid', pointer: '/extra/2/price' },
          { code: 'body.invalid', pointer: '/place/branchId' }
        ])
        problem(await repaint({ ...REPAINT, ids: [1, 0] }), 400, 'body.invalid', [
          { code: 'body.invalid', pointer: '/ids/1' }
        ])
        const missing = ['/to', '/note', '/ids', '/place'].map((pointer) => ({ code: 'body.invalid', pointer }))
        problem(await repaint({}), 400, 'body.invalid', missing)
        problem(await repaint([]), 400, 'body.invalid')
        expect(await colours()).to.deep.equal(['#ff8800', '#ff8800', '#ffffff'])
      })

      it('names the members that it ignores, of prototypes too, or rejects them', async () => {
        const body = JSON.stringify(REPAINT)
          .replace('{', '{"__proto__":1,"constructor":2,')
          .replace('"branchId"', '"x":1,"branchId"')
        const sendText = (headers: Record<string, string>) =>
          as(LIBRARIAN, '/reports/repaints?who=me', { method: 'POST', headers: { ...BODY, ...headers }, body })
        const answer = await sendText({})
        expect(answer.status, answer.text).to.equal(201)
        expect(decodeURIComponent(String(answer.headers['x-ignored-parameters'])).split(',')).to.have.members([
          'who',
          'body.__proto__',
          'body.constructor',
          'body.place/x'
        ])
        problem(await sendText({ prefer: 'handling=strict' }), 400, 'parameter.unknown', [
          { code: 'parameter.unknown', pointer: '/__proto__' },
          { code: 'parameter.unknown', pointer: '/constructor' },
          { code: 'parameter.unknown', pointer: '/place/x' },
          { code: 'parameter.unknown', parameter: 'who' }
        ])
      })

      it('is for those who may', async () => {
        problem(await repaint(REPAINT, {}, NOBODY), 401, 'auth.required')
        problem(await repaint({ to: 7 }, {}, READER), 403, 'capability.denied')
        problem(await repaint(REPAINT, { 'content-type': 'text/plain' }), 415, 'media-type.unsupported')
        problem(await repaint(REPAINT, { 'idempotency-key': 'a\tb' }, NOBODY), 400, 'idempotency.key.invalid')
        const malformed = { method: 'POST', headers: BODY, body: '{' }
        problem(await as(NOBODY, '/reports/repaints', malformed), 400, 'body.malformed')
        const large = { ...malformed, body: `{"to":"${'a'.repeat(1_100_000)}"}` }
        problem(await as(LIBRARIAN, '/reports/repaints', large), 413, 'body.too-large')
      })

      it('takes and answers sets, bytes and JSON in their forms on the wire', async () => {
        const body = { words: ['matt', 'gloss'], bytes: 'AQI=', none: null, value: { a: [1.5] }, all: ['AQ==', ''] }
        const answer = await send(READER, 'POST /reports/echoes', body)
        expect([answer.status, json(answer)]).to.deep.equal([200, { ...body, no: null }])
        // More bytes than the answer declares.
        problem(await send(READER, 'POST /reports/echoes', { ...body, bytes: 'AQID' }), 500, 'internal')
        problem(await send(READER, 'POST /reports/echoes', { ...body, words: ['dull'] }), 400, 'body.invalid', [
          { code: 'body.invalid', pointer: '/words' }
        ])
      })

      it('replays its answer to a retry with the same key, and stores none of a rejection', async () => {
        const key = { 'idempotency-key': 'paint' }
        problem(await repaint({ ...REPAINT, ids: [99] }, key), 400, 'body.invalid', [
          { code: 'body.invalid', pointer: '/ids/0' }
        ])
        const first = await repaint(REPAINT, key)
        expect(first.status, first.text).to.equal(201)
        const again = await repaint(Object.fromEntries(Object.entries(REPAINT).toReversed()), key)
        expect([again.status, again.text, again.headers['idempotent-replayed']]).to.deep.equal([
          201,
          first.text,
          'true'
        ])
        problem(await repaint({ ...REPAINT, to: '#000000' }, key), 422, 'idempotency.key.reused')
        problem(await send(LIBRARIAN, 'POST /reports/repaints?dryRun=yes', REPAINT, key), 422, 'idempotency.key.reused')
        const other = await repaint(REPAINT, key, ADMIN)
        expect([other.status, other.headers['idempotent-replayed']]).to.deep.equal([201, undefined])
        const made = await store.sql.run("SELECT id FROM swatches WHERE name = 'New'")
        expect(made).to.have.length(2)
      })

      it('keeps its answer from a retry with fewer roles or permissions, and from no other', async () => {
        const key = { 'idempotency-key': 'demoted' }
        const both = { ...LIBRARIAN, role: ['Librarian', 'Admin'] }
        const first = await repaint(REPAINT, key, both)
        expect(first.status, first.text).to.equal(201)
        const header = [{ code: 'capability.denied', header: 'Idempotency-Key' }]
        problem(await repaint(REPAINT, key), 403, 'capability.denied', header)
        problem(await repaint(REPAINT, key, { ...both, branches: [2] }), 403, 'capability.denied', header)
        const newer = { ...both, exp: Math.floor(Date.now() / 1000) + 1000, jti: 'another' }
        expect((await repaint(REPAINT, key, newer)).text).to.equal(first.text)
        problem(await repaint({ ...REPAINT, to: '#000000' }, key), 422, 'idempotency.key.reused')
        const again = await repaint(REPAINT, key, both)
        expect([again.status, again.text, again.headers['idempotent-replayed']]).to.deep.equal([
          201,
          first.text,
          'true'
        ])
        const others = { 'idempotency-key': 'promoted' }
        const lower = await repaint(REPAINT, others)
        const higher = await repaint(REPAINT, others, both)
        expect([higher.text, higher.headers['idempotent-replayed']]).to.deep.equal([lower.text, 'true'])
        expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'New'")).to.have.length(2)
      })

      it('happens once, however often a request with a key comes at the same time', async () => {
        const key = { ...BODY, 'idempotency-key': 'raced' }
        const options = { method: 'POST', headers: key, body: JSON.stringify(REPAINT), alone: true }
        const answers = await Promise.all(Array.from({ length: 8 }, () => as(LIBRARIAN, '/reports/repaints', options)))
        const made = answers.filter(({ status }) => status === 201)
        expect(made.length).to.be.at.least(1)
        expect(made.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).to.have.length(1)
        expect(new Set(made.map(({ text }) => text)).size).to.equal(1)
        expect(answers.every(({ status }) => status === 201 || status === 409)).to.equal(true)
        expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'New'")).to.have.length(1)
      })

      const REJECTIONS: readonly (readonly [how: string, status: number, code: string, detail: string])[] = [
        ['state', 422, 'state.invalid', 'The branch is closed.'],
        ['thrown', 422, 'state.invalid', 'The branch is closing.'],
        ['conflict', 409, 'conflict', 'Somebody paints it.'],
        ['input', 400, 'body.invalid', 'Not so.'],
        ['parameter', 400, 'filter.value.invalid', 'Not that one.']
      ]
      for (const [how, status, code, detail] of REJECTIONS) {
        it(`rejects by ${how} and undoes what it has written`, async () => {
          const answer = await send(READER, 'PUT /reports/branches/1', { how })
          expect(answer.status, answer.text).to.equal(status)
          expect(json(answer)).to.include({ code, detail, status })
          if (how === 'conflict') expect(json(answer)).to.include({ title: 'Being painted', painter: 'Ann' })
          expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'y'")).to.have.length(0)
        })
      }

      for (const how of ['error', 'long', 'select']) {
        it(`tells nothing of a defect (${how}), and undoes what it has written`, async () => {
          const answer = await send(READER, 'PUT /reports/branches/1', { how })
          problem(answer, 500, 'internal')
          expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'y'")).to.have.length(0)
        })
      }

      it('takes no key of another method, and answers what it declares', async () => {
        const key = { 'idempotency-key': 'put' }
        const put = await send(READER, 'PUT /reports/branches/1', { how: 'done' }, key)
        expect([put.status, put.text]).to.deep.equal([200, '{"name":"done"}'])
        expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'y'")).to.have.length(2)
        const gone = await send(LIBRARIAN, 'DELETE /reports/branches/1', undefined, key)
        expect([gone.status, gone.text, gone.headers['content-type']]).to.deep.equal([204, '', undefined])
        const again = await send(LIBRARIAN, 'DELETE /reports/branches/1', undefined, key)
        expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([204, 'true'])
        problem(await send(READER, 'PUT /reports/branches/1', { how: 'late' }), 404, 'not-found')
        const replayed = await send(READER, 'PUT /reports/branches/1', { how: 'done' }, key)
        expect([replayed.text, replayed.headers['idempotent-replayed']]).to.deep.equal(['{"name":"done"}', 'true'])
      })

      it('is rolled back when its deadline passes, and lets go of its locks', async () => {
        const rpc = new GrpcCaller(store.stack.dataAddress)
        try {
          const token = store.tokenOf(READER)
          const request = { operation: 'answer-badly', path: { branchId: '1' }, body: Buffer.from('{"how":"hang"}') }
          await rpc.unary('Call', request, { token, deadline: 700 }).catch(() => undefined)
          const after = await send(LIBRARIAN, 'PUT /reports/branches/1', { how: 'fine' })
          expect([after.status, after.text]).to.deep.equal([200, '{"name":"fine"}'])
          expect(await store.sql.run("SELECT id FROM swatches WHERE name = 'y'")).to.have.length(0)
        } finally {
          rpc.close()
        }
      })
    })

    describe('over gRPC', () => {
      let rpc: GrpcCaller
      before(() => {
        rpc = new GrpcCaller(store.stack.dataAddress)
      })
      after(() => rpc.close())

      it('answers the same bytes', async () => {
        const token = store.tokenOf(ADMIN)
        const request = { operation: 'branch-summary', path: { branchId: '1' }, query: { most: '1' } }
        const answer = (await rpc.unary('Call', request, { token })) as {
          json: Buffer
          status: number
          replayed: boolean
        }
        const http = await as(ADMIN, '/reports/branches/1?most=1')
        expect([answer.json.toString(), answer.status, answer.replayed]).to.deep.equal([http.text, 200, false])
      })

      it('replays by key and rejects as over HTTP', async () => {
        const token = store.tokenOf(LIBRARIAN)
        const body = Buffer.from(JSON.stringify({ ...REPAINT, more: 1 }))
        const request = { operation: 'repaint', body, idempotencyKey: 'rpc' }
        const first = (await rpc.unary('Call', request, { token })) as { status: number; ignoredMembers: string[] }
        expect([first.status, first.ignoredMembers]).to.deep.equal([201, ['more']])
        expect(await rpc.unary('Call', request, { token })).to.include({ replayed: true })
        const both = store.tokenOf({ ...LIBRARIAN, role: ['Librarian', 'Admin'] })
        const ofBoth = { ...request, idempotencyKey: 'rpc-by-both' }
        expect(await rpc.unary('Call', ofBoth, { token: both })).to.include({ status: 201, replayed: false })
        const demoted = await rpc.unary('Call', ofBoth, { token })
        expect(isFailure(demoted) && demoted.details.reason).to.equal('capability.denied')
        const wrong = await rpc.unary(
          'Call',
          {
            ...request,
            strict: true,
            query: { other: '1' },
            unplaced: { parameters: ['third'] }
          },
          { token }
        )
        if (!isFailure(wrong)) throw new Error('It was answered')
        expect(wrong.details.violations.map(({ reason, field }) => [reason, field])).to.deep.equal([
          ['parameter.unknown', 'query:other'],
          ['parameter.unknown', 'body:/more'],
          ['parameter.unknown', 'query:third']
        ])
        const nobody = await rpc.unary('Call', request)
        expect(isFailure(nobody) && nobody.details.reason).to.equal('auth.required')
        const unknown = await rpc.unary('Call', { operation: 'constructor' }, { token })
        expect(isFailure(unknown) && unknown.details.reason).to.equal('route.not-found')
      })

      it('is described to gateways', async () => {
        const { operations } = (await rpc.unary('Describe', {}, { asGateway: true })) as {
          operations: {
            name: string
            method: string
            path: string
            access: string
            permission: string
            status: number
          }[]
        }
        expect(
          operations.map(({ name, method, path, access, permission, status }) => [
            name,
            method,
            path,
            access,
            permission,
            status
          ])
        ).to.deep.equal([
          ['answer-badly', 'PUT', '/reports/branches/{branchId}', 'authenticated', '', 200],
          ['branch-summary', 'GET', '/reports/branches/{branchId}', 'authenticated', '', 200],
          ['cheat', 'GET', '/reports/cheat', 'everyone', '', 200],
          ['clear-out', 'DELETE', '/reports/branches/{branchId}', 'permission', 'library:manage', 204],
          ['colour-use', 'GET', '/reports/colours', 'everyone', '', 200],
          ['echo', 'POST', '/reports/echoes', 'authenticated', '', 200],
          ['recipes', 'GET', '/reports/recipes/{id}', 'everyone', '', 200],
          ['repaint', 'POST', '/reports/repaints', 'permission', 'library:manage', 201],
          ['slow', 'GET', '/reports/slow', 'everyone', '', 200]
        ])
      })
    })

    it('is documented in a valid document and on the page for people', async () => {
      const text = (await as(NOBODY, '/openapi.json')).text
      const document = JSON.parse(text) as {
        tags: { name: string }[]
        paths: Record<string, Record<string, Record<string, unknown>>>
      }
      const { valid, errors } = await new Validator().validate(JSON.parse(text) as Record<string, unknown>)
      expect(valid, JSON.stringify(errors)).to.equal(true)
      expect(document.tags.map(({ name }) => name)).to.include('operations')
      const summary = document.paths['/reports/branches/{branchId}']
      expect(Object.keys(summary ?? {})).to.have.members(['get', 'put', 'delete'])
      expect(summary?.['get']).to.deep.include({
        tags: ['operations'],
        operationId: 'branchSummary',
        summary: 'The paints of a branch, as the caller sees them.',
        security: [{ bearer: [] }]
      })
      const parameters = parametersOf(document, '/reports/branches/{branchId}', 'get')
      expect(
        [...parameters.values()].filter((one) => one.in !== 'header').map((one) => [one.name, one.in, one.required])
      ).to.deep.equal([
        ['branchId', 'path', true],
        ['since', 'query', false],
        ['tint', 'query', false],
        ['most', 'query', false]
      ])
      const post = document.paths['/reports/repaints']?.['post'] as {
        description: string
        requestBody: {
          required: boolean
          content: Record<string, { schema: { required: string[]; properties: object } }>
        }
        responses: Record<string, { content: Record<string, { schema: object }> }>
      }
      expect(post.description).to.equal('For callers with the permission `library:manage`.')
      const body = post.requestBody.content['application/json']?.schema
      expect(post.requestBody.required).to.equal(true)
      expect(body?.required).to.deep.equal(['to', 'ids', 'note', 'place'])
      expect(post.responses['201']?.content['application/json']?.schema).to.deep.equal({
        type: 'object',
        required: ['changed', 'made', 'note', 'total'],
        properties: {
          changed: { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 },
          made: {
            type: 'array',
            minItems: 0,
            maxItems: 1000,
            items: { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 }
          },
          note: { type: ['string', 'null'], minLength: 1, maxLength: 20 },
          total: { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 }
        }
      })
      expect(document.paths['/reports/colours']?.['get']?.['security']).to.deep.equal([{}, { bearer: [] }])
      const page = (await as(NOBODY, '/docs')).text
      expect(page).to.include('POST /reports/repaints').and.include('How often each colour is used')
    })
  },
  { on: 'sqlite' }
)
