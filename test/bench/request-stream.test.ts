import { expect } from 'chai'
import { requestStreams } from '../../bench/load/request-stream.js'

const TO = { host: 'localhost:1', connections: 2 }

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
    const requests = { kind: 'update', token: 't', rows: [1, 2, 3, 4].map(row) } as const
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
