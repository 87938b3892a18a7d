import { once } from 'node:events'
import { expect } from 'chai'
import type { CallContext } from '../../../gateway/data/calls.js'
import type { ExportPart } from '../../../gateway/data/data-client.js'
import { DomainError, rejection } from '../../../shared/errors.js'
import { exchange, open } from '../../harness/http.js'
import { exportHeader, exportRows, parts, property } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const END: ExportPart = { end: { count: 2, truncated: false } }

describe('exports', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const exporting = (...all: readonly (ExportPart | Error)[]): void => {
    gateway.data.answerExport = () => parts(...all)
  }
  const body = async (query = '?bom=false'): Promise<string> =>
    (await gateway.app.inject(`/products/export${query}`)).body

  it('are CSV with their name, their limit and a byte order mark', async () => {
    exporting(exportHeader(), exportRows([[1, 'a']]), exportRows([[2, 'b']]), END)
    const answer = await gateway.app.inject('/products/export?fields=id,name')
    expect(answer.body).to.equal('\uFEFFid,name\r\n1,a\r\n2,b\r\n')
    expect(answer.headers).to.include({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="products-20310203T040506Z.csv"',
      'x-export-row-limit': '100',
      'cache-control': 'no-store',
      'api-supported-versions': '1.0'
    })
    expect(gateway.data.calls[0]?.request).to.deep.equal({
      resource: 'products',
      selection: { filters: [] },
      fields: 'id,name',
      idleTimeoutMs: 60_000,
      readerTimeoutMs: 3_600_000,
      clientAddress: '127.0.0.1',
      unplaced: { parameters: [] }
    })
  })

  it('tell null from the empty string and quote what needs it', async () => {
    const columns = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => property(name, 'string'))
    exporting(exportHeader(...columns), exportRows([['', null, 'x,y', 'say "hi"', 'a\nb', 'a\rb', ' é ']]), END)
    expect(await body()).to.equal('a,b,c,d,e,f,g\r\n"",,"x,y","say ""hi""","a\nb","a\rb", é \r\n')
  })

  it('write each type as on the wire', async () => {
    const types = ['int', 'long', 'decimal', 'bool', 'bool', 'dateTime', 'guid'] as const
    exporting(
      exportHeader(...types.map((type, index) => property(`p${index}`, type))),
      exportRows([[0, '9007199254740993', '-1.50', true, false, '2024-01-02T03:04:05.000Z', 'b0']]),
      END
    )
    expect((await body()).split('\r\n')[1]).to.equal('0,9007199254740993,-1.50,true,false,2024-01-02T03:04:05.000Z,b0')
  })

  it('escape formulas in string columns alone', async () => {
    const columns = [property('text', 'string'), property('price', 'decimal')]
    const cells = ['=1', '+1', '-1', '@x', '\tx', '\rx', 'a=1', '', null]
    exporting(exportHeader(...columns), exportRows(cells.map((cell) => [cell, '-1.00'])), END)
    expect((await body()).split('\r\n').slice(1, -1)).to.deep.equal([
      "'=1,-1.00",
      "'+1,-1.00",
      "'-1,-1.00",
      "'@x,-1.00",
      "'\tx,-1.00",
      '"\'\rx",-1.00',
      'a=1,-1.00',
      '"",-1.00',
      ',-1.00'
    ])
    exporting(exportHeader(...columns), exportRows([['=1', '-1.00']]), END)
    expect((await body('?bom=false&escapeFormulas=false')).split('\r\n')[1]).to.equal('=1,-1.00')
  })

  it('that were cut end in a padded row that says so', async () => {
    exporting(exportHeader(), exportRows([[1, 'a']]), { end: { count: 1, truncated: true } })
    expect(await body()).to.equal('id,name\r\n1,a\r\n# export truncated at 1 rows,\r\n')
  })

  it('of nothing are a header row', async () => {
    exporting(exportHeader(), { end: { count: 0, truncated: false } })
    expect(await body()).to.equal('id,name\r\n')
  })

  it('that fail before the first row are a problem document', async () => {
    for (const [at, all] of [
      [new DomainError('fields.invalid', 'x')],
      [exportHeader(), new DomainError('fields.invalid', 'x')]
    ].entries()) {
      exporting(...all)
      const answer = await gateway.app.inject('/products/export')
      expect(answer.json(), `case ${at}`).to.include({ status: 400, code: 'fields.invalid' })
      expect(answer.headers, `case ${at}`).to.not.have.any.keys('content-disposition', 'x-export-row-limit')
    }
  })

  it('reject includeChildren through the data service, strict or not', async () => {
    await gateway.app.inject('/products/export?includeChildren=false&includeFKs=true')
    expect(gateway.data.calls[0]?.request).to.deep.include({ unplaced: { parameters: ['includeChildren'] } })
  })

  it('with bad options are rejected after who may, and together with what else is wrong', async () => {
    exporting(exportHeader(), exportRows([[1, 'a']]), END)
    const answer = await gateway.app.inject('/products/export?bom=no')
    expect(answer.json()).to.include({ status: 400, code: 'request.malformed' })
    expect(answer.json()).to.have.property('detail').that.includes('bom')

    exporting(new DomainError('auth.required', 'This needs an access token.'))
    expect((await gateway.app.inject('/products/export?bom=no')).json()).to.include({ code: 'auth.required' })

    const detail = 'No such column.'
    const place = { in: 'parameter', name: 'sortColumn' } as const
    exporting(rejection([{ code: 'sort.property.unknown', detail, place }]))
    const both = (await gateway.app.inject('/products/export?bom=no&sortColumn=x')).json<{ errors: object[] }>()
    expect(both.errors).to.deep.include({ code: 'sort.property.unknown', detail, parameter: 'sortColumn' })
    expect(both.errors).to.have.lengthOf(2)
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
    const left = new Promise<CallContext>((resolve) => {
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
    const SHORT = { head: 500, body: 500, response: 500 }
    const BATCHES = 70
    const batch = exportRows(Array.from({ length: 64 }, (_, index) => [index, 'x'.repeat(1000)]))
    let slow: GatewayFixture
    let url: string
    let left: Promise<CallContext>
    beforeEach(async () => {
      slow = await startGateway({}, undefined, { timeouts: SHORT })
      url = await listen(slow)
      left = new Promise((resolve) => {
        slow.data.answerExport = async function* (call) {
          try {
            yield exportHeader()
            for (let n = 0; n < BATCHES; n++) yield batch
            yield { end: { count: BATCHES * 64, truncated: false } }
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
    }).timeout(60_000)

    it('end for one that reads nothing', async () => {
      const response = await open(`${url}/products/export`)
      response.pause()
      response.on('error', () => undefined)
      expect((await left).signal.aborted).to.equal(true)
      response.destroy()
    }).timeout(20_000)
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
