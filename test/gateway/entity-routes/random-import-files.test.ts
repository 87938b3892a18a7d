import { Readable } from 'node:stream'
import { expect } from 'chai'
import { Random } from '../../faults/fuzz.js'
import { dataSeed, isSoak } from '../../harness/in-soak.js'
import { CHUNK, type ImportFile, MEMBERS, randomFile } from '../../api/writes/random-import.js'
import type { ImportRequest } from '../../../gateway/data/data-client.js'
import { products, property } from '../fake-data-client.js'
import { startGateway, type GatewayFixture } from '../gateway-fixture.js'

const SEED = dataSeed
const FILES = isSoak ? 4000 : 300

const TYPES: Readonly<Record<string, string>> = {
  categoryId: 'int',
  price: 'decimal',
  weightGrams: 'int',
  barcode: 'long',
  releasedAt: 'dateTime',
  externalId: 'guid',
  isActive: 'bool'
}
const NULLABLE: readonly string[] = ['weightGrams', 'barcode', 'releasedAt', 'externalId', 'description']

/** The bytes in pieces as a connection may bring them. */
function* piecesOf(bytes: Buffer, random: Random): Generator<Buffer> {
  const most = random.pick([1, 7, 100, 65_536])
  // A large file in pieces of one byte would take long and show no more.
  const least = Math.ceil(bytes.length / 300)
  for (let from = 0; from < bytes.length;) {
    const length = Math.max(least, 1 + random.below(most))
    yield bytes.subarray(from, from + length)
    from += length
  }
}

describe(`the parts of random files to import, seed ${SEED}`, () => {
  let gateway: GatewayFixture
  before(async () => {
    const { operations } = products()
    const properties = MEMBERS.map((name) =>
      property(name, TYPES[name] ?? 'string', { nullable: NULLABLE.includes(name), setOnCreate: true })
    )
    gateway = await startGateway({}, [products({ operations: [...operations, 'import'], properties })])
  })
  after(() => gateway.close())

  it('hold their rows, each once and in order, however they were written and came', async () => {
    for (let number = 0; number < FILES; number++) {
      const seed = SEED + number
      const random = new Random(seed)
      const file = randomFile(random)
      gateway.data.calls.length = 0
      const answer = await gateway.app.inject({
        method: 'POST',
        url: '/products/import?onError=skip',
        headers: { 'content-type': file.format === 'csv' ? 'text/csv' : 'application/x-ndjson' },
        payload: Readable.from(piecesOf(file.bytes, random))
      })
      const told = `file of seed ${seed}: ${answer.payload.slice(0, 300)}`
      const parts = gateway.data.calls
        .filter(({ rpc }) => rpc === 'import')
        .map(({ request }) => request as ImportRequest)
      let next = 0
      for (const { rows = [], firstRow } of parts) {
        expect(firstRow ?? 0, told).to.equal(next)
        expect(rows.length, told).to.be.at.most(CHUNK)
        for (const row of rows) expectRow(row, file, { at: next++, told })
      }
      const end = endOf(file)
      if (end === undefined) {
        expect(answer.statusCode, told).to.equal(200)
        // Rows behind the one that ends a file of NDJSON come too.
        expect(next, told).to.be.at.least(file.rows.length)
        if (!file.rows.some(({ is }) => is === 'end')) expect(next, told).to.equal(file.rows.length)
        expect(
          parts.map(({ more }) => more === true),
          told
        ).to.deep.equal(parts.map((_, at) => at < parts.length - 1))
      } else {
        expect(answer.statusCode, told).to.equal(end.code === 'body.too-large' ? 413 : 400)
        expect(answer.json(), told).to.include({ code: end.code })
        expect(answer.payload, told).to.contain(`Row ${end.at + 1} `)
        expect(next % CHUNK, told).to.equal(0)
        expect(next, told).to.be.at.most(end.at)
      }
    }
  })
})

/** What ends the file in the gateway, which leaves it to the data service to say what is JSON. */
function endOf({ format, rows }: ImportFile): { readonly at: number; readonly code: string } | undefined {
  const at = rows.findIndex(({ is }) => is === 'end')
  const end = rows[at]
  if (end?.is !== 'end' || (format === 'ndjson' && end.code === 'body.malformed')) return undefined
  return { at, code: end.code }
}

function expectRow(
  row: unknown,
  { rows }: ImportFile,
  { at, told }: { readonly at: number; readonly told: string }
): void {
  const expected = rows[at]
  if (expected?.is === 'body') expect(JSON.parse(String(row)), told).to.deep.equal(expected.body)
}
