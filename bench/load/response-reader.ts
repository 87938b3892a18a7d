const HEADERS_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * Finds where one HTTP/1.1 response ends in the bytes of a keep-alive connection with one request under way. Far
 * cheaper than a full parser, and it may be: it reads only the answers to its own requests (RFC 9112 section 6:
 * `Content-Length` or `chunked`, nothing else).
 */
export class ResponseReader {
  status = 0
  bodyBytes = 0
  /** Status line and headers. */
  head = ''
  #held: Buffer = NOTHING
  #state: 'headers' | 'fixed' | 'chunk-size' | 'chunk-data' | 'trailer' = 'headers'
  #left = 0

  /** True once the response is complete; throws on an answer it cannot follow. */
  push(data: Buffer): boolean {
    let rest = this.#held.length === 0 ? data : Buffer.concat([this.#held, data])
    this.#held = NOTHING
    for (;;) {
      if (this.#state === 'fixed' || this.#state === 'chunk-data') {
        const taken = Math.min(this.#left, rest.length)
        this.#left -= taken
        rest = rest.subarray(taken)
        if (this.#left > 0) return false
        if (this.#state === 'fixed') return this.#complete(rest)
        this.#state = 'chunk-size'
        continue
      }
      const end = rest.indexOf(this.#state === 'headers' ? HEADERS_END : LINE_END)
      if (end === -1) {
        this.#held = rest
        return false
      }
      const text = rest.toString('latin1', 0, end)
      rest = rest.subarray(end + (this.#state === 'headers' ? 4 : 2))
      if (this.#state === 'headers') this.#readHeaders(text)
      else if (this.#state === 'chunk-size') this.#readChunkSize(text)
      else if (text === '') return this.#complete(rest)
    }
  }

  #readHeaders(text: string): void {
    this.head = text
    this.status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    if (length !== undefined) {
      this.#state = 'fixed'
      this.#left = Number(length)
      this.bodyBytes = this.#left
    } else if (/\r\ntransfer-encoding: *chunked/i.test(text)) {
      this.#state = 'chunk-size'
      this.bodyBytes = 0
    } else {
      throw new Error(`A response that says neither length nor chunked: ${text.slice(0, 200)}`)
    }
  }

  #readChunkSize(text: string): void {
    const size = Number.parseInt(text, 16)
    if (Number.isNaN(size)) throw new Error(`Not a chunk size: ${JSON.stringify(text.slice(0, 40))}`)
    this.bodyBytes += size
    this.#state = size === 0 ? 'trailer' : 'chunk-data'
    this.#left = size + LINE_END.length
  }

  #complete(rest: Buffer): true {
    if (rest.length > 0) throw new Error('More bytes than the response announced.')
    this.#state = 'headers'
    return true
  }
}
