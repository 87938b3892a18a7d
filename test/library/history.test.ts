import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'

type Row = Readonly<Record<string, unknown>>
interface Entry {
  readonly action: string
  readonly changes: Readonly<Record<string, { before?: unknown; after?: unknown; omitted?: boolean }>>
}

/** A reading with awkward values of each type. `details` and `notes` are texts, for digits that JavaScript would lose. */
const READING = `"meterId":"1","readOn":"2024-02-29","readAt":"23:59:59","startedAt":"00:00:00.001","madeIn":1901,"amount":0.1,
  "share":1.1,"kind":"north's heat","rank":-128,"floor":255,"depth":32767,"height":16777215,"pulses":4294967295,
  "serial":"18446744073709551615","isSealed":false,"flags":4095,"wideFlags":"1099511627775",
  "notedAt":"2024-02-29T12:00:00Z","measuredAt":"2024-02-29T12:00:00.123456Z","labels":["Büro"],
  "details":{"made":1,"exact":12345678901234567890.10},"proof":"AAE=","story":"A \\"quoted\\"\\nline"`

/** contract.md section 10, where the store has no such rows. The entity files are readings.ts, gauges.ts and shelves.ts. */
describeLibrary('a history', (store) => {
  const written = async (answer: Promise<Answer>): Promise<Answer> => {
    const { status, text } = await answer
    expect(status, text).to.be.lessThan(300)
    return await answer
  }
  const tagOf = ({ headers }: Answer): string => String(headers['etag'])
  const historyOf = async (path: string): Promise<readonly Entry[]> =>
    json(await written(store.as(undefined, `${path}/history?pageSize=50`))) as Entry[]
  /** The values of a row by what its history says, where they are not null. */
  const folded = (entries: readonly Entry[]): Row => {
    const row: Record<string, unknown> = {}
    for (const { changes } of entries.toReversed()) {
      for (const [name, { before = null, after }] of Object.entries(changes)) {
        expect(row[name] ?? null, name).to.deep.equal(before)
        row[name] = after
      }
    }
    return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
  }
  const withoutNull = (row: Row, others: readonly string[]): Row =>
    Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== null && !others.includes(name)))

  it('has the values of every type as rows have them, with all digits', async () => {
    await written(
      store.write('POST', '/meters', { name: 'Main', kind: 'gas', installedOn: '1999-12-31', factor: 1, labels: [] })
    )
    const body = `{${READING}}`
    const headers = { 'content-type': 'application/json' }
    const created = await written(
      store.as({ role: 'Librarian', sub: 'x' }, '/readings', { method: 'POST', headers, body })
    )
    const { id } = json(created) as { id: number }
    const path = `/readings/${id}`
    const patch = {
      readAt: '00:00:00',
      amount: 1e21,
      labels: [],
      remarks: null,
      proof: 'AQ==',
      rank: 1,
      state: 'closed'
    }
    const patched = await written(store.write('PATCH', path, patch, tagOf(created)))
    const shown = withoutNull(json(patched) as Row, [
      'id',
      'rowVersion',
      'proofBytes',
      'labelCount',
      ...Object.keys(json(patched) as Row).filter((name) => name.startsWith('meter') && name !== 'meterId')
    ])
    const entries = await historyOf(path)
    expect(folded(entries)).to.deep.equal(shown)
    expect(Object.keys(entries[0]?.changes ?? {})).to.have.members(Object.keys(patch))
    const { text } = await store.as(undefined, `${path}/history`)
    expect(text).to.match(/"details":\{"after":\{"made": ?1, ?"exact": ?12345678901234567890\.10?\}\}/)
  })

  it('says that values were too long, and keeps the shorter ones', async () => {
    const body = `{${READING.replace('18446744073709551615', '7').replace('123456Z', '123457Z')}}`
    const headers = { 'content-type': 'application/json' }
    const created = await written(
      store.as({ role: 'Librarian', sub: 'x' }, '/readings', { method: 'POST', headers, body })
    )
    const path = `/readings/${String((json(created) as Row)['id'])}`
    const change = { photo: Buffer.alloc(60_000).toString('base64'), story: 's'.repeat(10_000), rank: 5 }
    await written(store.write('PATCH', path, change, tagOf(created)))
    const [entry] = await historyOf(path)
    expect(entry?.changes['photo']).to.deep.equal({ omitted: true })
    expect(entry?.changes['rank']).to.deep.equal({ before: -128, after: 5 })
    expect(entry?.changes['story']?.after).to.equal('s'.repeat(10_000))
  })

  it('has what the database fills in, after a create, a PUT that leaves it out and an action', async () => {
    const created = await written(store.write('POST', '/gauges', { serial: 'H-1', place: 'Hall' }))
    const path = `/gauges/${String((json(created) as Row)['id'])}`
    const read = await written(store.write('PUT', `${path}/read`, { reading: 77 }, tagOf(created)))
    const put = await written(store.write('PUT', path, { serial: 'H-1', place: 'Attic' }, tagOf(read)))
    expect(folded(await historyOf(path))).to.deep.equal(withoutNull(json(put) as Row, ['id', 'rowVersion']))
    const [last, action] = await historyOf(path)
    expect(action?.changes['reading']?.after).to.equal(77)
    expect(last?.changes['reading']?.before).to.equal(77)
    expect(last?.changes['place']).to.deep.equal({ before: 'Hall', after: 'Attic' })
  })

  it('begins anew where a row is made again under the id of a deleted one, and ids differ by each character', async () => {
    await written(store.write('POST', '/languages', { id: 'h, 1/2', name: 'First' }))
    const path = `/languages/${encodeURIComponent('h, 1/2')}`
    await written(store.write('DELETE', path, undefined))
    expect((await store.as(undefined, `${path}/history`)).status).to.equal(404)
    await written(store.write('POST', '/languages', { id: 'h, 1/2', name: 'Second' }))
    expect(await historyOf(path)).to.have.length(1)
    const one = await written(store.as(undefined, `${path}/history?pageSize=1`))
    expect(one.headers['x-next-cursor']).to.equal(undefined)
    await written(store.write('DELETE', path, undefined))
    await written(store.write('POST', '/languages', { id: 'H, 1/2', name: 'Third' }))
    expect((await historyOf('/languages/H,%201%2F2')).map(({ changes }) => changes)).to.deep.equal([
      { name: { after: 'Third' } }
    ])
  })

  const MEMBER = { sub: 'm', member_id: 1 }
  const OTHER = { sub: 'o', member_id: 2 }
  const asText = async (claims: object | undefined, path: string): Promise<readonly Entry[]> =>
    json(await written(store.as(claims as never, `${path}/history?pageSize=50`))) as Entry[]
  const send = (claims: object, line: string, body: object, tag?: string): Promise<Answer> => {
    const [method = '', path = ''] = line.split(' ')
    return store.as(claims as never, path, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(tag === undefined ? {} : { 'if-match': tag })
      },
      body: JSON.stringify(body)
    })
  }

  it('of a row that got another owner shows the new one nothing of the time before, behind no cursor either', async () => {
    const made = await written(
      send(MEMBER, 'POST /errands', { title: 'Secret', memberId: 1, branchId: 2, isOpen: true })
    )
    const path = `/errands/${String((json(made) as Row)['id'])}`
    const renamed = await written(send(MEMBER, `PATCH ${path}`, { title: 'Secret too' }, tagOf(made)))
    const own = await asText(MEMBER, path)
    expect(own.map(({ action }) => action)).to.deep.equal(['update', 'create'])
    const early = await written(store.as(MEMBER, `${path}/history?pageSize=1`))
    await written(send(MEMBER, `PUT ${path}/hand-over`, { memberId: 2 }, tagOf(renamed)))
    expect((await store.as(MEMBER, `${path}/history`)).status).to.equal(404)
    const theirs = await asText(OTHER, path)
    expect(theirs).to.have.length(1)
    expect(theirs[0]?.changes).to.deep.equal({ memberId: { after: 2 } })
    const cursor = String(early.headers['x-next-cursor'])
    expect(json(await written(store.as(OTHER, `${path}/history?after=${cursor}`)))).to.deep.equal([])
    const now = await written(store.as(OTHER, path))
    await written(send(OTHER, `PATCH ${path}`, { title: 'Theirs' }, tagOf(now)))
    expect((await asText(OTHER, path))[0]?.changes).to.deep.equal({ title: { before: 'Secret too', after: 'Theirs' } })
    // The bypass role sees every row.
    expect(await asText({ sub: 'a', role: 'Admin' }, path)).to.have.length(4)
  })

  it('of a draft that is published begins with that', async () => {
    const body = { title: 'Draft', branchId: 1, isOpen: false, grade: 3 }
    const made = await written(store.write('POST', '/documents', { ...body, author: 'x' }))
    const path = `/documents/${String((json(made) as Row)['id'])}`
    const kept = await written(store.as({ role: 'Librarian', sub: 'x' }, path))
    const second = await written(store.write('PATCH', path, { title: 'Second draft' }, tagOf(kept)))
    const open = await written(store.write('PATCH', path, { isOpen: true, title: 'Published' }, tagOf(second)))
    const read = await asText({ sub: 'reader' }, path)
    expect(read.map(({ changes }) => changes)).to.deep.equal([
      { title: { after: 'Published' }, isOpen: { after: true } }
    ])
    await written(store.write('PATCH', path, { title: 'Mended' }, tagOf(open)))
    expect((await asText({ sub: 'reader' }, path))[0]?.changes).to.deep.equal({
      title: { before: 'Published', after: 'Mended' }
    })
  })

  it('of a long id is not in that of the id to which audit entries cut it', async () => {
    const long = 'v'.repeat(87)
    const cut = `${long.slice(0, 20)}~${createHash('sha256').update(long).digest('base64url')}`
    const made = await written(store.write('POST', '/languages', { id: long, name: 'Long' }))
    const [entry] = await store.sql.run("SELECT row_id AS id FROM ur_audit_entries WHERE row_id LIKE 'vvv%'")
    expect(entry?.['id']).to.equal(cut)
    await written(store.write('POST', '/languages', { id: cut, name: 'Short' }))
    await written(store.write('PUT', `/languages/${long}`, { name: 'Secret' }, tagOf(made)))
    expect((await historyOf(`/languages/${cut}`)).map(({ changes }) => changes)).to.deep.equal([
      { name: { after: 'Short' } }
    ])
    expect((await historyOf(`/languages/${long}`)).map(({ action }) => action)).to.deep.equal(['update', 'create'])
  })
})
