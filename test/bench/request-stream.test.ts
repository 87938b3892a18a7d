import { expect } from 'chai'
import { requestStreams } from '../../bench/load/request-stream.js'

const TO = ['localhost:1', 'localhost:2']

describe('requests of the load generator', () => {
  it('creates under a key and a SKU that come once', () => {
    const requests = { kind: 'create', token: 't', round: 'round', categories: [3, 4] } as const
    const texts = requestStreams(requests, TO).flatMap((stream) => [stream.next(), stream.next()])
    const keys = texts.map((text) => /\r\nIdempotency-Key: (.+)\r\n/.exec(text)?.[1])
    expect(keys).to.deep.equal(['round-1', 'round-2', 'round-3', 'round-4'])
    for (const text of texts)
      expect(text)
        .to.match(/^POST \/products HTTP\/1.1\r\n/)
        .and.contain('Bearer t\r\n')
    expect(texts.map((text) => bodyOf(text).sku)).to.deep.equal(keys)
  })

  it('updates rows of its own with the tag of the last answer', () => {
    const row = (id: number) => ({ id, sku: `SKU-${id}`, categoryId: 1, etag: `"${id}"` })
    const requests = { kind: 'update', token: 't', rows: [1, 2, 3, 4].map(row), categories: [1] } as const
    const [first, second] = requestStreams(requests, TO)
    if (first === undefined || second === undefined) throw new Error('Two connections have two streams.')
    const sent = [first, second].map((stream) =>
      ['a', 'b', 'c', 'd'].map((tag) => {
        const text = stream.next()
        stream.answered(`HTTP/1.1 200 OK\r\nETag: "${tag}"\r\nContent-Length: 0`)
        expect(bodyOf(text).sku, tag).to.equal(`SKU-${/PUT \/products\/(\d+)/.exec(text)?.[1]}`)
        return /PUT \/products\/(\d+).*If-Match: (\S+)/s.exec(text)?.slice(1).join(' ')
      })
    )
    expect(sent).to.deep.equal([
      ['3 "3"', '1 "1"', '3 "a"', '1 "b"'],
      ['4 "4"', '2 "2"', '4 "a"', '2 "b"']
    ])
  })

  it('reads as the clients in turn, each over a connection to the next server', () => {
    const clients = [
      { headers: ['Authorization: Bearer a'] },
      { headers: ['Authorization: Bearer b'], paths: ['/own'] }
    ]
    const requests = { kind: 'read', clients, paths: ['/1', '/2'] } as const
    const texts = requestStreams(requests, ['one', 'two', 'three']).map((stream) => stream.next())
    expect(texts).to.deep.equal([
      'GET /1 HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer a\r\n\r\n',
      'GET /own HTTP/1.1\r\nHost: two\r\nAuthorization: Bearer b\r\n\r\n',
      'GET /2 HTTP/1.1\r\nHost: three\r\nAuthorization: Bearer a\r\n\r\n'
    ])
  })

  it('mixes one write into ten requests and says which it is', () => {
    const reads = { kind: 'read', clients: [{ headers: [] }], paths: ['/1'] } as const
    const rows = [{ id: 7, sku: 'SKU-7', categoryId: 1, etag: '"a"' }]
    const writes = { kind: 'update', token: 't', rows, categories: [1] } as const
    const [stream] = requestStreams({ kind: 'mix', reads, writes }, ['one'])
    if (stream === undefined) throw new Error('One connection has one stream.')
    const sent = Array.from({ length: 20 }, (_, index) => {
      const text = stream.next()
      const { writing } = stream
      stream.answered(`HTTP/1.1 200 OK\r\nETag: "${index}"\r\nContent-Length: 0`)
      return `${text.slice(0, 3)} ${writing} ${/If-Match: (\S+)/.exec(text)?.[1] ?? ''}`
    })
    const nine = Array.from({ length: 9 }, () => 'GET false ')
    expect(sent).to.deep.equal([...nine, 'PUT true "a"', ...nine, 'PUT true "9"'])
  })

  it('changes the category of rows by an action', () => {
    const rows = [{ id: 7, sku: 'SKU-7', categoryId: 1, etag: '"a"' }]
    const requests = { kind: 'action', token: 't', rows, categories: [3, 4] } as const
    const text = requestStreams(requests, ['one'])[0]?.next() ?? ''
    expect(text).to.match(/^PUT \/products\/7\/change-category HTTP.*If-Match: "a".*\{"categoryId":4\}$/s)
  })

  it('says how long its bodies are', () => {
    const requests = { kind: 'create', token: 't', round: 'round', categories: [1] } as const
    const text = requestStreams(requests, TO)[0]?.next() ?? ''
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(/Content-Length: (\d+)/.exec(head)?.[1]).to.equal(String(Buffer.byteLength(body)))
  })
})

function bodyOf(text: string): { readonly sku: string } {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as { sku: string } // of product-body.ts
}
