import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { csvRows } from '../../../gateway/entity-routes/import-csv.js'
import { checkFileLength } from '../../../gateway/entity-routes/import-rows.js'
import type { ImportRequest, Property } from '../../../gateway/data/data-client.js'
import { described, products, property } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const MIB = 1024 * 1024

/** Products with a document in JSON. */
function documented(more: readonly Property[]): ReturnType<typeof products> {
  const { operations, properties } = products()
  return products({ operations: [...operations, 'import'], properties: [...properties, ...more] })
}

describe('a file to import', () => {
  let gateway: GatewayFixture
  afterEach(() => gateway?.close())

  it('has its cells read as JSON only where the caller sees that the property is JSON', async () => {
    const document = property('document', 'json', { setOnCreate: true })
    gateway = await startGateway({}, [documented([document])])
    gateway.data.answerDescribeTo = ({ authorization }) =>
      described([documented(authorization === 'Bearer may' ? [document] : [])])
    const send = (authorization: string, cell: string) =>
      gateway.app.inject({
        method: 'POST',
        url: '/products/import',
        headers: { 'content-type': 'text/csv', authorization },
        payload: `name,document,unknown\r\nx,${cell},${cell}\r\n`
      })
    const refused = await send('Bearer may', '{')
    expect(refused.statusCode).to.equal(400)
    expect(refused.payload).to.contain('Row 1 has no JSON in \\"document\\".')
    expect((await send('Bearer may', '[1]')).statusCode).to.equal(200)
    expect((await send('Bearer other', '{')).statusCode).to.equal(200)
    const sent = gateway.data.calls.filter(({ rpc }) => rpc === 'import').flatMap(({ request }) => partsIn(request))
    expect(sent).to.deep.equal([
      ['{"name":"x","document":[1],"unknown":"[1]"}'],
      ['{"name":"x","document":"{","unknown":"{"}']
    ])
  })

  it('is not read for a caller who may not import, whom the data service rejects', async () => {
    gateway = await startGateway({}, [documented([])])
    gateway.data.answerDescribeTo = () => {
      throw new TypeError('nobody asks what such a caller sees')
    }
    gateway.data.answerImport = () => {
      throw new DomainError('capability.denied', 'This takes a permission.')
    }
    const headers = { 'content-type': 'text/csv', authorization: 'Bearer reader' }
    const payload = `${','.repeat(9999)}\r\n`
    const answer = await gateway.app.inject({ method: 'POST', url: '/products/import', headers, payload })
    expect(answer.json()).to.include({ status: 403, code: 'capability.denied' })
    const sent = gateway.data.calls.filter(({ rpc }) => rpc === 'import').map(({ request }) => request)
    expect(sent).to.have.length(1)
    expect(sent[0]).to.deep.include({ rows: [], forget: true })
  })

  it('of CSV is read 1 KiB at a time, each in its turn', async () => {
    let turns = 0
    const turn = (): Promise<void> => Promise.resolve(void turns++)
    const file = Readable.from([Buffer.from('name\n'), Buffer.from('x\n'.repeat(4096))])
    const rows = []
    for await (const row of csvRows(file, documented([]), turn)) rows.push(row.toString())
    expect([rows.length, new Set(rows), turns]).to.deep.equal([4096, new Set(['{"name":"x"}']), 9])
  })

  it('has at most 256 MiB', () => {
    checkFileLength(256 * MIB)
    expect(() => checkFileLength(256 * MIB + 1))
      .to.throw(DomainError)
      .that.includes({ code: 'body.too-large' })
  })

  it('has no member for an empty cell of children', async () => {
    gateway = await startGateway({}, [{ ...documented([]), createdChildren: ['lines'] }])
    const payload = 'name,lines\r\nx,\r\ny,[]\r\n'
    const headers = { 'content-type': 'text/csv' }
    await gateway.app.inject({ method: 'POST', url: '/products/import', headers, payload })
    const sent = gateway.data.calls.filter(({ rpc }) => rpc === 'import').flatMap(({ request }) => partsIn(request))
    expect(sent).to.deep.equal([['{"name":"x"}', '{"name":"y","lines":[]}']])
  })

  it('of several parts has its last part sent again while another file has the turn, and its end told', async () => {
    gateway = await startGateway({}, [documented([])])
    let turns = 0
    gateway.data.answerImport = ({ more, firstRow }) => {
      if (more === true) return Buffer.from(`after ${firstRow}`)
      turns += 1
      if (turns === 1) throw new DomainError('upstream.unavailable', 'Another file has the turn.', { retryAfter: 0.01 })
      return Buffer.alloc(0)
    }
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/products/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: '{}\n'.repeat(501)
    })
    expect(answer.statusCode, answer.payload).to.equal(200)
    const calls = gateway.data.calls
      .filter(({ rpc }) => rpc === 'import')
      .map(({ request }) => request as ImportRequest)
    const said = calls.map(({ rows, firstRow, more, forget = false, continuation }) => {
      return [rows?.length, firstRow, more, forget, String(continuation)]
    })
    expect(said).to.deep.equal([
      [500, 0, true, false, ''],
      [1, 500, false, false, 'after 0'],
      [1, 500, false, false, 'after 0'],
      [0, 500, true, true, 'after 0']
    ])
  })

  it('that is refused is not read on without end', async () => {
    const unsentBounds = { connection: 64 * MIB, address: 4 * MIB, process: 64 * MIB, always: 0 }
    gateway = await startGateway({}, [documented([])], { load: { unsentBounds } })
    const socket = connect(Number(new URL(await listen(gateway)).port), '127.0.0.1')
    socket.on('error', () => undefined)
    const closed = once(socket, 'close')
    socket.write(
      'POST /products/import HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n'
    )
    // The parser of CSV looks at what follows the header row.
    socket.write(`28\r\n,,\n${'x'.repeat(37)}\r\n`)
    const answered = (await once(socket, 'data')) as readonly unknown[]
    expect(String(answered[0])).to.match(/^HTTP\/1\.1 400 /)
    socket.resume()
    while (!socket.destroyed) {
      socket.write('1\r\nx\r\n'.repeat(100))
      await new Promise(setImmediate)
    }
    await closed
  })
})

/** The rows of a part; the first one of CSV has none, and asks whether the caller may import at all. */
function partsIn(request: unknown): string[][] {
  const rows = rowsIn(request)
  return rows.length === 0 ? [] : [rows]
}

function rowsIn(request: unknown): string[] {
  const { rows = [] } = request as ImportRequest
  return rows.map(String)
}
