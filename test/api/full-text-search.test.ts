import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { json } from './http-call.js'
import { events } from '../../examples/store/entities/events.js'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { loadEntityRows, readOracle } from '../oracle/entity-oracle.js'
import { withTestDatabase } from '../oracle/test-database.js'

/** Words between accented ones in the order of letters: an index that compares accents would lose some of them. */
const ACCENTED = ['Prénom', 'Présent', 'Premier', 'Prélude', 'Prefab', 'Café au lait', 'Cafeteria', 'Cafés zwei']
const OTHERS = [
  "O'Neil sings with friends",
  'A-b testing, and 3.14 more',
  'The end of Go',
  'Gopher theatre 2026',
  'snake_case Without limits',
  'Straße nach Привет мир',
  'Το καλοκαίρι',
  '中文字 演唱会',
  'A flat of 100 km², and ½kilo',
  'ขอบคุณ ครับ',
  '100% +plus -minus "quoted" (round) <less> ~tilde *star @at',
  `${'x'.repeat(84)} long`,
  'Pre'
]
const TITLES = [...ACCENTED, ...OTHERS]

const SEARCHES = [
  ['pre', 'pré', 'PREF', 'prel', 'cafe', 'café', 'cafes', 'cafés z', 'caf tea', 'au', 'lait caf'],
  ["o'neil", 'neil', 'neil sing', 'eil', 'a-b', 'b', 'testing 3.14', '14', '3.1', 'o'],
  ['the', 'th', 'thea', 'go', 'g', 'goph go', 'with', 'wit', 'without wit', 'out', '20', '2026', '026', '2026 the'],
  ['snake', 'snake_c', 'case', '_', 'strasse', 'straß', 'ривет', 'καλ', 'm²', '½k'],
  ['中文', '文字', '会', 'คุณ', 'ครับ ขอบ', '100%', '%', '+plus', 'plus', '-minus', '+', '-', '*', '"', '"quoted"'],
  ['(', ')', '<less>', '~', '@at', '@', '+pre* -cafe', 'pre*', '(pre cafe)', '"pre', 'pre)', '++', 'a+b', 'word~2'],
  ['x'.repeat(30), 'x'.repeat(84), 'x'.repeat(85), 'lon', 'nothing', 'pre nothing', '\\', "'", ';'],
  ['a b c d e f g h']
].flat()

describeApi('a search by a full-text index', (store) => {
  const search = (text: string, more = ''): Promise<Awaited<ReturnType<typeof store.call>>> =>
    store.call(`/events/paged?search=${encodeURIComponent(text)}&pageSize=500&fields=title${more}`)
  const titles = async (text: string): Promise<unknown[]> =>
    (json(await search(text)) as { title: string }[]).map(({ title }) => title)
  const write = (method: string, path: string, body: object, tag?: string) =>
    store.as('admin', path, {
      method,
      headers: { 'content-type': 'application/json', ...(tag === undefined ? {} : { 'if-match': tag }) },
      body: JSON.stringify(body)
    })
  const period = { startsAt: '2030-01-01T00:00:00Z', endsAt: '2030-01-02T00:00:00Z' }
  let venueId = 0

  before(async () => {
    const venue = await write('POST', '/venues', { name: 'Hall', city: 'Bern', capacity: 100, isOpen: true })
    venueId = (json(venue) as { id: number }).id
    for (const title of TITLES) {
      const { status, text } = await write('POST', '/events', { title, ...period, venueId })
      expect(status, text).to.equal(201)
    }
  })

  const isByWords = store.kind === 'mysql'

  it('finds beginnings of words where the database has such an index, and parts of texts on SQLite', async () => {
    expect(await titles('eil')).to.deep.equal(isByWords ? [] : ["O'Neil sings with friends"])
    expect(await titles('sing nei')).to.deep.equal(["O'Neil sings with friends"])
    const accented = ['Prénom', 'Présent', 'Prélude']
    expect(await titles('pré')).to.deep.equal(accented)
    expect(await titles('prE')).to.include.members(['Premier', 'Prefab', 'Pre'])
    expect(await titles('prE')).to.not.include.members(accented)
  })

  it('finds any word as the oracle does, with a total, on list and export, and by cursors', async () => {
    const rows = await withTestDatabase(store.databaseUrl, (sql) => loadEntityRows(sql, events, [events]))
    for (const text of SEARCHES) {
      const expected = readOracle(events, rows, { search: text, pageSize: 500, kind: store.kind })
      if (expected.rejected !== null) throw new Error(text)
      const found = expected.items.map((row) => row['title'])
      const page = await search(text)
      expect([page.status, json(page)], text).to.deep.equal([200, found.map((title) => ({ title }))])
      expect(page.headers['x-total-count'], text).to.equal(String(found.length))
      const query = `search=${encodeURIComponent(text)}`
      const list = json(await store.call(`/events?${query}&fields=title`)) as { title: string }[]
      expect(
        list.map(({ title }) => title),
        text
      ).to.deep.equal(found)
      const file = (await store.call(`/events/export?${query}&fields=id&bom=false`)).text
      expect(file.trim().split('\r\n').slice(1), text).to.deep.equal(expected.items.map(({ id }) => String(id)))
      const first = await store.call(`/events/paged?${query}&pageSize=2&sortColumn=title&sortDirection=desc&fields=id`)
      const walked = json(first) as object[]
      for (let next = first.headers['x-next-cursor']; next !== undefined;) {
        const on = await store.call(
          `/events/paged?${query}&pageSize=3&sortColumn=title&sortDirection=desc&fields=id&after=${String(next)}`
        )
        walked.push(...(json(on) as object[]))
        next = on.headers['x-next-cursor']
      }
      expect(walked, text).to.have.length(found.length)
    }
  })

  it('joins filters and groups, and finds what was written and no longer what was changed or deleted', async () => {
    const grouped = '&anyOf[1].filters[title].operator=contains&anyOf[1].filters[title].value=lu'
    const more = '&anyOf[1].filters[title].operator=eq&anyOf[1].filters[title].value=premier'
    expect(json(await search('pr', `${grouped}${more}`))).to.deep.equal([{ title: 'Premier' }, { title: 'Prélude' }])
    const made = await write('POST', '/events', { title: 'Zirkular', ...period, venueId })
    expect(await titles('zirk')).to.deep.equal(['Zirkular'])
    const path = new URL(String(made.headers['location'])).pathname
    const changed = await write('PUT', path, { title: 'Zeppelin', ...period, venueId }, String(made.headers['etag']))
    expect([await titles('zirk'), await titles('zepp')]).to.deep.equal([[], ['Zeppelin']])
    const gone = await store.as('admin', path, {
      method: 'DELETE',
      headers: { 'if-match': String(changed.headers['etag']) }
    })
    expect([gone.status, await titles('zepp')]).to.deep.equal([204, []])
  })

  if (isByWords) {
    it('finds the same rows after somebody dropped the index', async () => {
      const found = await titles('pre')
      await withTestDatabase(store.databaseUrl, (sql) => sql.run('ALTER TABLE events DROP INDEX events_full_text'))
      expect(await titles('pre')).to.deep.equal(found)
    })
  }

  it('Describe, OpenAPI and the page of the resource say which of the two it is', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    // Of the proto.
    const { resources } = (await rpc.unary('Describe', {}, { asGateway: true })) as DescribeResponse__Output
    rpc.close()
    const fullText = new Map(resources.map((one) => [one.name, one.fullText]))
    expect([fullText.get('events'), fullText.get('products')]).to.deep.equal([isByWords, false])
    const document = (await store.call('/openapi.json')).text
    const words = 'each word is a word, or the beginning of a word, in at least one of: title.'
    expect(document.includes(words)).to.equal(isByWords)
    expect(document).to.include('each word is contained in at least one of: name, sku, description.')
    const page = (await store.call('/docs/resources/events')).text
    expect(page.includes('search by words')).to.equal(isByWords)
  })
})
