import { expect } from 'chai'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { request, type HttpRequest } from '../harness/http.js'
import { type Stack, startStack } from '../harness/stack.js'

/** What a stranger sends, and the most of it that any answer or line of a log repeats in one piece. */
const SENT = 'q'.repeat(50_000)
const TOO_MUCH = 'q'.repeat(2049)

const JSON_TYPE = { 'content-type': 'application/json' }

const HEADERS =
  'accept api-version authorization cookie idempotency-key if-match prefer traceparent x-request-id x-forwarded-for ' +
  'x-forwarded-host origin sec-fetch-site x-csrf-token expect content-type content-encoding'

/** Requests with the text wherever one fits. */
const REQUESTS: readonly (readonly [target: string, options?: HttpRequest])[] = [
  [`/${SENT}`],
  [`/${SENT}/1`],
  [`/products/${SENT}`],
  [`/products/${SENT}`, { method: 'DELETE' }],
  [`/products/${SENT}`, { method: 'PUT', headers: JSON_TYPE, body: '{}' }],
  [`/products/1/${SENT}`, { method: 'PUT', headers: JSON_TYPE, body: '{}' }],
  [`/problems/${SENT}`],
  [`/docs/${SENT}`],
  [`/auth/${SENT}`],
  [`/products?${SENT}=1`],
  [`/products?${SENT}=1`, { headers: { prefer: 'handling=strict' } }],
  [`/products/export?${SENT}=1`, { headers: { prefer: 'handling=strict' } }],
  [`/products/paged?filters[${SENT}].operator=equals&filters[${SENT.slice(0, 10_000)}].value=1`],
  [`/products/paged?filters[${SENT}].operator=equals`],
  [`/products/paged?filters[name].operator=${SENT}&filters[name].value=1`],
  [`/products/paged?filters[name].operator=equals&filters[name].value=${SENT}`],
  [`/products/paged?filters[id].operator=in&filters[id].value=1,${SENT.slice(0, 4000)}`],
  ...['fields', 'sortColumn', 'sortDirection', 'pageSize', 'pageNumber', 'includeTotal', 'includeFKs'].map(
    (name) => [`/products/paged?${name}=${SENT}`] as const
  ),
  ...['bom', 'escapeFormulas', 'includeChildren'].map((name) => [`/products/export?${name}=${SENT}`] as const),
  [`/products/lookup?search=${SENT}`],
  ...HEADERS.split(' ').flatMap((name) => [
    ['/products/1', { headers: { [name]: SENT } }] as const,
    ['/products', { method: 'POST', headers: { ...JSON_TYPE, [name]: SENT }, body: '{}' }] as const,
    ['/auth/session/token', { method: 'POST', headers: { [name]: SENT } }] as const
  ]),
  ['/auth/session/token', { method: 'POST', headers: { cookie: `app_auth_access=${SENT}; app_auth_refresh=${SENT}` } }],
  ...[
    `{"${SENT}":1}`,
    `{"${SENT}":1,"${SENT}":1}`,
    `{"email":"${SENT}","password":"${SENT}"}`,
    `"${SENT}"`,
    SENT
  ].flatMap((body) => [
    ['/auth/login', { method: 'POST', headers: JSON_TYPE, body }] as const,
    ['/auth/session-cookie', { method: 'POST', headers: JSON_TYPE, body }] as const,
    ['/products', { method: 'POST', headers: JSON_TYPE, body }] as const,
    ['/products', { method: 'POST', headers: { ...JSON_TYPE, prefer: 'handling=strict' }, body }] as const
  ])
]

/** `instance` is the path, whatever its length (contract.md section 7). */
function withoutInstance(body: string): string {
  return body.replace(/"instance":"[^"]*"/, '')
}

describe('what a request says', () => {
  let database: FreshDatabase
  let stack: Stack

  before(async () => {
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database, env: { LOG_LEVEL: 'trace' } })
  })
  after(async () => {
    await stack.stop()
    await database.dispose()
  })

  it('is repeated in a bounded part alone, in answers and in both logs', async () => {
    const authorization = `Bearer ${await stack.token('admin@example.com')}`
    const statuses = new Set<number>()
    for (const [target, options = {}] of REQUESTS) {
      for (const headers of [{}, { authorization }]) {
        const answer = await request(`${stack.url}${target}`, {
          ...options,
          headers: { ...headers, ...options.headers }
        })
        const shown = `${options.method ?? 'GET'} ${target.slice(0, 60)} ${JSON.stringify(options).slice(0, 80)}`
        expect(withoutInstance(answer.text).includes(TOO_MUCH), `${shown}: body`).to.equal(false)
        const head = answer.headers.flat().join('\n')
        expect(head.includes(TOO_MUCH), `${shown}: headers`).to.equal(false)
        expect(head.length, `${shown}: headers`).to.be.at.most(8 * 1024)
        expect(answer.status, `${shown} ${answer.text.slice(0, 200)}`).to.be.lessThan(500)
        statuses.add(answer.status)
      }
    }
    expect([...statuses]).to.include.members([200, 400, 401, 404])
    const long = stack.logs().filter((entry) => JSON.stringify(entry).includes(TOO_MUCH))
    expect(long.map((entry) => JSON.stringify(entry).slice(0, 300))).to.deep.equal([])
  })
})
