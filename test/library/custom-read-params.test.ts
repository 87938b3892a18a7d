import { expect } from 'chai'
import { expectProblem } from '../api/expect-problem.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { ids, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary } from './describe-library.js'
import { parametersOf } from '../harness/openapi-document.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const ADMIN = { role: 'Admin', sub: 'x' }
const NOBODY = {}
const READER = { sub: 'y', branches: [1] }

const ROWS = Array.from({ length: 12 }, (_, n) => ({
  name: n % 2 === 0 ? `Dawn ${n}` : `dusk_${n}%`,
  colour: n % 3 === 0 ? '#ff8800' : `#0000${10 + n}`,
  price: `${n * 20}.50`,
  mixedAt: `2026-01-${String(n + 1).padStart(2, '0')}T00:00:00.000Z`,
  branchId: (n % 2) + 1
}))

const SINCE = 'since=2026-01-01'

describeLibrary(
  'a custom read with parameters',
  (store, kind) => {
    before(async () => {
      const answer = await store.as(LIBRARIAN, '/swatches/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ROWS)
      })
      expect(answer.status, answer.text).to.equal(201)
    })

    const read = (
      query: string,
      claims: Readonly<Record<string, unknown>> = ADMIN,
      headers: Record<string, string> = {}
    ) => store.as(claims === NOBODY ? undefined : claims, `/swatches/mixed?${query}`, { headers })

    it('answers the rows that its parameters ask for, with all their members', async () => {
      const answer = await read('since=2026-01-03T01:00:00%2B01:00&until=2026-01-05&most=3')
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.text).to.equal(
        '[{"id":3,"name":"Dawn 2","colour":"#000012","price":"40.50","mixedAt":"2026-01-03T00:00:00.000Z"},' +
          '{"id":4,"name":"dusk_3%","colour":"#ff8800","price":"60.50","mixedAt":"2026-01-04T00:00:00.000Z"}]'
      )
      expect(answer.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0',
        'x-row-limit': '3'
      })
      expect(answer.headers).to.not.have.any.keys('x-truncated', 'x-ignored-parameters', 'etag')
    })

    const CASES: readonly (readonly [query: string, ids: readonly number[]])[] = [
      [SINCE, [1, 2]],
      [`${SINCE}&most=1`, [1]],
      [`${SINCE}&most=3&branch=2`, [2, 4, 6]],
      [`${SINCE}&colours=%23FF8800&most=3`, [1, 4, 7]],
      [`${SINCE}&maxPrice=20.5&most=3`, [1, 2]],
      [`${SINCE}&maxPrice=20.49&most=3`, [1]],
      [`${SINCE}&word=%25&most=3`, [2, 4, 6]],
      [`${SINCE}&word=_&most=3`, [2, 4, 6]],
      [`${SINCE}&word=%23FF&most=3`, [1, 4, 7]],
      [`${SINCE}&dear=TRUE&most=3`, [6, 7, 8]],
      [`${SINCE}&dear=false&most=3`, [1, 2, 3]],
      [`SINCE=2026-01-10&MOST=3`, [10, 11, 12]],
      [`${SINCE}&batch=9223372036854775807&tag=6F9619FF-8B86-D011-B42D-00C04FC964FF&most=3`, [1, 2, 3]],
      ['since=2027-01-01', []]
    ]
    for (const [query, expected] of CASES) {
      it(`answers ${query}`, async () => {
        expect(ids(await read(query))).to.deep.equal(expected)
      })
    }

    it('says where rows were left out', async () => {
      expect((await read(`${SINCE}&most=2`)).headers).to.include({ 'x-row-limit': '2', 'x-truncated': 'true' })
      expect((await read('since=2026-01-11&most=2')).headers).to.not.have.property('x-truncated')
    })

    it('shows a caller the rows of its scope alone', async () => {
      expect(ids(await read(`${SINCE}&most=3`, READER))).to.deep.equal([1, 3, 5])
      expect(ids(await read(`${SINCE}&branch=2`, READER))).to.deep.equal([])
      expect(ids(await read(SINCE, { sub: 'z' }))).to.deep.equal([])
      expectProblem(await read(SINCE, NOBODY), { status: 401, code: 'auth.required', base: store.stack.url })
      // Who comes before what.
      expectProblem(await read('most=9', NOBODY), { status: 401, code: 'auth.required', base: store.stack.url })
    })

    it('names all violations at once', async () => {
      const wrong =
        'until=soon&colours=orange&maxPrice=1.005&branch=10&word=&dear=yes&batch=9223372036854775808&tag=x&most=0'
      const problem = expectProblem(await read(wrong), {
        status: 400,
        code: 'filter.value.invalid',
        base: store.stack.url,
        violations: ['since', 'until', 'colours', 'maxPrice', 'branch', 'word', 'dear', 'batch', 'tag', 'most'].map(
          (parameter) => ({ code: 'filter.value.invalid', parameter })
        )
      })
      expect(problem.errors?.map(({ detail }) => detail)).to.deep.equal([
        'since is missing: it must be a date and time such as 2026-01-31T08:00:00Z (RFC 3339, at most milliseconds) or a date such as 2026-01-31.',
        '"soon" is not a date and time such as 2026-01-31T08:00:00Z (RFC 3339, at most milliseconds) or a date such as 2026-01-31.',
        'colours must have 7 characters.',
        'maxPrice must have at most 2 digits after the point.',
        'branch must be at most 9.',
        'word must have 1 to 20 characters.',
        '"yes" is not true or false.',
        '"9223372036854775808" is not a whole number from -9223372036854775808 to 9223372036854775807.',
        '"x" is not a GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff.',
        'most must be at least 1.'
      ])
    })

    it('takes a parameter that came twice for its values joined by commas', async () => {
      expectProblem(await read(`${SINCE}&since=2026-01-02`), {
        status: 400,
        code: 'filter.value.invalid',
        base: store.stack.url,
        violations: [{ code: 'filter.value.invalid', parameter: 'since', says: '2026-01-01,2026-01-02' }]
      })
      expect(ids(await read(`${SINCE}&word=a&word=b`))).to.deep.equal([])
    })

    it('rejects what is too long, without a word of it', async () => {
      const answer = await read(`${SINCE}&word=${'a'.repeat(60_000)}&colours=${'%F0%9F%92%A9'.repeat(50)}`)
      expectProblem(answer, {
        status: 400,
        code: 'filter.value.invalid',
        base: store.stack.url,
        violations: [
          { code: 'filter.value.invalid', parameter: 'colours' },
          { code: 'filter.too-many', parameter: 'word' }
        ]
      })
      expect(answer.text.length).to.be.lessThan(2000)
    })

    it('ignores unknown parameters, those named like members of every object too, and names them', async () => {
      const unknown = '__proto__=1&constructor=2&toString=3&filters[name].value=a&sortColumn=name&limit=1'
      const answer = await read(`${SINCE}&${unknown}`)
      expect(ids(answer)).to.deep.equal([1, 2])
      expect(decodeURIComponent(String(answer.headers['x-ignored-parameters'])).split(',')).to.have.members([
        '__proto__',
        'constructor',
        'toString',
        'filters[name].value',
        'sortColumn',
        'limit'
      ])
      expectProblem(await read('most=0&constructor=2&limit=1', ADMIN, { prefer: 'handling=strict' }), {
        status: 400,
        code: 'filter.value.invalid',
        base: store.stack.url,
        violations: [
          { code: 'filter.value.invalid', parameter: 'since' },
          { code: 'filter.value.invalid', parameter: 'most' },
          { code: 'parameter.unknown', parameter: 'constructor' },
          { code: 'parameter.unknown', parameter: 'limit' }
        ]
      })
    })

    it('answers HEAD as GET, and no other method', async () => {
      const head = await store.as(ADMIN, `/swatches/mixed?${SINCE}`, { method: 'HEAD' })
      expect(head.status).to.equal(200)
      expect(head.text).to.equal('')
      const options = await store.as(undefined, '/swatches/mixed', { method: 'OPTIONS' })
      expect([options.status, options.headers['allow']]).to.deep.equal([204, 'GET, HEAD, OPTIONS'])
      expect((await store.as(ADMIN, `/swatches/mixed?${SINCE}`, { method: 'PUT' })).status).to.equal(405)
    })

    it('takes the same over gRPC, straight', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const token = store.tokenOf(ADMIN)
        const call = (parameters: Record<string, string>) =>
          rpc.unary('Read', { resource: 'swatches', name: 'mixed', parameters }, { token })
        const answer = await call({ since: '2026-01-11', most: '3' })
        expect(isFailure(answer), JSON.stringify(answer)).to.equal(false)
        const { json: bytes, rowLimit, truncated } = answer as { json: Buffer; rowLimit: number; truncated: boolean }
        expect((JSON.parse(bytes.toString()) as { id: number }[]).map(({ id }) => id)).to.deep.equal([11, 12])
        expect([rowLimit, truncated]).to.deep.equal([3, false])
        const wrong = await call({ most: 'x', nothing: '1', constructor: '2' })
        if (!isFailure(wrong)) throw new Error('It was answered')
        expect(wrong.details.violations.map(({ reason, field }) => [reason, field])).to.deep.equal([
          ['filter.value.invalid', 'query:since'],
          ['filter.value.invalid', 'query:most'],
          ['parameter.unknown', 'query:nothing'],
          ['parameter.unknown', 'query:constructor']
        ])
      } finally {
        rpc.close()
      }
    })

    /** A date alone, or with a time in any offset and in none. */
    const MOMENT =
      '^(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]' +
      '(?:\\.[0-9]{1,3}0*)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$'

    it('is documented with its parameters', async () => {
      const documented = parametersOf(json(await store.as(undefined, '/openapi.json')), '/swatches/mixed', 'get')
      const params = [...documented.values()].filter((one) => one.in === 'query')
      expect(params).to.deep.equal([
        {
          name: 'since',
          in: 'query',
          example: '2026-01-31T08:00:00.000Z',
          required: true,
          description: 'The begin of the period.',
          schema: {
            type: 'string',
            pattern: MOMENT,
            description: 'RFC 3339 with any offset, none being UTC, or a date alone, which is its midnight in UTC.'
          }
        },
        {
          name: 'until',
          in: 'query',
          example: '2030-12-31T08:00:00.000Z',
          required: false,
          schema: {
            type: 'string',
            pattern: MOMENT,
            description: 'RFC 3339 with any offset, none being UTC, or a date alone, which is its midnight in UTC.'
          }
        },
        {
          name: 'colours',
          in: 'query',
          example: '#ff8800',
          required: false,
          schema: {
            type: 'string',
            minLength: 7,
            maxLength: 7,
            format: 'colour',
            pattern: '^#[0-9a-fA-F]{6}$',
            description: 'Red, green and blue.',
            examples: ['#ff8800', '#000000', '#a1b2c3']
          }
        },
        {
          name: 'maxPrice',
          in: 'query',
          example: '10.00',
          required: false,
          schema: {
            type: 'string',
            pattern: '^[+-]?[0-9]+(?:\\.[0-9]+)?$',
            description: 'At most 8 digits, 2 of them after the point.'
          }
        },
        {
          name: 'branch',
          in: 'query',
          example: 1,
          required: false,
          schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 9 }
        },
        {
          name: 'word',
          in: 'query',
          example: 'Word',
          required: false,
          schema: { type: 'string', minLength: 1, maxLength: 20 }
        },
        { name: 'dear', in: 'query', example: true, required: false, schema: { type: 'boolean' } },
        {
          name: 'batch',
          in: 'query',
          example: '1',
          required: false,
          schema: { type: 'string', pattern: '^[+-]?0*[0-9]{1,20}$', description: 'A 64-bit integer.' }
        },
        {
          name: 'tag',
          in: 'query',
          example: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
          required: false,
          schema: { type: 'string', format: 'uuid', pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' }
        },
        {
          name: 'most',
          in: 'query',
          example: 2,
          required: false,
          schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 3, default: 2 }
        }
      ])
    })

    if (kind === 'mysql') {
      it('is one statement for all values of a shape, and each value is bound', async () => {
        const log = await StatementLog.open(store.databaseUrl)
        const statements = await log.during(async () => {
          for (const n of [1, 2, 3]) await read(`${SINCE}&word=Secret${n}&maxPrice=${n}${n}.${n}${n}`)
        })
        await log.close()
        const texts = statements.filter(({ command, text }) => command === 'Prepare' && /swatches/.test(text))
        expect(new Set(texts.map(({ text }) => text)).size).to.be.at.most(1)
        const told = statements.filter(({ command }) => command === 'Query' || command === 'Prepare')
        expect(told.filter(({ text }) => /Secret|11\.11|22\.22|33\.33/.test(text))).to.deep.equal([])
        expect(statements.some(({ command, text }) => command === 'Execute' && /Secret3/.test(text))).to.equal(true)
      })
    }
  },
  { on: 'sqlite' }
)
