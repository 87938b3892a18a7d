import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { compositeId } from 'uniform-rest'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type RawRow, type TestDatabase } from '../oracle/test-database.js'
import { TypedClient } from '../harness/typed-client.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { eachDatabase, type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, type StackAnswer, startStack } from '../stack/stack.js'
import { join } from 'node:path'
import application from './uniform-rest.config.js'
import { CODE, COPY, MOST } from './sample.js'

const DAY = '2024-02-29'
const ROOM = 'a,b/c%'
const OTHER_COPY = '1c5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'
/** The id of the shelf of the sample with a number, as docs/entity-words.md writes it. */
const shelfId = (number: number): string => `Île%2C 50%25 %2Fé,a%2Cb%2Fc%25,${number},${DAY}`
const at = (resource: string, id: string): string => `/${resource}/${encodeURIComponent(id)}`

eachDatabase((kind) => {
  describe(`keys of every kind in samples, operations, hooks, events and a second store on ${kind}`, () => {
    let databases: readonly [FreshDatabase, FreshDatabase]
    let stack: Stack
    let other: Stack
    let primary: TestDatabase
    let second: TestDatabase

    const start = (): Promise<Stack> =>
      startStack({
        app: join(outputRoot, 'test/keyed'),
        database: databases[0],
        env: { NOTES_DATABASE_URL: databases[1].url, SAMPLE_DATA: 'true', OUTBOX_RETENTION: '1h' }
      })
    before(async () => {
      databases = [await freshDatabase(kind), await freshDatabase(kind)]
      // At the same moment: between them they migrate, and load the sample, once.
      ;[stack, other] = await Promise.all([start(), start()])
      primary = await openTestDatabase(databases[0].url)
      second = await openTestDatabase(databases[1].url)
    })
    after(async () => {
      await primary?.close()
      await second?.close()
      await Promise.all([stack?.stop(), other?.stop()])
      for (const one of databases) await one.dispose()
    })

    const get = (target: string): Promise<StackAnswer> => stack.call(target)
    const send = (method: string, target: string, body: unknown, ifMatch?: string): Promise<StackAnswer> =>
      stack.call(target, { method, body, ifMatch, token: stack.token({ sub: 'kim', role: 'Keeper' }) })
    const count = async (database: TestDatabase, table: string): Promise<number> => {
      const [row] = await database.run(`SELECT COUNT(*) AS n FROM ${table}`)
      return Number(row?.['n'])
    }
    const named = (name: string): string => (kind === 'sqlite' ? `"${name}"` : `\`${name}\``)

    it('load a sample: roots, children of both stores and references by several columns', async () => {
      const tables = ['Land', 'Regal', 'Prüfung', 'placements', 'tickets']
      expect(await Promise.all(tables.map((table) => count(primary, named(table))))).to.deep.equal([2, 2, 2, 2, 2])
      expect(await count(second, named('Regal Notiz'))).to.equal(3)
      const { status, body } = await get(`${at('shelves', shelfId(-5))}?includeChildren=true&includeFKs=true`)
      expect(status).to.equal(200)
      const shelf = body as Record<string, unknown>
      expect(shelf).to.include({ id: shelfId(-5), room: ROOM, countryId: CODE, number: -5, openedOn: DAY })
      const remarks = (shelf['checks'] as RawRow[]).map(({ run, remark }) => [run, remark])
      expect(remarks).to.deep.equal([
        [1, 'dusty'],
        [2, 'clean']
      ])
      const texts = (shelf['lines'] as RawRow[]).map(({ line, text, number }) => [line, text, number])
      expect(texts).to.deep.equal([
        [1, 'first', -5],
        [2, 'second', -5]
      ])
      const placement = (await get(`${at('placements', `${COPY},${MOST}`)}?includeFKs=true`)).body
      expect(placement).to.deep.include({ serial: MOST, shelfLabel: 'Shelf -5' })
      expect((placement as Record<string, Record<string, unknown>>)['shelf']).to.include({ id: shelfId(-5) })
    })

    it('load it once between two that start at the same moment, and a further start changes nothing', async () => {
      expect((await other.call('/shelves')).body).to.have.length(2)
      const logged = [stack, other].flatMap((one) => one.logs())
      const migrated = logged.flatMap((one) => (one['msg'] === 'Migrated' ? [one['migration']] : []))
      expect(migrated).to.have.length.at.least(10)
      expect(migrated).to.have.members([...new Set(migrated)])
      await using again = await start()
      expect((await again.call('/shelves')).body).to.have.length(2)
      expect(await count(second, named('Regal Notiz'))).to.equal(3)
    })

    it('have children in the second store in lists and pages, each at its own row', async () => {
      const { body } = await get('/shelves/paged?includeChildren=true&sortColumn=number')
      const rows = body as Record<string, RawRow[]>[]
      expect(rows.map(({ lines }) => lines?.map(({ text }) => text))).to.deep.equal([['first', 'second'], ['third']])
      expect((await get('/shelves?includeChildren=true')).status).to.equal(200)
      const country = (await get(`${at('countries', CODE)}?includeChildren=true`)).body as Record<string, unknown>
      expect(country['notes']).to.deep.equal([{ id: COPY, text: 'of the island' }])
    })

    it('leave rows of the second store that belong to others alone: no case, no part of a key, no other type', async () => {
      const insert = (land: string, number: number, line: number): Promise<unknown> =>
        second.run(
          `INSERT INTO ${named('Regal Notiz')} (${['Land', 'Raum', 'Nr', 'Tag', 'Zeile', 'Text', 'Stand'].map(named).join()})
          VALUES ('${land}', '${ROOM}', ${number}, '${DAY}', ${line}, 'other', X'0000000000000001')`
        )
      await insert(CODE.toUpperCase(), -5, 9)
      await insert(CODE, -50, 9)
      const { body } = await get(`${at('shelves', shelfId(-5))}?includeChildren=true`)
      const lines = (body as Record<string, RawRow[]>)['lines']
      expect(lines?.map(({ text }) => text)).to.deep.equal(['first', 'second'])
    })

    it('are found by operations', async () => {
      const search = new URLSearchParams({
        country: CODE,
        day: DAY,
        grade: 'High',
        ticket: MOST,
        shelf: shelfId(-5),
        placement: `${COPY},${MOST}`
      })
      const token = stack.token({ sub: 'kim' })
      const { status, body } = await stack.call(`/reports/found?${search.toString()}`, { token })
      expect(status).to.equal(200)
      expect(body).to.deep.equal({
        country: 'Island',
        day: 'Leap day',
        grade: 'High grade',
        ticket: 'The last',
        shelf: 'Shelf -5',
        placement: 'here',
        everyShelf: 'Shelf -5',
        numbers: [7, -5],
        counted: 1
      })
      const others = {
        country: CODE.toUpperCase(),
        ticket: '8',
        shelf: shelfId(6),
        placement: `${COPY},8`,
        day: '2023-02-28'
      }
      for (const [name, value] of Object.entries(others)) search.set(name, value)
      const none = await stack.call(`/reports/found?${search.toString()}`, { token })
      expect(none.body).to.deep.equal({
        country: null,
        day: null,
        grade: 'High grade',
        ticket: null,
        shelf: null,
        placement: null,
        everyShelf: null,
        // A filter takes what the database takes for equal, and a key does not.
        numbers: kind === 'sqlite' ? (none.body as { numbers: number[] }).numbers : [7, -5],
        counted: 0
      })
    })

    it('are found and written by hooks', async () => {
      const body = {
        copy: OTHER_COPY,
        serial: '7',
        shelfCountry: CODE,
        shelfRoom: ROOM,
        shelfNumber: -5,
        shelfDay: DAY,
        remark: 'second'
      }
      const made = await send('POST', '/placements', body)
      expect(made.status, made.text).to.equal(201)
      expect((made.body as RawRow)['id']).to.equal(`${OTHER_COPY},7`)
      expect((await get(at('shelves', shelfId(-5)))).body).to.include({ pieces: 2 })
      const etag = String(made.headers['etag'])
      const { copy: _copy, serial: _serial, ...rest } = body
      const updated = await send('PUT', at('placements', `${OTHER_COPY},7`), { ...rest, shelfNumber: 7 }, etag)
      expect(updated.status, updated.text).to.equal(200)
      expect((await get(at('shelves', shelfId(7)))).body).to.include({ pieces: 1 })
      const nowhere = await send('POST', '/placements', { ...body, copy: MOST, shelfNumber: 8 })
      expect(nowhere.status).to.equal(400)
      const entries = await primary.run(
        "SELECT action, row_id FROM ur_audit_entries WHERE resource = 'placements' ORDER BY id"
      )
      expect(entries.map(({ action, row_id: id }) => [action, id])).to.deep.equal([
        ['create', `${OTHER_COPY},7`],
        ['update', `${OTHER_COPY},7`]
      ])
    })

    it('are found and written by operations, all or nothing', async () => {
      const body = { placement: `${COPY},7`, shelf: shelfId(7), further: OTHER_COPY, ticket: '9223372036854775808' }
      const moved = await send('POST', '/reports/moves', body)
      expect(moved.status, moved.text).to.equal(201)
      expect(moved.body).to.deep.equal({
        made: ['9223372036854775808', `${OTHER_COPY},9223372036854775808`],
        labels: ['moved', 'further'],
        onShelf: -1
      })
      const shelf = (await get(`${at('shelves', shelfId(7))}?includeChildren=true`)).body as Record<string, RawRow[]>
      expect(shelf['checks']?.map(({ run, remark }) => [run, remark])).to.deep.equal([[100, 'moved']])
      expect(shelf).to.include({ pieces: 3 })
      const before = (await get('/placements')).body
      const again = await send('POST', '/reports/moves', { ...body, shelf: shelfId(-5) })
      expect(again.status, again.text).to.equal(409)
      expect((await get('/placements')).body).to.deep.equal(before)
      const first = await send('POST', '/reports/moves', { ...body, shelf: shelfId(-5), ticket: '10' })
      expect(first.status, first.text).to.equal(201)
      const checked = (await get(`${at('shelves', shelfId(-5))}?includeChildren=true`)).body as Record<string, RawRow[]>
      expect(checked['checks']?.map(({ run, remark }) => [run, remark])).to.deep.equal([
        [1, 'seen'],
        [2, 'clean'],
        [100, 'moved']
      ])
    })

    it('are bytes, in base64url without padding wherever a row is named', async () => {
      const id = (first: number): string => Buffer.alloc(16, first).toString('base64url')
      // In the order of their bytes, which is not that of the letters.
      const ids = [0x00, 0x69, 0xf8, 0xfb, 0xff].map(id)
      const [least = '', second = '', , , last = ''] = ids
      for (const [at_, one] of ids.toReversed().entries()) {
        const body = { id: one, serial: Buffer.from([0xfb, at_]).toString('base64url'), name: `Device ${at_}` }
        const made = await send('POST', '/devices', body)
        expect([made.status, (made.body as RawRow)['id']], made.text).to.deep.equal([201, one])
        expect(new URL(String(made.headers['location'])).pathname).to.equal(`/devices/${one}`)
      }
      const stored = await primary.run('SELECT id FROM devices ORDER BY id')
      expect(stored.map((row) => Buffer.from(row['id'] as Uint8Array).toString('base64url'))).to.deep.equal(ids)
      const idsOf = ({ body }: StackAnswer): unknown[] => (body as RawRow[]).map((row) => row['id'])
      expect(idsOf(await get('/devices'))).to.deep.equal(ids)
      const found: unknown[] = []
      for (let after = '', pages = 0; pages < 5; pages++) {
        const page = await get(`/devices/paged?pageSize=1${after}`)
        found.push(...idsOf(page))
        after = `&after=${String(page.headers['x-next-cursor'])}`
      }
      expect(found).to.deep.equal(ids)
      expect(idsOf(await get('/devices/paged?sortColumn=id&sortDirection=desc'))).to.deep.equal(ids.toReversed())
      const filter = (name: string, operator: string, value: string): string =>
        `filters[${name}].operator=${operator}&filters[${name}].value=${value}`
      expect(idsOf(await get(`/devices/paged?${filter('id', 'in', `${last},${least}`)}`))).to.deep.equal([least, last])
      expect(idsOf(await get(`/devices/paged?${filter('serial', 'eq', '-wE')}`))).to.have.length(1)
      const { text: csv } = await get(`/devices/export?fields=id,name&bom=false&${filter('id', 'eq', last)}`)
      expect(csv).to.equal(`id,name\r\n${last},Device 0\r\n`)
      const items = ((await get('/devices/lookup')).body as { readonly items: RawRow[] }).items
      expect(items[0]).to.deep.equal({ id: last, name: 'Device 0' })

      const device = await get(`/devices/${last}`)
      const child = await send('PATCH', `/devices/${last}`, { parentId: least }, String(device.headers['etag']))
      expect([child.status, (child.body as RawRow)['parentId']], child.text).to.deep.equal([200, least])
      const included = (await get(`/devices/${last}?include=parent`)).body as Record<string, RawRow>
      expect(included['parent']).to.include({ id: least, name: 'Device 4' })
      expect((await get(`/devices/by/serial/-wA`)).body).to.include({ id: last })
      for (const number of [1, 2]) {
        const sent = await send('POST', '/signals', { deviceId: second, number, strength: 5 })
        expect([sent.status, (sent.body as RawRow)['id']], sent.text).to.deep.equal([201, `${second},${number}`])
      }
      const signal = (await get(`/signals/${second},2?include=device`)).body as Record<string, RawRow>
      expect(signal['device']).to.include({ id: second })
      const totals = await get('/signals/totals?by=deviceId&measures=count')
      expect(totals.body, totals.text).to.deep.equal([{ deviceId: second, count: 2 }])

      const wrong = [`${last}==`, last.replaceAll('_', '/'), `${last.slice(0, -1)}x`, last.slice(0, -1), 'a b']
      for (const one of wrong) {
        const answer = await get(at('devices', one))
        expect([answer.status, (answer.body as RawRow)['code']], one).to.deep.equal([400, 'id.invalid'])
        expect(answer.text).to.include('base64url of 16 bytes without padding')
        const filtered = await get(`/devices/paged?${filter('id', 'eq', encodeURIComponent(one))}`)
        expect([filtered.status, (filtered.body as RawRow)['code']], one).to.deep.equal([400, 'filter.value.invalid'])
        const made = await send('POST', '/devices', { id: one, serial: 'AA', name: 'none' })
        expect([made.status, (made.body as RawRow)['code']], one).to.deep.equal([400, 'body.invalid'])
      }
      expect((await get(`/devices/AQ`)).status).to.equal(404)
      expect((await send('POST', '/devices', { id: 'AQ', serial: 'AA', name: 'none' })).text).to.include(
        'have 16 bytes'
      )

      const { body: document } = await get('/openapi.json')
      const schemas = (document as { readonly components: { readonly schemas: Record<string, RawRow> } }).components
        .schemas
      const { properties } = schemas['devices'] as unknown as { readonly properties: Record<string, RawRow> }
      expect(properties['id']).to.include({ type: 'string', contentEncoding: 'base64url' })

      const grpc = new GrpcCaller(stack.dataAddress)
      const typed = new TypedClient(application, 'DeviceService', stack.dataAddress)
      try {
        const answer = (await grpc.unary('Get', { resource: 'devices', id: last })) as { readonly record: RawRow }
        expect(JSON.parse(String(answer.record['json']))).to.include({ id: last })
        expect((await typed.call('GetDevice', { id: last }))['device']).to.include({ id: last, parent_id: least })
      } finally {
        typed.close()
        grpc.close()
      }
    })

    it('of any length reach the handlers of events, and the trail', async () => {
      const code = ','.repeat(500)
      const country = await send('POST', '/countries', { id: code, name: 'Told of commas' })
      expect(country.status, country.text).to.equal(201)
      const body = { room: ROOM, countryId: code, number: 1, openedOn: DAY, label: 'Told: long' }
      const shelf = await send('POST', '/shelves', body)
      expect(shelf.status, shelf.text).to.equal(201)
      const id = compositeId(code, ROOM, 1, DAY)
      expect((shelf.body as RawRow)['id']).to.equal(id)
      const etag = String(shelf.headers['etag'])
      const put = await send('PUT', at('shelves', id), { label: 'Told: longer' }, etag)
      expect(put.status, put.text).to.equal(200)
      const told = async (): Promise<string[]> =>
        ((await get('/deliveries')).body as RawRow[]).map(({ rowId }) => String(rowId))
      const end = performance.now() + 60_000
      while ((await told()).filter((one) => one === id).length < 2 && performance.now() < end) await delay(50)
      expect((await told()).filter((one) => one === id)).to.have.length(2)
      expect(await told()).to.include(code)
      expect((await send('DELETE', at('shelves', id), undefined)).status).to.equal(204)
    })
  })
})
