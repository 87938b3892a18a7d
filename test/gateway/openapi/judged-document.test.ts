import { expect } from 'chai'
import { openApiDocument } from './parsed-document.js'
import { JudgedDocument, type ReceivedAnswer } from '../../harness/judged-document.js'
import { products } from '../fake-data-client.js'

const BASE = 'https://x.example'
const READ = { method: 'GET', target: '/products/1', headers: {}, body: undefined }
const ROW = {
  id: 1,
  name: 'Lamp',
  price: '1.00',
  barcode: null,
  releasedAt: null,
  externalId: null,
  isActive: true,
  rowVersion: 'AQIDBAUGBwg='
}
const HEADERS = { 'x-request-id': 'a', 'content-type': 'application/json; charset=utf-8', etag: 'W/"AQIDBAUGBwg="' }
const PROBLEM = {
  type: `${BASE}/problems/not-found`,
  title: 'Not found',
  status: 404,
  detail: 'There is none.',
  instance: '/products/1',
  code: 'not-found',
  requestId: 'a'
}

describe('the judge of exchanges by the OpenAPI document', () => {
  const document = openApiDocument({ resources: [products()], exact: true }, BASE)
  const judge = new JudgedDocument(document)
  const answer = (more: Partial<ReceivedAnswer> = {}): ReceivedAnswer => ({
    status: 200,
    headers: HEADERS,
    text: JSON.stringify(ROW),
    ...more
  })
  const problem = (status: number, more: object = {}): ReceivedAnswer => ({
    status,
    headers: { 'x-request-id': 'a', 'content-type': 'application/problem+json' },
    text: JSON.stringify({ ...PROBLEM, ...more })
  })

  it('finds nothing in what is documented', () => {
    expect(judge.refusals(READ)).to.deep.equal([])
    expect(judge.differences(READ, answer())).to.deep.equal([])
    expect(judge.differences(READ, problem(404))).to.deep.equal([])
    expect(judge.differences({ ...READ, method: 'HEAD' }, answer({ text: '' }))).to.deep.equal([])
    expect(judge.differencesOfAllow('/products/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS')).to.deep.equal([])
  })

  const { 'x-request-id': _id, ...withoutId } = HEADERS
  for (const [what, wrong, found] of [
    ['a header', answer({ headers: { ...HEADERS, 'x-powered-by': 'x' } }), /x-powered-by is not documented/],
    ['a header that is missing', answer({ headers: withoutId }), /X-Request-Id is missing/],
    ['the form of a header', answer({ headers: { ...HEADERS, etag: '"x"' } }), /ETag does not match/],
    ['the media type', answer({ headers: { ...HEADERS, 'content-type': 'text/html' } }), /text\/html is not/],
    ['a member', answer({ text: JSON.stringify({ ...ROW, price: 1 }) }), /price must be string/],
    ['a code at another status', problem(404, { code: 'conflict' }), /code must be equal/],
    ['the status of a document', problem(404, { status: 400 }), /status must be equal/]
  ] as const) {
    it(`finds ${what} of an answer that is not documented`, () => {
      expect(judge.differences(READ, wrong).join()).to.match(found)
    })
  }

  it('finds a body where there is none, and methods that differ', () => {
    const removal = { ...READ, method: 'DELETE' }
    expect(judge.differences(removal, answer({ status: 204 })).join()).to.match(/There is a body/)
    expect(judge.differencesOfAllow('/products/1', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS')).to.deep.equal([
      'Allow lacks PUT.',
      'Allow names POST, and the document does not.'
    ])
  })
})
