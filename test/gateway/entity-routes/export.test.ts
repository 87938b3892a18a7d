import { once } from 'node:events'
import { expect } from 'chai'
import type { HttpContext } from '../../../gateway/data/calls.js'
import type { ExportPart } from '../../../gateway/data/data-client.js'
import { DomainError } from '../../../shared/errors.js'
import { exchange, open } from '../../harness/http.js'
import { exportCsv, exportHeader, exportRows, parts, property } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const END: ExportPart = { end: { count: 2, truncated: false, unshownValues: [] } }

// What the full stack shows of exports is in test/api/export*.test.ts.
describe('exports', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const exporting = (...all: readonly (ExportPart | Error)[]): void => {
    gateway.data.answerExport = () => parts(...all)
  }

  it('tell the data service how long it may take, and who asks', async () => {
    await gateway.app.inject('/products/export')
    expect(gateway.data.calls[0]?.request).to.deep.equal({
      resource: 'products',
      selection: { filters: [] },
      idleTimeoutMs: 60_000,
      readerTimeoutMs: 3_600_000,
      clientAddress: '127.0.0.1',
      asCsv: { escapeFormulas: true },
      unplaced: { parameters: [] }
    })
  })

  it('tell the address of the client without the port that a trusted proxy writes behind it', async () => {
    await gateway.close()
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' })
    await gateway.app.inject({ url: '/products/export', headers: { 'x-forwarded-for': '203.0.113.9:4711' } })
    expect(gateway.data.calls[0]?.request).to.include({ clientAddress: '203.0.113.9' })
  })

  it('quote bare line ends and escape a carriage return', async () => {
    const columns = [property('text', 'string'), property('note', 'string')]
    exporting(exportHeader(...columns), exportRows([['a\nb', 'a\rb']]), exportRows([['\rx', ' é ']]), END)
    const answer = await gateway.app.inject('/products/export?bom=false')
    expect(answer.body).to.equal('text,note\r\n"a\nb","a\rb"\r\n"\'\rx", é \r\n')
  })

  it('quote a cell that looks like the remark of a file that is cut, which is never quoted', async () => {
    const columns = [property('text', 'string')]
    const cells = ['# export truncated at 2 rows', '# export incomplete after 1 rows', '# exported', 'x # export ']
    exporting(exportHeader(...columns), exportRows(cells.map((cell) => [cell])), {
      end: { count: 4, truncated: true, unshownValues: [] }
    })
    const answer = await gateway.app.inject('/products/export?bom=false')
    expect(answer.body).to.equal(
      'text\r\n"# export truncated at 2 rows"\r\n"# export incomplete after 1 rows"\r\n# exported\r\nx # export \r\n' +
        '# export truncated at 4 rows\r\n'
    )
  })

  it('pass on rows of CSV as they came, also between rows of JSON', async () => {
    const columns = [property('id', 'int'), property('text', 'string')]
    exporting(exportHeader(...columns), exportCsv('1,=not touched\r\n2,""\r\n', 2), exportRows([[3, '=x']]), {
      end: { count: 3, truncated: true, unshownValues: [] }
    })
    const answer = await gateway.app.inject('/products/export')
    expect(answer.body).to.equal(
      '\uFEFFid,text\r\n1,=not touched\r\n2,""\r\n3,\'=x\r\n# export truncated at 3 rows,\r\n'
    )
  })

  it('name values that are not shown in one cell, and keep the number of cells', async () => {
    exporting(exportHeader(property('id', 'int'), property('a', 'int')), exportCsv('1,\r\n2,\r\n', 2), {
      end: { count: 2, truncated: true, unshownValues: ['1; property=a', '2%2C3; property=a', 'more=5'] }
    })
    const answer = await gateway.app.inject('/products/export?bom=false')
    expect(answer.body.split('\r\n').slice(3)).to.deep.equal([
      '# export without values: 1=a 2%2C3=a more=5,',
      '# export truncated at 2 rows,',
      ''
    ])
  })

  it('tell the data service whether to escape formulas', async () => {
    await gateway.app.inject('/products/export?escapeFormulas=false')
    expect(gateway.data.calls[0]?.request).to.deep.include({ asCsv: { escapeFormulas: false } })
  })

  it('that fail among rows of CSV count them', async () => {
    const url = await listen(gateway)
    exporting(exportHeader(), exportCsv('1,a\r\n2,b\r\n', 2), new DomainError('upstream.timeout', 'x'))
    const bytes = await exchange(url, 'GET /products/export?bom=false HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(bytes).to.include('2,b\r\n').and.include('# export incomplete after 2 rows,\r\n')
    expect(bytes, 'the last chunk').to.not.match(/\r\n0\r\n\r\n$/)
  })

  it('that fail between the header and the first row are a problem document', async () => {
    exporting(exportHeader(), new DomainError('fields.invalid', 'x'))
    const answer = await gateway.app.inject('/products/export')
    expect(answer.json()).to.include({ status: 400, code: 'fields.invalid' })
    expect(answer.headers).to.not.have.any.keys('content-disposition', 'x-export-row-limit')
  })

  it('that fail on the way say so and break off', async () => {
    const url = await listen(gateway)
    exporting(exportHeader(), exportRows([[1, 'a']]), exportRows([[2, 'b']]), new DomainError('upstream.timeout', 'x'))
    const bytes = await exchange(url, 'GET /products/export?bom=false HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(bytes).to.include('2,b\r\n').and.include('# export incomplete after 2 rows,\r\n')
    expect(bytes, 'the last chunk').to.not.match(/\r\n0\r\n\r\n$/)
    expect(gateway.lines.some(({ msg }) => msg === 'export broken off')).to.equal(true)
  })

  it('that end without an end break off too', async () => {
    const url = await listen(gateway)
    exporting(exportHeader(), exportRows([[1, 'a']]))
    const bytes = await exchange(url, 'GET /products/export HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(bytes).to.include('# export incomplete after 1 rows,')
  })

  it('are pulled no faster than their client reads, and end with it', async () => {
    const url = await listen(gateway)
    const batch = exportRows(Array.from({ length: 500 }, (_, index) => [index, 'x'.repeat(2000)]))
    let pulled = 0
    const left = new Promise<HttpContext>((resolve) => {
      gateway.data.answerExport = async function* (call) {
        try {
          yield exportHeader()
          for (; pulled < 1000; pulled += 1) yield batch
        } finally {
          resolve(call)
        }
      }
    })
    const response = await open(`${url}/products/export`)
    response.pause()
    const before = await settled(() => pulled)
    expect(before, 'batches of 1 MB pulled for a client that reads nothing').to.be.lessThan(100)
    response.resume()
    await once(response, 'data')
    response.destroy()
    expect((await left).signal.aborted).to.equal(true)
    expect(pulled).to.be.lessThan(1000)
  })

  describe('to a client that is slow', () => {
    const SHORT = { head: 30_000, body: 30_000, response: 500 }
    const BATCHES = 70
    /** More than any system keeps of a connection. */
    const ENDLESS = 10_000
    let batches = BATCHES
    const batch = exportRows(Array.from({ length: 64 }, (_, index) => [index, 'x'.repeat(1000)]))
    let slow: GatewayFixture
    let url: string
    let left: Promise<HttpContext>
    beforeEach(async () => {
      batches = BATCHES
      slow = await startGateway({}, undefined, { timeouts: SHORT })
      url = await listen(slow)
      left = new Promise((resolve) => {
        slow.data.answerExport = async function* (call) {
          try {
            yield exportHeader()
            for (let n = 0; n < batches; n++) yield batch
            yield { end: { count: batches * 64, truncated: false, unshownValues: [] } }
          } finally {
            resolve(call)
          }
        }
      })
    })
    afterEach(() => slow.close())

    it('are whole for one that reads on, though nothing leaves the gateway for longer than it may be idle', async () => {
      const response = await open(`${url}/products/export?bom=false`)
      response.pause()
      const ended = once(response, 'end')
      let length = 0
      const tick = setInterval(() => {
        const piece: unknown = response.read(Math.min(64 * 1024, response.readableLength))
        if (Buffer.isBuffer(piece)) length += piece.length
      }, 70)
      try {
        await ended
      } finally {
        clearInterval(tick)
      }
      expect(response.complete).to.equal(true)
      expect(length).to.be.greaterThan(BATCHES * 64 * 1000)
      expect((await left).signal.aborted).to.equal(false)
    })

    it('end for one that reads nothing', async () => {
      batches = ENDLESS
      const response = await open(`${url}/products/export`)
      response.pause()
      response.on('error', () => undefined)
      // The rows may end before the signal of the call is aborted.
      const { signal } = await left
      while (!signal.aborted) await new Promise(setImmediate)
      response.destroy()
    })
  })
})

/** The value once it has stayed the same for some turns of the event loop and the sockets with it. */
async function settled(value: () => number): Promise<number> {
  for (let last = -1, same = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    same = value() === last ? same + 1 : 0
    last = value()
    if (same === 20) return last
  }
}
