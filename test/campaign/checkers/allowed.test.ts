import { expect } from 'chai'
import { AllowedAnswers } from '../../../campaign/checkers/answers/answers.js'
import { violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const TAG = 'W/"AAAAAAAAAAA="'
const row = { id: 7, name: 'River Hall', rowVersion: 'AAAAAAAAAAA=' }
const fine: Written = { account: CLERK, call: 'GET /venues/7', status: 200, answer: row, got: { etag: TAG } }

const list: Written = {
  account: CLERK,
  call: 'GET /venues',
  status: 200,
  answer: [row],
  got: { 'x-row-limit': '1000' }
}
const lookup: Written = {
  account: CLERK,
  call: 'GET /venues/lookup',
  status: 200,
  answer: { items: [{ id: 7, name: 'River Hall' }] }
}
const paged = (told: object, more: Partial<Written> = {}): Written => {
  const pagination = {
    totalCount: 1,
    pageSize: 10,
    currentPage: 1,
    totalPages: 1,
    hasPrevious: false,
    hasNext: false,
    ...told
  }
  const got = { 'x-pagination': JSON.stringify(pagination), 'x-total-count': String(pagination.totalCount) }
  return { account: CLERK, call: 'GET /venues/paged', status: 200, answer: [row], got, ...more }
}
const created: Written = {
  account: CLERK,
  call: 'POST /venues',
  body: {},
  status: 201,
  answer: row,
  got: { etag: TAG, location: 'http://gateway/venues/7' }
}
const exported: Written = {
  account: CLERK,
  call: 'GET /venues/export',
  status: 200,
  answer: '\uFEFFid,name\r\n7,River Hall\r\n',
  got: {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="venues-20260101T000000Z.csv"',
    'x-export-row-limit': '700'
  }
}
const loggedIn: Written = {
  call: 'POST /auth/login',
  status: 200,
  answer: { accessToken: 'a.b.c' },
  got: { 'set-cookie': 'app_auth_access=a', 'cache-control': 'private, no-store', vary: 'Cookie' }
}

const problem = (status: number, code: string, more: Partial<Written> = {}, members: object = {}): Written => ({
  id: 'p-1',
  account: CLERK,
  call: 'GET /venues/7',
  status,
  answer: {
    type: `http://gateway/problems/${code}`,
    title: 'Not found',
    status,
    detail: 'There is no such row.',
    instance: '/venues/7',
    code,
    requestId: 'p-1',
    ...members
  },
  ...more,
  got: { 'content-type': 'application/problem+json', 'retry-after': '1', ...more.got }
})
const OF_CONFLICT = 'A data conflict occurred. Please retry or contact support.'
const ofImport: Written = {
  account: CLERK,
  call: 'POST /suppliers/import',
  status: 200,
  answer: { rows: 1, created: 1, failed: 0, replayed: 0, errors: [] }
}
const item = { id: 7, rowVersion: 'AAAAAAAAAAA=' }
const changed: Written = {
  account: CLERK,
  call: 'PATCH /suppliers/batch',
  body: [item],
  status: 200,
  answer: [row]
}
const put = { call: 'PUT /venues/7', headers: { 'if-match': TAG } }
const conflict = (members: object): Written => problem(412, 'conflict', put, members)
const anonymous = (challenge: string): Written => {
  const { account: _, ...unknown } = problem(401, 'auth.required', { got: { 'www-authenticate': challenge } })
  return unknown
}
/** A 404 that says something more. */
const saying = (detail: string): Written => problem(404, 'not-found', {}, { detail })
const injury = { fault: 'SIGKILL of gateway-0', from: 0, until: 3 }

/** An answer with other headers; those of undefined are not there. */
function having(one: Written, got: Readonly<Record<string, string | undefined>>): Written {
  const headers = Object.entries({ ...one.got, ...got }).filter(([, value]) => value !== undefined)
  return { ...one, got: Object.fromEntries(headers) as Record<string, string> }
}

describe('checker of single answers', () => {
  it('accepts what the contract has', async () => {
    const cursors = { totalCount: 3, totalPages: 3, pageSize: 1, currentPage: null, hasNext: true }
    const story = [
      fine,
      list,
      lookup,
      paged({}),
      paged({ currentPage: 3, hasPrevious: true }, { call: 'GET /venues/paged?pageNumber=3', answer: [] }),
      paged({ pageSize: 500 }, { call: 'GET /venues/paged?pageSize=900' }),
      paged(cursors, { call: 'GET /venues/paged?pageSize=1&after=x' }),
      created,
      { ...created, call: 'POST /venues/batch', body: [{}], answer: [row], got: {} },
      exported,
      { ...exported, call: 'GET /venues/export?fields=id,name' },
      { ...fine, call: 'GET /venues/7?fields=id,rowVersion', answer: { id: 7, rowVersion: row.rowVersion } },
      { ...fine, call: 'GET /venues/7?fields=name', answer: { name: row.name }, got: {} },
      having(paged(cursors, { call: 'GET /venues/paged?pageSize=1&after=x' }), { 'x-next-cursor': 'y' }),
      having(paged(cursors, { call: 'GET /venues/paged?pageSize=1&before=x', answer: [] }), { 'x-next-cursor': 'y' }),
      loggedIn,
      { account: CLERK, call: 'DELETE /venues/7', status: 204 },
      problem(404, 'not-found'),
      problem(503, 'upstream.unavailable', { at: [1, 2] }),
      conflict({ detail: 'A data conflict occurred. Please retry or contact support.' }),
      problem(
        412,
        'conflict',
        { ...put, call: 'PUT /shopping-carts/7/checkout' },
        { instance: '/shopping-carts/7/checkout' }
      ),
      ofImport,
      changed,
      { account: CLERK, call: 'POST /suppliers/batch/delete', body: [item], status: 204 },
      ...['PATCH /suppliers/batch', 'POST /suppliers/batch/delete'].flatMap((call) =>
        (
          [
            [412, 'conflict'],
            [404, 'not-found']
          ] as const
        ).map(([status, code]) =>
          problem(status, code, { call }, { instance: call.split(' ')[1], detail: OF_CONFLICT })
        )
      ),
      anonymous('Bearer'),
      { call: 'POST /auth/session/token', status: 401, answer: '{"error":"no_session"}' }
    ]
    expect(await violationsOf(new AllowedAnswers(), [injury, ...story])).to.deep.equal([])
  })

  const bad: readonly (readonly [string, Written, RegExp])[] = [
    ['a 500', problem(500, 'internal'), /nothing about the request explains/],
    ['a status that the method does not have', problem(422, 'state.invalid'), /nothing about the request explains/],
    ['an import that is 201', { ...ofImport, status: 201 }, /nothing about the request explains/],
    ['a batch of deletes that is 201', { ...changed, call: 'POST /suppliers/batch/delete', status: 201 }, /is 201/],
    ['a batch of creates that finds no row', problem(404, 'not-found', { call: 'POST /venues/batch' }), /is 404/],
    ['half a batch', { ...changed, answer: [] }, /does not show the 1 rows of its batch/],
    ['a 304', { ...fine, status: 304, answer: '' }, /nothing about the request explains/],
    ['a 401 for a valid token', problem(401, 'auth.required'), /nothing about the request explains/],
    ['a 409 of a guarded write', problem(409, 'conflict', put), /nothing about/],
    ['an unknown code', problem(404, 'no-such'), /with the code no-such/],
    ['a problem that is none', { ...problem(404, 'not-found'), got: {} }, /of the type application\/json/],
    ['a problem that is a list', problem(404, 'not-found', { answer: [] }), /no JSON object/],
    ['the id of another request', problem(404, 'not-found', { id: 'p-2' }), /names the request p-1/],
    ['no X-Request-Id', having(fine, { 'x-request-id': 'r-9' }), /has the X-Request-Id r-9/],
    ['a problem without a title', problem(404, 'not-found', {}, { title: undefined }), /has the title undefined/],
    ['a detail that is no text', problem(404, 'not-found', {}, { detail: 7 }), /has the detail 7/],
    ['a status that is a text', problem(404, 'not-found', {}, { status: '404 ' }), /and says 404/],
    ['errors that are no list', problem(404, 'not-found', {}, { errors: {} }), /has the errors/],
    ['a type that is no address', problem(404, 'not-found', {}, { type: '/problems/not-found' }), /has the type/],
    ['a conflict that tells its cause', conflict({ detail: 'The version is stale.' }), /says of a conflict/],
    ['a 503 without advice', having(problem(503, 'upstream.unavailable'), { 'retry-after': undefined }), /Retry-After/],
    ['advice that is none', having(problem(503, 'upstream.unavailable'), { 'retry-after': 'soon' }), /Retry-After/],
    ['a 401 without a challenge', anonymous(''), /challenge/],
    ['a 404 that may be stored', having(problem(404, 'not-found'), { 'cache-control': 'max-age=60' }), /max-age/],
    ['a 404 with a tag', having(problem(404, 'not-found'), { etag: TAG }), /with the ETag/],
    ['a stack', { ...fine, answer: 'x at run (/srv/a.js:3:4)' }, /holds a stack/],
    ['SQL', { ...fine, answer: 'SELECT id FROM venues' }, /holds SQL/],
    ['a token', { ...fine, answer: 'eyJhbGciOiJFUzI1.eyJzdWIiOiJhZGEi.x' }, /holds a token/],
    ['an error of MariaDB', saying("Duplicate entry 'x' for key 'sku'"), /words of a database/],
    ['an error of SQLite', saying('UNIQUE constraint failed: products.sku'), /words of a database/],
    ['a lock', saying('Lock wait timeout exceeded; try restarting transaction'), /words of a database/],
    ['a deadlock', saying('Deadlock found when trying to get lock'), /words of a database/],
    ['a table', saying('There is no row in product_variants.'), /name of a table/],
    ['a program', saying('MariaDB does not answer.'), /name of a program/],
    ['an address', saying('No connection to 127.0.0.1.'), /address of a part/],
    ['a port', saying('No connection to db-1:3306.'), /address of a part/],
    ['a state of gRPC', saying('14 UNAVAILABLE: no'), /state of gRPC/],
    ['an error of the language', saying('TypeError: x'), /programming language/],
    ['a secret in a list of faults', problem(404, 'not-found', {}, { errors: [{ detail: 'row_version' }] }), /a table/],
    ['no tag', having(fine, { etag: undefined }), /has the ETag undefined/],
    ['the tag of another version', having(fine, { etag: 'W/"AAAAAAAAAAE="' }), /has the ETag W\/"AAAAAAAAAAE="/],
    ['a tag of no row', having(list, { etag: TAG }), /several rows with the ETag/],
    ['another row', { ...fine, answer: { ...row, id: 8 } }, /shows the row 8/],
    ['several rows for one', { ...fine, answer: [row] }, /shows no row/],
    ['an answer that may be stored', having(fine, { 'cache-control': 'private' }), /Cache-Control private/],
    ['no version of the interface', having(fine, { 'api-supported-versions': '2.0' }), /api-supported-versions/],
    ['a page of HTML', { ...fine, answer: '<p>', got: { 'content-type': 'text/html' } }, /of the type text\/html/],
    ['a body that is no JSON', { ...fine, answer: '{"id":7,' }, /no JSON/],
    ['a list that is none', { ...list, answer: {} }, /shows no rows/],
    ['a list without its limit', having(list, { 'x-row-limit': undefined }), /X-Row-Limit/],
    ['a cut that is none', having(list, { 'x-truncated': 'true' }), /says that it is cut/],
    ['a lookup with more', { ...lookup, answer: { items: [row] } }, /more of a row/],
    ['a page without its numbers', having(paged({}), { 'x-pagination': undefined }), /has the X-Pagination/],
    ['another total', having(paged({}), { 'x-total-count': '2' }), /X-Total-Count 2/],
    ['a number of pages that is none', paged({ totalPages: 2 }), /has the X-Pagination/],
    ['another page', paged({ currentPage: 2, hasPrevious: true }), /has the X-Pagination/],
    ['a next page that is none', paged({ hasNext: true }), /has the X-Pagination/],
    ['too many rows', paged({ pageSize: 1 }, { call: 'GET /venues/paged?pageSize=1', answer: [row, row] }), /2 rows/],
    [
      'a page that is over and goes on',
      having(paged({}, { answer: [] }), { 'x-next-cursor': 'y' }),
      /0 rows on a page of 10 and has the x-next-cursor y/
    ],
    [
      'a page back that is over and goes on',
      having(paged({ currentPage: null }, { call: 'GET /venues/paged?before=x' }), { 'x-previous-cursor': 'y' }),
      /1 rows on a page of 10 and has the x-previous-cursor y/
    ],
    [
      'another row of some members',
      { ...fine, call: 'GET /venues/7?fields=id', answer: { id: 8 }, got: {} },
      /shows the row 8/
    ],
    ['members that nobody asked for', { ...list, call: 'GET /venues?fields=id' }, /shows id,name,rowVersion where id/],
    [
      'columns that nobody asked for',
      { ...exported, call: 'GET /venues/export?fields=id' },
      /shows id,name where id were/
    ],
    ['an export of another limit', having(exported, { 'x-export-row-limit': '100000' }), /X-Export-Row-Limit 100000/],
    ['an export without its limit', having(exported, { 'x-export-row-limit': undefined }), /X-Export-Row-Limit undef/],
    [
      'a list that there is not',
      problem(404, 'not-found', { call: 'GET /venues' }, { instance: '/venues' }),
      /is 404, which nothing/
    ],
    [
      'a page that there is not',
      problem(404, 'not-found', { call: 'GET /venues/paged' }, { instance: '/venues/paged' }),
      /is 404, which nothing/
    ],
    ['a place that is none', having(created, { location: 'http://[/7' }), /has the Location http:\/\/\[/],
    ['a create without its place', having(created, { location: undefined }), /has the Location/],
    ['the place of another', having(created, { location: 'http://gateway/venues/8' }), /has the Location/],
    ['a place that is relative', having(created, { location: '/venues/7' }), /has the Location/],
    ['half a batch', { ...created, call: 'POST /venues/batch', body: [{}, {}], answer: [row] }, /the 2 rows/],
    ['a delete with a body', { account: CLERK, call: 'DELETE /venues/7', status: 204, answer: row }, /204 with a body/],
    ['an export of another type', having(exported, { 'content-type': 'text/plain' }), /text\/plain/],
    ['an export without a name', having(exported, { 'content-disposition': 'inline' }), /Content-Disposition inline/],
    ['an export of another name', { ...exported, call: 'GET /orders/export' }, /Content-Disposition/],
    ['an export without its mark', { ...exported, answer: 'id\r\n' }, /begins with "id/]
  ]
  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new AllowedAnswers(), [written, injury])).join('\n')).to.match(expected)
    })
  }
})
