import { expect } from 'chai'
import { ResponseReader } from '../../bench/load/response-reader.js'

const FIXED = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhe\r\nl'
const EMPTY = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n'
const TRAILED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nx-check: 1\r\n\r\n'

describe('response reader of the load generator', () => {
  for (const [name, text, status, bytes] of [
    ['fixed', FIXED, 200, 5],
    ['empty', EMPTY, 404, 0],
    ['chunked', CHUNKED, 200, 13],
    ['chunked with a trailer', TRAILED, 200, 1]
  ] as const) {
    it(`finds the end of a ${name} response wherever the packets are cut`, () => {
      const whole = Buffer.from(text)
      for (let cut = 1; cut < whole.length; cut++) {
        const reader = new ResponseReader()
        expect(reader.push(whole.subarray(0, cut)), `cut at ${cut}`).to.equal(false)
        expect(reader.push(whole.subarray(cut)), `cut at ${cut}`).to.equal(true)
        expect(reader.status, `cut ${cut}`).to.equal(status)
        expect(reader.bodyBytes, `cut ${cut}`).to.equal(bytes)
      }
    })

    it(`takes the next response after a ${name} one`, () => {
      const reader = new ResponseReader()
      expect(reader.push(Buffer.from(text))).to.equal(true)
      expect(reader.push(Buffer.from(FIXED))).to.equal(true)
      expect(reader.bodyBytes).to.equal(5)
    })
  }

  it('rejects what it cannot follow', () => {
    const endless = Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n')
    expect(() => new ResponseReader().push(endless)).to.throw('neither length nor chunked')
    expect(() => new ResponseReader().push(Buffer.from(`${FIXED}more`))).to.throw('More bytes')
  })
})
