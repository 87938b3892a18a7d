import { connect, createServer } from 'node:net'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { json } from '../api/http-call.js'
import { type Failed, failureOf, type Message, TypedClient } from '../harness/typed-client.js'
import { type Header, headersFrames, PREFACE, TYPE } from '../faults/http2-frames.js'
import { listenLocally } from '../harness/local-server.js'
import { describeLibrary } from './describe-library.js'
import library from './uniform-rest.config.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }

/** A part of a key with all that its text encodes. */
const LANGUAGE = 'a,b/c%'
const SHELF = 'a%2Cb%2Fc%25,South,-3'
const MOST = '18446744073709551615'
const BOOK = '0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'

/**
 * A way to a gRPC server for one call. In place of its own headers, of which no client sends two of a kind, the call has
 * these tokens.
 */
async function withTokens(
  address: string,
  path: string,
  tokens: readonly string[]
): Promise<AsyncDisposable & { readonly address: string }> {
  const [host = '', port = ''] = address.split(':')
  const headers: Header[] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', address],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ['grpc-timeout', '20S'],
    ...tokens.map((token): Header => ['authorization', token])
  ]
  const server = createServer((near) => {
    const far = connect(Number(port), host)
    far.pipe(near)
    let rest: Buffer = Buffer.alloc(0)
    let isBegun = false
    near.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const length = isBegun ? 9 + (rest.length < 9 ? 0 : rest.readUIntBE(0, 3)) : PREFACE.length
        if (rest.length < length) return
        const frame = rest.subarray(0, length)
        rest = rest.subarray(length)
        far.write(isBegun && frame[3] === TYPE.headers ? headersFrames(frame.readUInt32BE(5), headers) : frame)
        isBegun = true
      }
    })
    near.on('close', () => far.destroy())
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  const own = await listenLocally(server)
  return {
    address: `127.0.0.1:${own}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve()))
  }
}

/** The rows of every type are in typed-services.test.ts. */
describeLibrary(
  'typed keys, actions, lookups, reads and operations',
  (store) => {
    const clients = new Map<string, TypedClient>()
    const clientOf = (service: string): TypedClient => {
      const client = clients.get(service) ?? new TypedClient(library, service, store.stack.dataAddress)
      clients.set(service, client)
      return client
    }
    /** `rpc` is a service and its method. */
    const call = (rpc: string, request: Message, claims: object = LIBRARIAN): Promise<Message> => {
      const [service = '', method = ''] = rpc.split('.')
      return clientOf(service).call(method, request, store.tokenOf({ ...claims }))
    }
    const failed = (rpc: string, request: Message, claims: object = LIBRARIAN): Promise<Failed> => {
      const [service = '', method = ''] = rpc.split('.')
      return clientOf(service).failure(method, request, store.tokenOf({ ...claims }))
    }
    const post = async (target: string, body: unknown): Promise<void> => {
      const headers = { 'content-type': 'application/json' }
      const answer = await store.as(LIBRARIAN, target, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(answer.status, answer.text).to.equal(201)
    }
    const shelf = async (): Promise<Message> =>
      (await call('ShelveService.GetShelve', { id: SHELF, include_children: true }))['shelve'] as Message

    before(async () => {
      await post('/languages', { id: LANGUAGE, name: 'Second' })
      await post('/languages', { id: 'x', name: 'First' })
      await post('/publications', { id: BOOK, title: 'A book', languageId: LANGUAGE })
      await post('/barcodes', { id: MOST, publicationId: BOOK, note: 'last' })
      await post('/swatches/batch', [
        { name: 'Dawn', colour: '#ff8800', price: '10.50', mixedAt: '2026-01-01T00:00:00Z', branchId: 1 },
        { name: 'Dusk', colour: '#ff8800', price: '0.75', mixedAt: '2026-01-02T00:00:00.500Z', branchId: 1 },
        { name: 'Noon', colour: '#ffffff', price: '5.00', mixedAt: '2026-01-03T00:00:00Z', branchId: 2 }
      ])
    })
    after(() => clients.forEach((client) => client.close()))

    it('find a row whose number is 0, which a message without presence does not hold', async () => {
      await post('/barcodes', { id: '0', publicationId: BOOK, note: 'none' })
      // Senders of proto3 leave a 0 out; the one of Node does so for an absent id alone.
      const client = clientOf('BarcodeService')
      const send = (method: string, request: Message = {}): Promise<Message> =>
        client.send(method, client.encode(method, request), store.tokenOf({ ...LIBRARIAN }))
      const { barcode } = (await send('GetBarcode')) as { readonly barcode: Message }
      expect(barcode).to.include({ id: '0', note: 'none' })
      const changed = { row_version: barcode['row_version'], barcode: { note: 'zero' } }
      expect((await send('UpdateBarcode', changed))['barcode']).to.include({ id: '0', note: 'zero' })
      await send('DeleteBarcode')
      expect((await failed('BarcodeService.GetBarcode', { id: '0' })).reason).to.equal('not-found')
    })

    it('show navigations by name, those within others too', async () => {
      const asked = { id: MOST, include: ['publication.language'] }
      const { barcode } = (await call('BarcodeService.GetBarcode', asked)) as { barcode: Record<string, Message> }
      const { language, ...publication } = barcode['publication'] as { title: string; language: Message }
      expect([publication.title, language['name']]).to.deep.equal(['A book', 'Second'])
      const { reason, violations } = await failed('BarcodeService.ListBarcodes', {
        include: ['publication', 'nothing']
      })
      expect([reason, violations]).to.deep.equal(['include.invalid', [['query:include', 'include.invalid']]])
    })

    it('answer bytes that are no message as a fault of their sender, once they know who sends', async () => {
      const client = clientOf('BarcodeService')
      const broken = Buffer.from([0x0a, 0xff])
      for (const method of ['GetBarcode', 'CreateBarcode', 'ListBarcodes']) {
        const error: unknown = await client
          .send(method, broken, store.tokenOf({ ...LIBRARIAN }))
          .catch((one: unknown) => one)
        expect(error, method).to.have.property('code', status.INVALID_ARGUMENT)
        expect(failureOf(error)).to.deep.equal({ reason: 'request.malformed', violations: [] })
      }
      expect(failureOf(await client.send('GetBarcode', broken, 'x').catch((one: unknown) => one))).to.deep.equal({
        reason: 'auth.invalid-token',
        violations: [['header:Authorization', 'auth.invalid-token']]
      })
    })

    it('take two tokens for none that is valid, as HTTP does', async () => {
      const tokens = [LIBRARIAN, { sub: 'nobody' }].map((claims) => `Bearer ${store.tokenOf({ ...claims })}`)
      const reasonOf = async (sent: readonly string[]): Promise<string> => {
        await using way = await withTokens(store.stack.dataAddress, '/library.v1.BarcodeService/GetBarcode', sent)
        const client = new TypedClient(library, 'BarcodeService', way.address)
        const { reason } = await client.failure('GetBarcode', { id: '1' })
        client.close()
        return reason
      }
      expect(await reasonOf(tokens.slice(0, 1))).to.equal('not-found')
      expect(await reasonOf(tokens)).to.equal('auth.invalid-token')
      expect(await reasonOf(tokens.toReversed())).to.equal('auth.invalid-token')
    })

    describe('a key of several columns', () => {
      it('is one text: rows are created, read and replaced by it', async () => {
        const sent = {
          number: -3,
          language_id: LANGUAGE,
          room: 'ROOM_SOUTH',
          label: 'Old',
          checks: [{ checked_on: '2024-02-29', remark: 'dusty' }]
        }
        const { shelve: created } = (await call('ShelveService.CreateShelve', { shelve: sent })) as { shelve: Message }
        expect(created).to.include({ id: SHELF, number: -3, language_id: LANGUAGE, room: 'ROOM_SOUTH', label: 'Old' })
        const { checks, ...read } = await shelf()
        expect({ ...read, row_version: 0 }).to.deep.equal({
          id: SHELF,
          number: -3,
          language_id: LANGUAGE,
          room: 'ROOM_SOUTH',
          label: 'Old',
          language_name: 'Second',
          row_version: 0
        })
        expect((checks as readonly Message[]).map((check) => ({ ...check, row_version: 0 }))).to.deep.equal([
          {
            id: `${SHELF},2024-02-29`,
            language_id: LANGUAGE,
            room: 'ROOM_SOUTH',
            shelf_number: -3,
            checked_on: '2024-02-29',
            remark: 'dusty',
            row_version: 0
          }
        ])
        const request = { id: SHELF, shelve: { label: 'New' }, row_version: read['row_version'] }
        const { shelve: replaced } = (await call('ShelveService.ReplaceShelve', request)) as { shelve: Message }
        expect(replaced).to.include({ id: SHELF, label: 'New' })
      })

      it('that is no key is rejected, and one that no row has is not found', async () => {
        expect((await failed('ShelveService.GetShelve', { id: 'a,South' })).reason).to.equal('id.invalid')
        expect((await failed('ShelveService.GetShelve', {})).reason).to.equal('id.invalid')
        expect((await failed('ShelveService.GetShelve', { id: 'a,South,1' })).reason).to.equal('not-found')
      })
    })

    describe('an action', () => {
      it('is done with the version that was read, and once', async () => {
        const { row_version: version } = await shelf()
        const request = { id: SHELF, row_version: version, input: { label: 'Relabelled' }, idempotency_key: 'typed-1' }
        const first = await call('ShelveService.RelabelShelve', request)
        expect(first).to.include({ replayed: false })
        expect(first['shelve']).to.include({ id: SHELF, label: 'Relabelled' })
        const again = await call('ShelveService.RelabelShelve', request)
        expect(again).to.deep.equal({ ...first, replayed: true })
        expect(json(await store.as(LIBRARIAN, `/shelves/${encodeURIComponent(SHELF)}`))).to.include({
          label: 'Relabelled'
        })
      })

      it('of a row that has moved on, without a version, or with another body is rejected', async () => {
        const { row_version: version } = await shelf()
        await call('ShelveService.RecheckShelve', { id: SHELF, row_version: version, input: { remark: 'clean' } })
        const stale = { id: SHELF, row_version: version, input: { remark: 'again' } }
        expect((await failed('ShelveService.RecheckShelve', stale)).reason).to.equal('conflict')
        expect((await failed('ShelveService.RecheckShelve', { id: SHELF })).reason).to.equal('precondition.required')
        const long = { id: SHELF, row_version: version, input: { remark: 'x'.repeat(101) } }
        expect(await failed('ShelveService.RecheckShelve', long)).to.deep.equal({
          reason: 'body.invalid',
          violations: [['body:/remark', 'body.invalid']]
        })
        const { checks, label } = (await shelf()) as { checks: readonly Message[]; label: string }
        expect([label, checks.map(({ remark }) => remark)]).to.deep.equal(['checked 1', ['clean']])
      })

      it('takes the permission of the write', async () => {
        const request = { id: SHELF, row_version: Buffer.alloc(8), input: { label: 'x' } }
        expect((await failed('ShelveService.RelabelShelve', request, { sub: 'y' })).reason).to.equal(
          'capability.denied'
        )
      })
    })

    describe('a lookup', () => {
      it('has ids in the type of the key, in order of the names', async () => {
        expect(await call('LanguageService.LookupLanguages', {})).to.deep.equal({
          items: [
            { id: 'x', name: 'First' },
            { id: LANGUAGE, name: 'Second' }
          ],
          truncated: false
        })
        expect(await call('LanguageService.LookupLanguages', { search: 'eco' })).to.deep.include({
          items: [{ id: LANGUAGE, name: 'Second' }]
        })
        expect(await call('BarcodeService.LookupBarcodes', {})).to.deep.include({ items: [{ id: MOST, name: 'last' }] })
        expect(await call('ShelveService.LookupShelves', {})).to.deep.include({
          items: [{ id: SHELF, name: 'checked 1' }]
        })
      })
    })

    describe("a read of the resource's own", () => {
      it('answers values as items of one field', async () => {
        const { items, row_limit: limit } = await call('LanguageService.ReadLanguagesCodes', {})
        expect({ items, limit }).to.deep.equal({ items: [{ id: LANGUAGE }, { id: 'x' }], limit: 1000 })
      })

      it('takes parameters in their types, and says where rows were left out', async () => {
        const admin = { role: 'Admin', sub: 'x' }
        const since = { seconds: String(Date.parse('2026-01-02T00:00:00Z') / 1000) }
        const read = 'SwatchService.ReadSwatchesMixed'
        expect(await call(read, { since, most: 1, max_price: '5.00', dear: false }, admin)).to.deep.equal({
          items: [
            {
              id: 2,
              name: 'Dusk',
              colour: '#ff8800',
              price: '0.75',
              mixed_at: { seconds: since.seconds, nanos: 500_000_000 }
            }
          ],
          row_limit: 1,
          truncated: true
        })
        expect(await failed(read, { most: 4, colours: 'red', tag: 'x' }, admin)).to.deep.equal({
          reason: 'filter.value.invalid',
          violations: ['since', 'colours', 'tag', 'most'].map((name) => [`query:${name}`, 'filter.value.invalid'])
        })
      })
    })

    describe('an operation of the application', () => {
      const READER = { sub: 'y', branches: [1] }

      it('that reads takes path and query as fields, and answers objects and lists', async () => {
        const request = { branch_id: 1, since: { seconds: '0' }, tint: '#FF8800' }
        const mixedAt = { seconds: String(Date.parse('2026-01-02T00:00:00Z') / 1000), nanos: 500_000_000 }
        expect(await call('OperationService.BranchSummary', request, READER)).to.deep.equal({
          answer: {
            branch_id: 1,
            count: 2,
            exact: '9007199254740993',
            cheapest: '0.75',
            newest: { name: 'Dusk', mixed_at: mixedAt, tags: ['a', 'b'] },
            swatches: [
              { id: 2, name: 'Dusk', colour: '#ff8800', price: '0.75' },
              { id: 1, name: 'Dawn', colour: '#ff8800', price: '10.50' }
            ]
          }
        })
      })

      it('answers a list as items', async () => {
        const first = (at: string): object => ({ seconds: String(Date.parse(at) / 1000), nanos: 0 })
        expect(await call('OperationService.ColourUse', {})).to.deep.equal({
          items: [
            { colour: '#ff8800', swatches: 2, total: '11.25', first: first('2026-01-01T00:00:00Z') },
            { colour: '#ffffff', swatches: 1, total: '5.00', first: first('2026-01-03T00:00:00Z') }
          ]
        })
        expect(await call('OperationService.ColourUse', { least: '11.00' })).to.deep.equal({})
      })

      it('that writes takes a body, and is done once for a key', async () => {
        const request = {
          dry_run: 'yes',
          body: {
            to: '#ABCDEF',
            ids: [1, 2],
            extra: [
              { name: 'New', price: '3.00' },
              { name: 'Newer', price: '4.00' }
            ],
            place: { branch_id: 3 }
          },
          idempotency_key: 'typed-2'
        }
        const first = await call('OperationService.Repaint', request)
        expect(first).to.deep.equal({
          answer: { changed: 2, made: [4, 5], total: 4 },
          replayed: false,
          rolled_back: false
        })
        expect(await call('OperationService.Repaint', request)).to.deep.equal({ ...first, replayed: true })
        const painted = await store.sql.run("SELECT COUNT(*) AS n FROM swatches WHERE colour = '#abcdef'")
        expect(Number(painted[0]?.['n'])).to.equal(4)
        const other = { ...request, body: { ...request.body, note: 'other' } }
        expect((await failed('OperationService.Repaint', other)).reason).to.equal('idempotency.key.reused')
        const { answer } = await call('OperationService.Repaint', { ...other, idempotency_key: 'typed-3' })
        expect(answer).to.include({ note: 'other' })
      })

      it('names all violations in the words of its parameters and its body', async () => {
        const body = {
          to: 'red',
          ids: [1, 0],
          extra: [{ name: 'New', price: '3.00' }, { name: 'x'.repeat(11) }],
          place: { shelf: 'longer' }
        }
        expect(await failed('OperationService.Repaint', { dry_run: 'longer', body })).to.deep.equal({
          reason: 'filter.value.invalid',
          violations: [
            ['query:dryRun', 'filter.value.invalid'],
            ['body:/to', 'body.invalid'],
            ['body:/ids/1', 'body.invalid'],
            ['body:/extra/1/name', 'body.invalid'],
            ['body:/extra/1/price', 'body.invalid'],
            ['body:/place/branchId', 'body.invalid'],
            ['body:/place/shelf', 'body.invalid']
          ]
        })
        const { violations } = await failed('OperationService.BranchSummary', {}, READER)
        expect(violations).to.deep.equal([['query:branchId', 'id.invalid']])
      })

      it('rejects as over HTTP, and says who may call it before anything else', async () => {
        const answer = (how: string) => failed('OperationService.AnswerBadly', { branch_id: 2, body: { how } }, READER)
        expect((await answer('state')).reason).to.equal('state.invalid')
        expect(await answer('input')).to.deep.equal({
          reason: 'body.invalid',
          violations: [['body:/how', 'body.invalid']]
        })
        expect((await answer('error')).reason).to.equal('internal')
        expect((await failed('OperationService.Repaint', { body: {} }, READER)).reason).to.equal('capability.denied')
        const { name } = (await call('OperationService.AnswerBadly', { branch_id: 2, body: { how: 'well' } }, READER))[
          'answer'
        ] as { name: string }
        expect(name).to.equal('well')
      })

      it('without an answer answers nothing', async () => {
        expect(await call('OperationService.ClearOut', { branch_id: 2 })).to.deep.equal({
          replayed: false,
          rolled_back: false
        })
        const left = await store.sql.run('SELECT COUNT(*) AS n FROM swatches WHERE branch_id = 2')
        expect(Number(left[0]?.['n'])).to.equal(0)
      })
    })
  },
  { on: 'sqlite' }
)
