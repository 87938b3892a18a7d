import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import {
  bool,
  date,
  dateTime,
  decimal,
  double,
  freeText,
  guid,
  int,
  json,
  long,
  oneOf,
  optional,
  readOnly,
  setOf,
  text,
  time
} from '../../../data-service/entity/fields/words.js'
import type { ExportResponse__Output } from '../../../shared/gen/entity/v1/ExportResponse.js'
import { isSoak } from '../../harness/in-soak.js'
import { type GatewayFixture, startGateway } from '../../gateway/gateway-fixture.js'
import { parts } from '../../gateway/fake-data-client.js'
import { metadata, type RunningService, runService } from '../rpc/running-service.js'

const WORDS = ['=a', 'b"c', '# export word', 'd'] as const

const samples = defineEntity({
  name: 'samples',
  description: 'A property of every type that an export shows.',
  fields: {
    id: readOnly(int()),
    name: text(100),
    note: optional(freeText()),
    flag: optional(bool()),
    count: optional(int()),
    serial: optional(long()),
    price: optional(decimal(12, 2)),
    ratio: optional(double()),
    madeAt: optional(dateTime()),
    day: optional(date()),
    opens: optional(time()),
    code: optional(guid()),
    word: optional(oneOf(WORDS)),
    words: optional(setOf(WORDS)),
    data: optional(json())
  },
  computed: {
    banner: { type: 'string', from: ['note'], value: (note) => (note === null ? null : `-${String(note)}`) },
    sum: { type: 'decimal', from: ['price'], value: (price) => price },
    mean: { type: 'double', from: ['ratio'], value: (ratio) => ratio }
  },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone }
})

const overridden = defineEntity({
  name: 'overridden',
  description: 'Shows only what an override lets through, which looks at the rows.',
  fields: { id: readOnly(int()), name: text(100) },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone },
  overrides: {
    export: async function* (_context, request, standard) {
      for await (const part of standard(request)) {
        const all = JSON.parse(String(part.rows?.json ?? '[]')) as unknown[]
        const some = all.filter((_row, index) => index % 2 === 0)
        yield part.rows ? { rows: { json: Buffer.from(JSON.stringify(some)), count: some.length } } : part
      }
    }
  }
})

/** Pieces of text in which something has a meaning for CSV, for spreadsheets, for a file that is cut, or for UTF-8. */
const PIECES = ['"', ',', '\r', '\n', '\r\n', '=', '+', '-', '@', '\t', ';', '＝', '＋', '－', '＠', 'ｂ', "'", ' ', 'a', 'é', '€', '𝄞', '\uD800', '\uFEFF', '\u2028', '\0', '# export ', '# export truncated at 1 rows', 'x'.repeat(99), 'é'.repeat(60), 'y'.repeat(5000)] as const // prettier-ignore
const awkward = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((all) => all.join(''))
const anyText = fc.oneof({ arbitrary: awkward, weight: 4 }, fc.string({ unit: 'binary', maxLength: 150 }))
const orNull = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { freq: 4 })

/** Values as the decoders of the databases give them. */
const row = fc.record({
  id: fc.integer(),
  name: anyText,
  note: orNull(anyText),
  flag: orNull(fc.boolean()),
  count: orNull(fc.integer()),
  serial: orNull(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  price: orNull(fc.integer().map((cents) => (cents / 100).toFixed(2))),
  ratio: orNull(fc.oneof(fc.constantFrom(-0, 0, 1e21, -1e-7), fc.double({ noNaN: true, noDefaultInfinity: true }))),
  madeAt: orNull(fc.constantFrom('2026-01-31T08:00:00.000Z', '1999-12-31T23:59:59.123456Z')),
  day: orNull(fc.constantFrom('2026-01-31', '0000-00-00')),
  opens: orNull(fc.constantFrom('08:00:00', '-838:59:59.5')),
  code: orNull(fc.uuid()),
  word: orNull(fc.constantFrom(...WORDS)),
  words: orNull(fc.subarray([...WORDS])),
  data: orNull(fc.json())
})

describe('rows of an export as CSV', () => {
  let service: RunningService
  let gateway: GatewayFixture
  before(async () => {
    service = await runService([samples, overridden])
    gateway = await startGateway()
  })
  after(async () => {
    await gateway.close()
    await service.stop()
  })

  const exported = async (request: object, resource = 'samples'): Promise<ExportResponse__Output[]> => {
    const all: ExportResponse__Output[] = []
    const call = service.client.export({ resource, idleTimeoutMs: 20_000, ...request }, metadata())
    // The messages have the type of the rpc.
    for await (const part of call) all.push(part as ExportResponse__Output)
    return all
  }
  /** The file that a gateway makes of the messages. */
  const fileOf = async (messages: readonly ExportResponse__Output[], escapeFormulas: boolean): Promise<string> => {
    gateway.data.answerExport = () => parts(...messages)
    return (await gateway.app.inject(`/products/export?bom=false&escapeFormulas=${escapeFormulas}`)).body
  }

  it('are the bytes that csv-stringify writes of the same values, whatever they are', async () => {
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (rows, escapeFormulas) => {
        service.store.rows = rows
        const asCsv = await exported({ asCsv: { escapeFormulas } })
        const asJson = await exported({})
        const own = asCsv.flatMap(({ rows: some }) => some ?? [])
        expect(own.every(({ json }) => json.length === 0)).to.equal(true)
        // The gateway has csv-stringify write rows that come as JSON.
        expect(await fileOf(asCsv, escapeFormulas)).to.equal(await fileOf(asJson, escapeFormulas))
      }
    )
    await fc.assert(property, { numRuns: isSoak ? 150 : 40 })
  })

  it('quote by the rules of csv-stringify alone, which are those of RFC 4180', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 20 }), async (names) => {
        service.store.rows = names.map((name, id) => ({ id, name }))
        const csv = (await exported({ fields: 'id,name', asCsv: { escapeFormulas: false } })).map(
          ({ rows }) => rows?.csv.toString() ?? ''
        )
        const rows = names.map((name, id) => [id, Buffer.from(name).toString()])
        expect(csv.join('')).to.equal(
          stringify(rows, { record_delimiter: '\r\n', quoted_match: /^$|[\r\n;\t]|^# export / })
        )
      }),
      { numRuns: isSoak ? 100 : 30 }
    )
  })

  it('quote semicolons and tabs, and escape line feeds and full-width signs at the beginning', async () => {
    const cells = [
      ['a;b', '"a;b"'],
      ['a\tb', '"a\tb"'],
      ['\n=1', '"\'\n=1"'],
      ['＝1', "'＝1"],
      ['＋1', "'＋1"],
      ['－1', "'－1"],
      ['＠a;b', '"\'＠a;b"'],
      ['ｂ＝1', 'ｂ＝1']
    ] as const
    service.store.rows = cells.map(([name], id) => ({ id, name }))
    const parts = await exported({ fields: 'name', asCsv: { escapeFormulas: true } })
    const text = parts.map(({ rows }) => rows?.csv.toString() ?? '').join('')
    expect(text).to.equal(cells.map(([, cell]) => `${cell}\r\n`).join(''))
  })

  it('come in messages of bounded size, each of whole rows', async () => {
    const name = 'é'.repeat(50)
    service.store.rows = Array.from({ length: 3000 }, (_, id) => ({ id, name: id === 7 ? 'z'.repeat(300_000) : name }))
    const messages = (await exported({ fields: 'id,name', asCsv: { escapeFormulas: true } })).flatMap(
      ({ rows }) => rows ?? []
    )
    expect(messages.length).to.be.above(3)
    const large = messages.filter(({ csv }) => csv.length > 70_000)
    expect(large.map(({ csv }) => csv.toString().includes('zzz'))).to.deep.equal([true])
    for (const { csv, count } of messages) {
      expect(csv.toString().endsWith('\r\n')).to.equal(true)
      expect(csv.toString().split('\r\n')).to.have.length(count + 1)
    }
    const whole = messages.map(({ csv }) => csv.toString()).join('')
    expect(whole).to.equal(service.store.rows.map((one) => `${String(one['id'])},${String(one['name'])}\r\n`).join(''))
  })

  it('stay as they are for slow readers, while further rows are written into memory that is used again', async () => {
    service.store.rows = Array.from({ length: 2000 }, (_, id) => ({ id, name: `${id} `.repeat(30).trim() }))
    service.store.batches = 5
    const batch = service.store.rows.map((one) => `${String(one['id'])},${String(one['name'])}\r\n`).join('')
    try {
      const slowly = async (every: number): Promise<string> => {
        const read: Buffer[] = []
        const request = {
          resource: 'samples',
          idleTimeoutMs: 20_000,
          fields: 'id,name',
          asCsv: { escapeFormulas: true }
        }
        for await (const part of service.client.export(request, metadata())) {
          // The messages have the type of the rpc.
          read.push((part as ExportResponse__Output).rows?.csv ?? Buffer.alloc(0))
          if (read.length % every === 0) await delay(5)
        }
        return Buffer.concat(read).toString()
      }
      for (const file of await Promise.all([1, 3, 1000].map(slowly))) expect(file).to.equal(batch.repeat(5))
    } finally {
      service.store.batches = 1
    }
  })

  it('are JSON for an override, which looks at them', async () => {
    service.store.rows = [1, 2, 3].map((id) => ({ id, name: `=${id}` }))
    const messages = await exported({ asCsv: { escapeFormulas: true } }, 'overridden')
    expect(messages.flatMap(({ rows }) => (rows ? [String(rows.json), String(rows.csv)] : []))).to.deep.equal([
      '[[1,"=1"],[3,"=3"]]',
      ''
    ])
    expect(await fileOf(messages, true)).to.equal("id,name\r\n1,'=1\r\n3,'=3\r\n")
  })
})
