import { Metadata } from '@grpc/grpc-js'
import { expect } from 'chai'
import protobuf from 'protobufjs'
import { describedPackage } from '../../data-service/rpc/typed-calls.js'
import { json } from '../api/http-call.js'
import { type Failed, failureOf, type Message, TypedClient } from '../harness/typed-client.js'
import { describeLibrary } from './describe-library.js'
import library from './uniform-rest.config.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }

/** Every type, with the values that a narrower one would lose. */
const SENT = {
  meter_id: '1',
  read_on: '0001-01-01',
  checked_on: '9999-12-31',
  read_at: '23:59:59',
  started_at: '00:00:00.001',
  made_in: 1901,
  amount: 5e-324,
  deviation: 1.7976931348623157e308,
  share: 1.100000023841858,
  kind: 'KIND_NORTH_S_HEAT',
  state: 'STATE_CLOSED',
  rank: -128,
  floor: 0,
  depth: -32768,
  height: 16_777_215,
  pulses: '4294967295',
  serial: '18446744073709551615',
  is_sealed: false,
  flags: 4095,
  wide_flags: '1099511627775',
  noted_at: { seconds: '1709208000' },
  measured_at: { seconds: '-62135596800', nanos: 1000 },
  labels: { words: ['LABELS_NEW', 'LABELS_HARD_TO_REACH'] },
  remarks: {},
  details: '{"made":12345678901234567890,"name":"\\u00e9"}',
  notes: '[1.0,null]',
  proof: Buffer.from([0, 255]),
  digest: Buffer.alloc(16, 7),
  story: 'a,"b"',
  essay: ''
}

/** The tag of field 1 with a message: the row of a request. */
const READING_TAG = 10
/** One of the readings of a batch, with nothing but the unknown field 1023. */
const BATCH_READING = Buffer.from([READING_TAG, 6, 0xfa, 0x3f, 3, 0x61, 0x62, 0x63])

describeLibrary(
  'typed services',
  (store) => {
    let client: TypedClient
    const unary = (method: string, request: Message, claims: object = LIBRARIAN): Promise<Message> =>
      client.call(method, request, store.tokenOf({ ...claims }))
    const failed = (method: string, request: Message, claims: object = LIBRARIAN): Promise<Failed> =>
      client.failure(method, request, store.tokenOf({ ...claims }))
    const idsOf = async (request: Message): Promise<unknown[]> =>
      (((await unary('ListReadings', request))['readings'] ?? []) as readonly Message[]).map(({ id }) => id)
    const row = (more: Message = {}): Message => ({ reading: { ...SENT, ...more } })

    before(async () => {
      const meter = {
        name: 'Main',
        kind: 'gas',
        installedOn: '1999-12-31',
        factor: -0.5,
        labels: ['Büro'],
        plan: { a: 1 }
      }
      const headers = { 'content-type': 'application/json' }
      const made = await store.as(LIBRARIAN, '/meters', {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...meter, photo: null })
      })
      expect(made.status, made.text).to.equal(201)
      client = new TypedClient(library, 'ReadingService', store.stack.dataAddress)
    })
    after(() => client.close())

    it('name a row by a unique property', async () => {
      const errands = new TypedClient(library, 'ErrandService', store.stack.dataAddress)
      const token = store.tokenOf({ ...LIBRARIAN, branches: [2] })
      const errand = { title: 'By title', member_id: 7, branch_id: 2, is_open: true }
      const made = (await errands.call('CreateErrand', { errand }, token))['errand'] as Message
      const found = await errands.call('GetErrandByTitle', { title: 'BY TITLE' }, token)
      expect(found['errand']).to.deep.equal(made)
      const { title: _title, ...others } = errand
      const replace = { title: 'by title', row_version: made['row_version'], errand: { ...others, member_id: 8 } }
      const replaced = await errands.call('ReplaceErrandByTitle', replace, token)
      expect(replaced['errand']).to.include({ id: made['id'], title: 'By title', member_id: 8 })
      expect(await errands.failure('ReplaceErrandByTitle', replace, token)).to.include({ reason: 'conflict' })
      expect(await errands.failure('GetErrandByTitle', { title: 'none' }, token)).to.include({ reason: 'not-found' })
      errands.close()
    })

    it('write every type without a loss, and read it as it was written', async () => {
      const created = (await unary('CreateReading', row()))['reading'] as Message
      const http = await store.as(LIBRARIAN, '/readings/1')
      expect(http.text).to.include('"details":{"made":12345678901234567890,"name":"é"}')
      expect(json(http)).to.deep.include({
        serial: '18446744073709551615',
        measuredAt: '0001-01-01T00:00:00.000001Z',
        notedAt: '2024-02-29T12:00:00.000Z',
        amount: 5e-324,
        deviation: 1.7976931348623157e308,
        kind: "north's heat",
        state: 'closed',
        labels: ['new', 'hard to reach'],
        remarks: [],
        photo: null,
        proof: 'AP8=',
        floor: 0,
        essay: ''
      })
      const { reading } = (await unary('GetReading', { id: '1' })) as { readonly reading: Message }
      expect(reading).to.deep.equal(created)
      const expected = {
        ...SENT,
        share: 1.1,
        noted_at: { seconds: '1709208000', nanos: 0 },
        details: '{"made":12345678901234567890,"name":"é"}'
      }
      for (const [field, value] of Object.entries(expected)) {
        const found = reading[field]
        if (typeof value === 'object' && !Buffer.isBuffer(value)) expect(found, field).to.deep.include(value)
        else expect(found, field).to.deep.equal(value)
      }
      expect(reading).to.not.have.any.keys('photo')
      expect(reading['meter_kind']).to.equal('METER_KIND_GAS')
      expect(reading['row_version']).to.have.length(8)
    })

    it('replace a row with what was read of it, and its version moves on', async () => {
      const { reading } = (await unary('GetReading', { id: '1' })) as { readonly reading: Message }
      const request = { id: '1', reading, row_version: reading['row_version'] }
      const { reading: replaced } = (await unary('ReplaceReading', request)) as { readonly reading: Message }
      expect({ ...replaced, row_version: 0 }).to.deep.equal({ ...reading, row_version: 0 })
      expect(await failed('ReplaceReading', request)).to.deep.equal({ reason: 'conflict', violations: [] })
      expect((await failed('ReplaceReading', { id: '1', reading })).reason).to.equal('precondition.required')
    })

    it('find rows by conditions and order them', async () => {
      const later = {
        serial: '7',
        measured_at: { seconds: '1', nanos: 500_000_000 },
        amount: 2,
        kind: 'KIND_GAS',
        labels: {},
        notes: undefined,
        floor: 9
      }
      await unary('CreateReading', row(later))
      await unary(
        'CreateReading',
        row({ ...later, serial: '8', measured_at: { seconds: '2' }, read_on: '2024-02-29', rank: 5 })
      )
      const cases: readonly (readonly [filter: Message, ids: readonly string[]])[] = [
        [{ serial: [{ equals: '18446744073709551615' }] }, ['1']],
        [{ serial: [{ in_values: { values: ['7', '8'] } }] }, ['2', '3']],
        [{ rank: [{ between: { low: -128, high: 0 } }] }, ['1', '2']],
        [{ amount: [{ greater_than: 0 }, { less_than: 1 }] }, ['1']],
        [{ measured_at: [{ equals: { seconds: '1', nanos: 500_000_000 } }] }, ['2']],
        [{ measured_at: [{ greater_than: { seconds: '1', nanos: 500_000_000 } }] }, ['3']],
        [{ read_on: [{ in_values: { values: ['0001-01-01'] } }] }, ['1', '2']],
        [{ kind: [{ not_equals: 'KIND_GAS' }] }, ['1']],
        [{ labels: [{ contains: 'LABELS_HARD_TO_REACH' }] }, ['1']],
        [{ notes: [{ is_empty: true }] }, ['2', '3']],
        [{ notes: [{ is_empty: false }] }, ['1']],
        [{ is_sealed: [{ equals: true }] }, []],
        [{ floor: [{ equals: 0 }] }, ['1']]
      ]
      for (const [filter, ids] of cases) expect(await idsOf({ filter }), JSON.stringify(filter)).to.deep.equal(ids)
      const serial = (equals: string) => ({ equals })
      const any_of = [{ serial: [serial('7'), serial('8')] }, {}]
      expect(await idsOf({ any_of })).to.deep.equal(['2', '3'])
      expect(await idsOf({ any_of, filter: { rank: [{ equals: 5 }] } })).to.deep.equal(['3'])
      const both = [{ serial: [serial('7')], rank: [{ equals: 5 }] }, { kind: [{ equals: 'KIND_GAS' }] }]
      expect(await idsOf({ any_of: both })).to.deep.equal(['2', '3'])
      const sort = [
        { property: 'READING_SORT_PROPERTY_KIND' },
        { property: 'READING_SORT_PROPERTY_ID', descending: true }
      ]
      expect(await idsOf({ sort })).to.deep.equal(['3', '2', '1'])
    })

    it('page by number and by cursor', async () => {
      const first = await unary('ListReadings', { page_size: 2 })
      expect(first).to.deep.include({
        page_size: 2,
        page_number: '1',
        total_count: '3',
        has_next: true,
        has_previous: false
      })
      expect(await idsOf({ page_size: 2, page_number: '2' })).to.deep.equal(['3'])
      const next = await unary('ListReadings', { page_size: 2, after: first['next_cursor'], skip_total: true })
      expect((next['readings'] as readonly Message[]).map(({ id }) => id)).to.deep.equal(['3'])
      expect(next).to.not.have.any.keys('page_number', 'total_count', 'next_cursor')
    })

    it('export the rows that they read', async () => {
      const metadata = new Metadata()
      metadata.set('authorization', `Bearer ${store.tokenOf(LIBRARIAN)}`)
      const parts: Message[] = []
      const request = {
        read_mask: { paths: ['id', 'details', 'amount', 'labels', 'measured_at'] },
        idle_timeout_ms: 20_000
      }
      for await (const part of client.methods['ExportReadings']?.(request, metadata, {}) ?? []) parts.push(part)
      const listed = await unary('ListReadings', { read_mask: request.read_mask })
      expect(parts[0]).to.deep.equal({ header: { row_limit: 100_000 } })
      expect(
        parts.slice(1, -1).flatMap(({ rows }) => (rows as { readonly readings: unknown[] }).readings)
      ).to.deep.equal(listed['readings'])
      expect(parts.at(-1)).to.deep.equal({ end: { count: 3, truncated: false } })
    })

    it('name all violations at once, those that only messages can have among them', async () => {
      const request = {
        page_size: 0,
        page_number: '-1',
        read_mask: { paths: ['nothing'] },
        sort: [{ property: 99 }],
        filter: {
          kind: [{ equals: 99 }, {}],
          serial: [{ in_values: {} }],
          rank: [{ between: { low: 1 } }],
          measured_at: [{ equals: { seconds: '999999999999' } }]
        }
      }
      expect(await failed('ListReadings', request)).to.deep.equal({
        reason: 'filter.value.invalid',
        violations: [
          ['query:filters[kind].value', 'filter.value.invalid'],
          ['query:filters[kind].operator', 'filter.operator.unsupported'],
          ['query:filters[rank].value', 'filter.value.invalid'],
          ['query:filters[serial].operator', 'filter.operator.unsupported'],
          ['query:filters[measuredAt].value', 'filter.value.invalid'],
          ['query:sortColumn', 'sort.property.unknown'],
          ['query:pageNumber', 'paging.invalid'],
          ['query:pageSize', 'paging.invalid'],
          ['query:fields', 'fields.invalid']
        ]
      })
    })

    it('reject what no property takes, and say where', async () => {
      const wrong = {
        amount: Number.NaN,
        kind: 99,
        details: '{"made":1},"x":2',
        measured_at: { seconds: '1', nanos: 1 }
      }
      expect(await failed('CreateReading', row(wrong))).to.deep.equal({
        reason: 'body.invalid',
        violations: [['body:/details', 'body.invalid']]
      })
      const part = { first_row: 500, on_error: 'ON_ERROR_SKIP', idempotency_key: 'no-json' }
      const readings = [row({ serial: '51' })['reading'], row({ details: '{', notes: '[1' })['reading']]
      const importing = { ...part, readings }
      expect(await failed('ImportReadings', importing)).to.deep.equal({
        reason: 'body.invalid',
        violations: [
          ['body:/501/details', 'body.invalid'],
          ['body:/501/notes', 'body.invalid']
        ]
      })
      expect((await failed('ImportReadings', importing, { sub: 'nobody' })).reason).to.equal('capability.denied')
      expect(await idsOf({ filter: { serial: [{ equals: '51' }] } })).to.deep.equal([])
      const { violations } = await failed('CreateReading', row({ ...wrong, details: '1' }))
      expect(violations.map(([field]) => field)).to.have.members([
        'body:/amount',
        'body:/kind',
        'body:/details',
        'body:/measuredAt'
      ])
    })

    it('name what they do not take, and reject it where they are strict', async () => {
      // Field 1023 with the text abc, in the request and within its reading.
      const extra = Buffer.from([0xfa, 0x3f, 3, 0x61, 0x62, 0x63])
      const withUnknown = (request: Message): Buffer => {
        const sent = row({ serial: '20', measured_at: { seconds: '20' } })
        const reader = protobuf.Reader.create(client.encode('CreateReading', sent))
        reader.uint32()
        const reading = Buffer.concat([reader.bytes(), extra])
        const ofReading = protobuf.Writer.create().uint32(READING_TAG).bytes(reading).finish()
        return Buffer.concat([ofReading, client.encode('CreateReading', request), extra])
      }
      const token = store.tokenOf({ ...LIBRARIAN })
      const before = await idsOf({})
      const unknown = ['reading.1023', '1023']
      const rejected = await client.send('CreateReading', withUnknown({ strict: true }), token).catch(failureOf)
      expect(rejected).to.deep.equal({
        reason: 'parameter.unknown',
        violations: unknown.map((name) => [`query:${name}`, 'parameter.unknown'])
      })
      expect(await idsOf({})).to.deep.equal(before)
      const created = await client.send('CreateReading', withUnknown({}), token)
      const { reading, ignored_members: ignored } = created as { reading: Message; ignored_members: unknown }
      expect(ignored).to.deep.equal(unknown)
      const { id, row_version: version } = reading
      const two = [client.encode('BatchCreateReadings', { readings: [SENT, SENT], strict: true }), BATCH_READING, extra]
      const batch = await client.send('BatchCreateReadings', Buffer.concat(two), token).catch(failureOf)
      expect(batch).to.have.property('violations').that.deep.includes(['query:readings[2].1023', 'parameter.unknown'])
      const masked = { id, row_version: version, reading: { floor: 3, depth: 4 }, update_mask: { paths: ['depth'] } }
      expect(await failed('UpdateReading', { ...masked, strict: true })).to.deep.equal({
        reason: 'parameter.unknown',
        violations: [['query:reading.floor', 'parameter.unknown']]
      })
      const updated = await unary('UpdateReading', masked)
      expect(updated['ignored_members']).to.deep.equal(['reading.floor'])
      expect(updated['reading']).to.deep.include({ floor: 0, depth: 4 })
      await unary('DeleteReading', { id })
    })

    it('roll a dry run back and say so', async () => {
      const sent = row({ serial: '31', measured_at: { seconds: '31' } })
      const before = await idsOf({})
      for (const [method, request] of [
        ['CreateReading', sent],
        ['BatchCreateReadings', { readings: [sent['reading']] }]
      ] as const) {
        expect(await unary(method, { ...request, dry_run: true }), method).to.include({ rolled_back: true })
        expect(await idsOf({}), method).to.deep.equal(before)
      }
      const { reading, rolled_back: rolledBack } = (await unary('CreateReading', sent)) as {
        reading: Message
        rolled_back: boolean
      }
      expect(rolledBack).to.equal(false)
      const { id, row_version: version } = reading
      const patch = { id, row_version: version, reading: { floor: 9 }, dry_run: true }
      expect(await unary('UpdateReading', patch)).to.include({ rolled_back: true })
      expect(await unary('DeleteReading', { id, dry_run: true })).to.include({ rolled_back: true })
      expect((await unary('GetReading', { id }))['reading']).to.deep.include({ floor: 0, row_version: version })
      expect(await unary('DeleteReading', { id })).to.include({ rolled_back: false })
    })

    it('change and delete several rows, all or none', async () => {
      const sent = ['41', '42'].map((serial) => row({ serial, floor: 1, measured_at: { seconds: serial } })['reading'])
      const made = (await unary('BatchCreateReadings', { readings: sent }))['readings'] as readonly Message[]
      const [first, second] = made.map(({ id, row_version: version }) => ({ id, row_version: version }))
      const unguarded = [first, { id: second?.id }]
      expect(await failed('BatchDeleteReadings', { items: unguarded })).to.deep.equal({
        reason: 'precondition.required',
        violations: [['body:/1/rowVersion', 'precondition.required']]
      })
      // The row as it was read may come along whole, with its id and its version.
      const items = [
        { ...first, reading: { ...made[0], floor: 7 } },
        { ...second, reading: { depth: 4, floor: 9 }, update_mask: { paths: ['depth'] } }
      ]
      const wrong = [items[0], { ...items[1], reading: { rank: 1000 }, update_mask: { paths: ['rank'] } }]
      expect((await failed('BatchUpdateReadings', { items: wrong })).violations).to.deep.equal([
        ['body:/1/rank', 'body.invalid']
      ])
      const whole = [items[0], { ...items[1], update_mask: { paths: ['*'] } }]
      expect(await failed('BatchUpdateReadings', { items: whole })).to.deep.equal({
        reason: 'parameter.unknown',
        violations: [['query:items[1].update_mask.*', 'parameter.unknown']]
      })
      const answer = await unary('BatchUpdateReadings', { items })
      expect(answer).to.include({ rolled_back: false })
      // Of the whole row also what no body has.
      expect(answer['ignored_members']).to.include('0/proofBytes').and.include('items[1].reading.floor')
      const changed = answer['readings'] as readonly Message[]
      expect(changed.map(({ id, floor, depth }) => [id, floor, depth])).to.deep.equal([
        [first?.id, 7, made[0]?.['depth']],
        [second?.id, 1, 4]
      ])
      const now = changed.map(({ id, row_version: version }) => ({ id, row_version: version }))
      const stale = await failed('BatchDeleteReadings', { items: [now[0], second] })
      expect([stale.reason, stale.violations]).to.deep.equal(['conflict', [['body:/1', 'conflict']]])
      expect(await unary('BatchDeleteReadings', { items: now })).to.include({ replayed: false, rolled_back: false })
      const left = await idsOf({})
      for (const { id } of now) expect(left).not.to.include(id)
    })

    it('refuse more rows than any request may have before they say who may write', async () => {
      const refusal = async (rows: number): Promise<unknown> =>
        client
          .send('BatchCreateReadings', client.encode('BatchCreateReadings', { readings: Array(rows).fill({}) }))
          .catch(failureOf)
      expect(await refusal(5001)).to.have.property('reason', 'request.malformed')
      expect(await refusal(5000)).to.have.property('reason', 'auth.required')
    })

    it('update the fields of a mask, every field by that of a star, and none by one that is unknown', async () => {
      const { reading } = (await unary(
        'CreateReading',
        row({ serial: '21', floor: 5, measured_at: { seconds: '21' } })
      )) as { readonly reading: Message }
      const { id, row_version: version } = reading
      const update = (paths: readonly string[], sent: Message): Message => ({
        id,
        row_version: version,
        reading: sent,
        update_mask: { paths }
      })
      for (const paths of [['WEIGHT_GRAMS'], ['floor', '*'], ['floor.x']]) {
        expect(await failed('UpdateReading', update(paths, { floor: 1 })), String(paths)).to.deep.equal({
          reason: 'parameter.unknown',
          violations: [[`query:update_mask.${paths.at(-1) ?? ''}`, 'parameter.unknown']]
        })
      }
      expect((await unary('GetReading', { id }))['reading']).to.deep.equal(reading)
      const { notes: _, ...whole } = { ...SENT, serial: '21', floor: 6, measured_at: { seconds: '21' } }
      const updated = await unary('UpdateReading', update(['*'], whole))
      const { notes, floor } = updated['reading'] as Message
      expect({ notes, floor, ignored: updated['ignored_members'] }).to.deep.equal({
        notes: undefined,
        floor: 6,
        ignored: ['kind']
      })
      await unary('DeleteReading', { id })
    })

    it('ask who calls before they look at anything else', async () => {
      expect((await failed('CreateReading', row({ details: '{' }), { sub: 'nobody' })).reason).to.equal(
        'capability.denied'
      )
      expect((await failed('DeleteReading', { id: 'x' }, { sub: 'nobody' })).reason).to.equal('capability.denied')
      const metadata = new Metadata()
      const unlimited = await new Promise<Failed>((resolve) => {
        client.methods['GetReading']?.({ id: '1' }, metadata, {}, (error) => resolve(failureOf(error)))
      })
      expect(unlimited.reason).to.equal('request.malformed')
    })

    it('serve each resource', () => {
      const typed = describedPackage({ entities: library.entities }, { package: 'library.v1' })
      const served = typed.services.map(({ rpcs }) => rpcs[0]?.resource)
      expect(served).to.have.members(library.entities.map(({ name }) => name))
    })
  },
  { on: 'sqlite' }
)
