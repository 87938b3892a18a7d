import { expect } from 'chai'
import { headerRoom, type PageLink, pageLinks, paginationOf } from '../../../gateway/http/links.js'

const page = (currentPage: string, totalCount: string | undefined, hasNext: boolean): ReturnType<typeof paginationOf> =>
  paginationOf({ pageSize: 10, currentPage, totalCount, totalIsLowerBound: false, hasNext, hasPrevious: false })

describe('X-Pagination', () => {
  it('of a page in the middle names the page before and the page after', () => {
    expect(page('2', '25', true)).to.deep.equal({
      json: '{"totalCount":25,"pageSize":10,"currentPage":2,"totalPages":3,"hasPrevious":true,"hasNext":true}',
      totalCount: '25',
      previous: '1',
      next: '3',
      last: '3'
    })
  })
  it('of the only page names no page before or after', () => {
    expect(page('1', '10', false)).to.deep.include({ previous: undefined, next: undefined, last: '1' })
  })
  it('of an empty result has no last page', () => {
    expect(page('1', '0', false)).to.deep.include({
      json: '{"totalCount":0,"pageSize":10,"currentPage":1,"totalPages":0,"hasPrevious":false,"hasNext":false}',
      previous: undefined,
      last: undefined
    })
    expect(page('7', '0', false)).to.deep.include({ previous: undefined, last: undefined })
  })
  it('of a page far past the end names the last page as the one before, in exact digits', () => {
    const far = '123456789012345678901234567890'
    const answer = page(far, '25', false)
    expect(answer.previous).to.equal('3')
    expect(answer.json).to.include(`"currentPage":${far},`).and.include('"hasPrevious":true')
  })
  it('of a number that no header can hold leaves that out, and says what there is', () => {
    expect(page('9'.repeat(5000), '25', false).json).to.equal(
      '{"totalCount":25,"pageSize":10,"totalPages":3,"hasPrevious":true,"hasNext":false}'
    )
  })
  it('of a page just past the end names the last page as the one before', () =>
    expect(page('4', '25', false).previous).to.equal('3'))
  it('without a count leaves the totals out', () => {
    expect(page('3', undefined, true)).to.deep.equal({
      json: '{"pageSize":10,"currentPage":3,"hasPrevious":true,"hasNext":true}',
      totalCount: undefined,
      previous: '2',
      next: '4',
      last: undefined
    })
  })
  it('of a count that was cut says so, and has no last page', () => {
    const facts = { pageSize: 10, currentPage: '3', totalCount: '25', hasNext: true, hasPrevious: true }
    expect(paginationOf({ ...facts, totalIsLowerBound: true })).to.deep.equal({
      json: '{"totalCount":25,"totalIsLowerBound":true,"pageSize":10,"currentPage":3,"hasPrevious":true,"hasNext":true}',
      totalCount: '25',
      previous: '2',
      next: '4',
      last: undefined
    })
  })
  it('of an answer to a cursor has no number, and tells what the data service found', () => {
    const facts = { pageSize: 10, currentPage: '', totalCount: '25', hasNext: false, hasPrevious: true }
    expect(paginationOf({ ...facts, totalIsLowerBound: false })).to.deep.equal({
      json: '{"totalCount":25,"pageSize":10,"currentPage":null,"totalPages":3,"hasPrevious":true,"hasNext":false}',
      totalCount: '25',
      previous: undefined,
      next: undefined,
      last: '3'
    })
  })
  it('keeps counts beyond a double', () => {
    expect(page('1', '9007199254740993', true).json).to.include('"totalCount":9007199254740993,')
  })
})

describe('Link', () => {
  const url = 'https://x.example/products/paged'
  const links = (query: string, to: readonly PageLink[]): string | undefined => pageLinks({ url, query }, to, 4096)
  it('has a cursor in place of what said where the page began', () => {
    const to: readonly PageLink[] = [
      { rel: 'next', after: 'abc' },
      { rel: 'prev', before: 'def' }
    ]
    expect(links('after=x&BEFORE=y&page=3&pageSize=7&afterwards=1', to)).to.equal(
      `<${url}?pageSize=7&afterwards=1&after=abc>; rel="next", <${url}?pageSize=7&afterwards=1&before=def>; rel="prev"`
    )
  })
  it('keeps every other parameter as it was sent', () => {
    expect(
      links('a=%20&page=3&PageNumber=4&b&pagenumber=5&%70age=6&pageSize=7', [{ rel: 'next', pageNumber: '9' }])
    ).to.equal(`<${url}?a=%20&b&pageSize=7&pageNumber=9>; rel="next"`)
  })
  it('replaces the page size where it is told to', () => {
    expect(links('PAGESIZE=7', [{ rel: 'next', pageNumber: '3', pageSize: '500' }])).to.equal(
      `<${url}?pageSize=500&pageNumber=3>; rel="next"`
    )
  })
  it('lets nothing end the link early', () => {
    expect(links('a=<>"\u00e9 ,', [{ rel: 'first', pageNumber: '1' }])).to.equal(
      `<${url}?a=%3C%3E%22%E9%20,&pageNumber=1>; rel="first"`
    )
  })
  it('holds no character that a query may not, and leaves the rest as sent', () => {
    const query = "filters[name].value=a|b^`{}\\&x=%5b!$'()*+,;:@/?-._~"
    expect(links(query, [{ rel: 'first', pageNumber: '1' }])).to.equal(
      `<${url}?filters%5Bname%5D.value=a%7Cb%5E%60%7B%7D%5C&x=%5b!$'()*+,;:@/?-._~&pageNumber=1>; rel="first"`
    )
  })
  it('is bounded, and gives up last and first before next and prev', () => {
    const link = links(
      `a=${'x'.repeat(1900)}`,
      (['first', 'prev', 'next', 'last'] as const).map((rel) => ({ rel, pageNumber: '2' }))
    )
    expect(link?.match(/rel="\w+"/g)).to.deep.equal(['rel="prev"', 'rel="next"'])
    expect(links(`a=${'x'.repeat(4096)}`, [{ rel: 'next', pageNumber: '2' }])).to.equal(undefined)
  })
})

describe('the room for one more header', () => {
  it('has the bytes that other headers leave of 8 KiB, cookies aside', () => {
    const room = headerRoom({})
    expect(room).to.be.within(6 * 1024, 8 * 1024)
    expect(headerRoom({ a: 'b'.repeat(100), c: ['d', 'e'], 'set-cookie': 'x'.repeat(4096) })).to.equal(room - 105 - 12)
  })
})
