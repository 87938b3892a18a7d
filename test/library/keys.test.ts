import { expect } from 'chai'
import { unreachableRows } from '../../schema/check/check-schema.js'
import { openDatabase } from '../../data-service/sql/connect.js'
import { type Answer, filter, ids, json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'
import application from './uniform-rest.config.js'
import { parametersOf } from '../harness/openapi-document.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const GUID = '0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'
const OTHER_GUID = '1c5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'

interface Problem {
  readonly code: string
  readonly detail: string
  readonly errors?: readonly { readonly code: string; readonly pointer?: string }[]
}

/** Keys that are no numbers of the database's own (the entity files are in shelves.ts). */
describeLibrary('keys of every kind', (store, kind) => {
  const send = (method: string, target: string, body?: unknown, headers: object = {}): Promise<Answer> =>
    store.as(LIBRARIAN, target, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const get = (target: string): Promise<Answer> => store.as(undefined, target)
  const made = async (resource: string, body: object): Promise<{ path: string; row: Record<string, unknown> }> => {
    const answer = await send('POST', `/${resource}`, body)
    expect(answer.status, answer.text).to.equal(201)
    const path = new URL(String(answer.headers['location'])).pathname
    return { path, row: json(answer) as Record<string, unknown> }
  }
  const code = (answer: Answer): string => (json(answer) as Problem).code
  const etagOf = async (path: string): Promise<string> => String((await get(path)).headers['etag'])

  before(async () => {
    for (const [id, name] of [
      ['de', 'German'],
      ['en', 'English'],
      ['a/b', 'Slash'],
      ['50%,x', 'Percent and comma'],
      ['ä é', 'Letters']
    ]) {
      await made('languages', { id, name })
    }
  })

  it('of a text that the caller names: the path of Location is that of the row, whatever its characters', async () => {
    const paths = {
      'x/y': '/languages/x%2Fy',
      '+49': '/languages/%2B49',
      'q%2F,r': '/languages/q%252F,r',
      'ö ': '/languages/%C3%B6%20'
    }
    for (const [id, path] of Object.entries(paths)) {
      const created = await made('languages', { id, name: id, words: [{ word: 'one' }, { word: 'two' }] })
      expect(created.path).to.equal(path)
      expect(created.row['id']).to.equal(id)
      const read = json(await get(`${path}?includeChildren=true`)) as { id: string; words: { word: string }[] }
      expect(read.id).to.equal(id)
      expect(read.words.map(({ word }) => word).toSorted()).to.deep.equal(['one', 'two'])
      const tag = { 'if-match': await etagOf(path) }
      expect((await send('PUT', path, { id, name: 'new' }, tag)).status).to.equal(200)
      expect(
        (await send('PUT', `${path}/add-word`, { word: 'three' }, { 'if-match': await etagOf(path) })).status
      ).to.equal(200)
      expect((await send('DELETE', path)).status).to.equal(204)
      expect((await get(path)).status).to.equal(404)
    }
    expect(code(await send('POST', '/languages', { name: 'Nobody' }))).to.equal('body.invalid')
    expect(code(await get(`/languages/${'x'.repeat(201)}`))).to.equal('id.invalid')
  })

  it('of a text are told apart to the character: no other spelling answers, changes or deletes the row', async () => {
    for (const id of ['DE', 'De', 'de ', ' de', 'dé', 'de\t']) {
      const path = `/languages/${encodeURIComponent(id)}`
      expect((await get(path)).status, id).to.equal(404)
      const tag = { 'if-match': await etagOf('/languages/de') }
      expect((await send('PUT', path, { name: 'x' }, tag)).status, id).to.equal(404)
      expect((await send('PUT', `${path}/add-word`, { word: 'x' }, tag)).status, id).to.equal(404)
      expect((await send('DELETE', path)).status, id).to.equal(404)
    }
    expect(json(await get('/languages/de?fields=id,name'))).to.deep.equal({ id: 'de', name: 'German' })
  })

  it('of texts that the database takes for equal are one: creating the other is a conflict', async () => {
    const answer = await send('POST', '/languages', { id: 'DE', name: 'Other' })
    expect([answer.status, code(answer)]).to.deep.equal([409, 'conflict'])
  })

  it('that no path could name are rejected, and those that are there are told', async () => {
    for (const id of ['paged', 'export', 'lookup', 'batch', 'by', 'codes', '.', '..', '']) {
      const answer = await send('POST', '/languages', { id, name: 'x' })
      const { code: rejected, detail } = json(answer) as Problem
      expect([rejected, detail], id).to.deep.equal([
        'body.invalid',
        id === '' ? 'id must have 1 to 100 characters.' : 'id must be another text: no path could name the row.'
      ])
    }
    const several = json(await send('POST', '/languages', { id: 'batch' })) as Problem
    expect(several.errors?.map(({ pointer }) => pointer)).to.have.members(['/id', '/name'])
    const batch = json(
      await send('POST', '/languages/batch', [
        { id: 'ok', name: 'x' },
        { id: 'paged', name: 'x' }
      ])
    )
    expect((batch as Problem).detail).to.contain('no path could name')
    expect((await get('/languages/ok')).status).to.equal(404)
    await made('languages', { id: 'Paged', name: 'Reachable' })
    expect((json(await get('/languages/Paged')) as { id: string }).id).to.equal('Paged')
    expect((await send('DELETE', '/languages/Paged')).status).to.equal(204)

    const insert = 'INSERT INTO languages (code, name, row_version) VALUES (?, ?, ?)'
    for (const id of ['lookup', 'Export', 'by']) await store.sql.run(insert, [id, 'By hand', Buffer.alloc(8)])
    const database = await openDatabase(store.databaseUrl, 1)
    const found = await unreachableRows(database, application.entities)
    await database.sequelize.close()
    expect(found.map(({ resource, ids: told }) => [resource, told.toSorted()])).to.deep.equal([
      ['languages', ['by', 'lookup']]
    ])
    expect(ids(await get('/languages'))).to.include('lookup')
    await store.sql.run("DELETE FROM languages WHERE code IN ('lookup', 'Export', 'by')")
  })

  it('of 64 unsigned bits keep every digit', async () => {
    await made('publications', { id: GUID, title: 'First', languageId: 'de' })
    for (const id of ['0', '9007199254740993', '9223372036854775808', '18446744073709551615']) {
      const { path, row } = await made('barcodes', { id, publicationId: GUID, note: `of ${id}` })
      expect([path, row['id']]).to.deep.equal([`/barcodes/${id}`, id])
      expect((json(await get(`${path}?includeFKs=true`)) as { publication: { id: string } }).publication.id).to.equal(
        GUID
      )
    }
    const sorted = ids(await get('/barcodes/paged?sortColumn=id&sortDirection=desc'))
    expect(sorted).to.deep.equal(['18446744073709551615', '9223372036854775808', '9007199254740993', '0'])
    expect(ids(await get(`/barcodes/paged?${filter('id', 'gt', '9223372036854775807')}`))).to.have.length(2)
    expect(
      code(await send('POST', '/barcodes', { id: '18446744073709551616', publicationId: GUID, note: 'x' }))
    ).to.equal('body.invalid')
    expect(code(await get('/barcodes/18446744073709551616'))).to.equal('id.invalid')
  })

  it('of several columns are one text: the parts with commas between them, each encoded', async () => {
    const shelves: readonly (readonly [object, string, string])[] = [
      [{ languageId: 'de', room: 'north', number: 1 }, 'de,north,1', '/shelves/de,north,1'],
      [{ languageId: 'de', room: 'South', number: -2 }, 'de,South,-2', '/shelves/de,South,-2'],
      [{ languageId: 'a/b', room: 'north', number: 1 }, 'a%2Fb,north,1', '/shelves/a%252Fb,north,1'],
      [{ languageId: '50%,x', room: 'west', number: 3 }, '50%25%2Cx,west,3', '/shelves/50%2525%252Cx,west,3'],
      [{ languageId: 'ä é', room: 'west', number: 3 }, 'ä é,west,3', '/shelves/%C3%A4%20%C3%A9,west,3']
    ]
    for (const [key, id, path] of shelves) {
      const created = await made('shelves', {
        ...key,
        label: id,
        checks: [{ checkedOn: '2026-01-31', remark: 'tidy' }]
      })
      expect([created.path, created.row['id']]).to.deep.equal([path, id])
      const read = json(await get(`${path}?includeChildren=true&includeFKs=true`)) as Record<string, unknown>
      expect(read).to.include({ id, label: id, ...key })
      expect(read['language']).to.include({ id: created.row['languageId'] })
      expect(read['checks']).to.have.length(1)
      expect(json(await get(`${path}?fields=id`))).to.deep.equal({ id })
      const stored = await store.sql.run(
        'SELECT language_id AS l, room AS r, number AS n FROM shelves WHERE label = ?',
        [id]
      )
      expect(stored.map(({ l, r, n }) => ({ languageId: l, room: r, number: Number(n) }))).to.deep.equal([key])
    }
    const [first] = (json(await get('/shelves/de,north,1?includeChildren=true')) as { checks: object[] }).checks
    expect(first).to.include({ id: 'de,north,1,2026-01-31', checkedOn: '2026-01-31', remark: 'tidy' })
  })

  it('of several columns have one spelling each', async () => {
    const texts = [
      'de,north',
      'de,north,1,2',
      'de,north,01',
      'de,north,+1',
      'de,north,1.0',
      'de,North,1',
      ',,',
      'de;north;1'
    ]
    const encoded = ['d%65,north,1', 'a%2fb,north,1', '50%%2Cx,west,3', 'a/b,north,1', 'de%,north,1', 'de,north,1%20']
    for (const id of [...texts, ...encoded]) {
      const path = `/shelves/${encodeURIComponent(id)}`
      expect([(await get(path)).status, code(await get(path))], id).to.deep.equal([400, 'id.invalid'])
      expect(code(await send('DELETE', path)), id).to.equal('id.invalid')
    }
    // A comma is percent-encoded or not, as in any segment of a path.
    expect((await get('/shelves/de%2Cnorth%2C1')).status).to.equal(200)
    for (const id of ['DE,north,1', 'de ,north,1', 'de,north,2']) {
      expect((await get(`/shelves/${encodeURIComponent(id)}`)).status, id).to.equal(404)
    }
  })

  it('of several columns cannot be filtered or sorted by; their parts can', async () => {
    expect(code(await get(`/shelves/paged?${filter('id', 'equals', 'de,north,1')}`))).to.equal(
      'filter.property.unknown'
    )
    expect(code(await get('/shelves/paged?sortColumn=id'))).to.equal('sort.property.unknown')
    const byNumber = ids(await get('/shelves/paged?sortColumn=number&sortDirection=desc'))
    expect(byNumber).to.deep.equal(['ä é,west,3', '50%25%2Cx,west,3', 'de,north,1', 'a%2Fb,north,1', 'de,South,-2'])
    expect(ids(await get(`/shelves/paged?${filter('languageId', 'equals', 'de')}`))).to.deep.equal([
      'de,north,1',
      'de,South,-2'
    ])
    const lookup = json(await get('/shelves/lookup')) as { items: { id: string; name: string }[] }
    expect(lookup.items.map(({ id, name }) => id === name)).to.deep.equal(Array(5).fill(true))
    const exported = (await get('/shelves/export?fields=id,label&bom=false')).text.split('\r\n')
    expect(exported.slice(0, 2)).to.deep.equal(['id,label', '"50%25%2Cx,west,3","50%25%2Cx,west,3"'])
    const [columns] = (await get('/shelves/export?bom=false')).text.split('\r\n')
    expect(columns).to.equal('id,languageId,room,number,label,languageName')
  })

  it('are no members of an update, but may be repeated there', async () => {
    const path = '/shelves/de,north,1'
    const put = async (body: object): Promise<Answer> =>
      send('PUT', path, { label: 'again', ...body }, { 'if-match': await etagOf(path) })
    const whole = json(await get(path)) as object
    expect((await put(whole)).status).to.equal(200)
    const other = json(await put({ id: 'de,north,2', number: 2, room: 'north' })) as Problem
    expect(other.errors?.map(({ code: one, pointer }) => [one, pointer])).to.have.deep.members([
      ['id.mismatch', '/id'],
      ['id.mismatch', '/number']
    ])
    const language = '/languages/de'
    const tag = { 'if-match': await etagOf(language) }
    expect(code(await send('PUT', language, { id: 'DE', name: 'German' }, tag))).to.equal('id.mismatch')
    expect(
      (await send('PUT', `${path}/relabel`, { label: 'de,north,1' }, { 'if-match': await etagOf(path) })).status
    ).to.equal(200)
  })

  it('of several columns identify children too', async () => {
    const path = '/shelves/de,north,1'
    const answer = await send('PUT', `${path}/recheck`, { remark: 'dusty' }, { 'if-match': await etagOf(path) })
    expect([answer.status, (json(answer) as { label: string }).label]).to.deep.equal([200, 'checked 1'])
    const remarks = await store.sql.run(
      'SELECT language_id AS l, remark AS r FROM shelf_checks ORDER BY language_id, room'
    )
    expect(
      remarks
        .filter(({ l }) => l === 'de')
        .map(({ r }) => String(r))
        .toSorted()
    ).to.deep.equal(['dusty', 'tidy'])
    expect(remarks.filter(({ r }) => r === 'dusty')).to.have.length(1)
    await send('PUT', `${path}/relabel`, { label: 'de,north,1' }, { 'if-match': await etagOf(path) })
  })

  it('of several columns are referred to, through one reference', async () => {
    await made('publications', { id: OTHER_GUID, title: 'Second', languageId: null })
    const shelf = { shelfLanguage: 'a/b', shelfRoom: 'north', shelfNumber: 1 }
    const { path } = await made('placements', { publicationId: GUID, copyNumber: 1, ...shelf, remark: 'here' })
    await made('placements', { publicationId: GUID, copyNumber: 2, ...shelf, shelfLanguage: null, remark: 'nowhere' })
    await made('placements', { publicationId: OTHER_GUID, copyNumber: 1, remark: 'lost' })
    expect(path).to.equal(`/placements/${GUID},1`)
    const rows = json(await get('/placements?includeFKs=true')) as Record<string, unknown>[]
    expect(rows.map(({ shelf: one }) => (one as { id: string } | null)?.id ?? null)).to.deep.equal([
      'a%2Fb,north,1',
      null,
      null
    ])
    expect(rows.map((row) => row['shelfLabel'])).to.deep.equal(['a%2Fb,north,1', null, null])
    const within = json(await get('/placements?include=shelf.language')) as { shelf: { language: unknown } | null }[]
    expect(within[0]?.shelf?.language).to.include({ id: 'a/b' })
    const linked = json(await get(`/publications/${GUID}?include=shelves.language`)) as {
      shelves: { language: unknown }[]
    }
    expect(linked.shelves.map(({ language }) => (language as { id: string }).id)).to.deep.equal(['a/b'])
    // The same by the link, both ways: the second copy stands nowhere.
    const [one, other] = [GUID, OTHER_GUID].map((id) => `/publications/${id}?includeChildren=true&fields=shelves`)
    const shelfIds = async (target = ''): Promise<string[]> =>
      (json(await get(target)) as { shelves: { id: string }[] }).shelves.map(({ id }) => id)
    expect([await shelfIds(one), await shelfIds(other)]).to.deep.equal([['a%2Fb,north,1'], []])
    const shelves = json(await get('/shelves?includeChildren=true')) as {
      id: string
      publications: { id: string; languageName: string | null }[]
    }[]
    expect(
      shelves.flatMap(({ id, publications }) => publications.map((each) => [id, each.id, each.languageName]))
    ).to.deep.equal([['a%2Fb,north,1', GUID, 'German']])
    expect(rows.map((row) => row['shelfLanguageName'])).to.deep.equal(['Slash', null, null])
    const missing = await send('POST', '/placements', {
      publicationId: GUID,
      copyNumber: 9,
      ...shelf,
      shelfNumber: 99,
      remark: 'x'
    })
    expect([missing.status, code(missing)]).to.deep.equal([409, 'conflict'])
    expect((await send('DELETE', '/shelves/a%252Fb,north,1')).status).to.equal(409)
    expect((await send('DELETE', `/placements/${GUID},2`)).status).to.equal(204)
    expect(ids(await get(`/placements/paged?${filter('shelfLabel', 'contains', 'north')}`))).to.deep.equal([
      `${GUID},1`
    ])
  })

  it('stand in the trail, a long one with its hash, and in the answer of a repeated create', async () => {
    const language = ','.repeat(40)
    await made('languages', { id: language, name: 'Commas' })
    const body = { languageId: language, room: 'north', number: 7, label: 'long' }
    const keyed = { 'idempotency-key': 'shelf-of-commas' }
    const [first, again] = [await send('POST', '/shelves', body, keyed), await send('POST', '/shelves', body, keyed)]
    expect(first.headers['location']).to.match(/\/shelves\/(%252C){40},north,7$/)
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect([again.text, again.headers['location']]).to.deep.equal([first.text, first.headers['location']])
    const entries = await store.sql.run(
      "SELECT row_id AS id FROM ur_audit_entries WHERE resource = 'shelves' ORDER BY id"
    )
    const rowIds = entries.map(({ id }) => String(id))
    expect(rowIds).to.include('50%25%2Cx,west,3')
    expect(rowIds.filter((id) => /^(%2C){6}%2~[\w-]{43}$/.test(id))).to.have.length(1)
  })

  it('page by cursors without gap or duplicate, also where the sort rules take two texts for equal', async () => {
    if (kind === 'sqlite') {
      // A table that another program made has no such index, and compares its key by characters.
      await store.sql.run('DROP INDEX languages_key')
      const insert = 'INSERT INTO languages (code, name, row_version) VALUES (?, ?, ?)'
      for (const id of ['DE', 'dE', 'De']) await store.sql.run(insert, [id, 'German', Buffer.alloc(8)])
    }
    const all = ids(await get('/languages'))
    expect(new Set(all).size).to.equal(all.length)
    const orders = ['', 'sortColumn=id&sortDirection=desc&', 'sortColumn=name,id&sortDirection=desc,asc&']
    for (const [resource, order] of [
      ...orders.map((one) => ['languages', one]),
      ['shelves', ''],
      ['shelves', 'sortColumn=number,languageId&']
    ]) {
      const whole = ids(await get(`/${resource}/paged?${order}pageSize=100`))
      const walked: unknown[] = []
      let page = await get(`/${resource}/paged?${order}pageSize=2`)
      for (;;) {
        walked.push(...ids(page))
        const after = page.headers['x-next-cursor']
        if (after === undefined) break
        page = await get(`/${resource}/paged?${order}pageSize=2&after=${String(after)}`)
      }
      expect(walked, `${resource} ${order}`).to.deep.equal(whole)
      const back: unknown[] = []
      for (
        let before = page.headers['x-previous-cursor'];
        before !== undefined;
        before = page.headers['x-previous-cursor']
      ) {
        page = await get(`/${resource}/paged?${order}pageSize=2&before=${String(before)}`)
        back.unshift(...ids(page))
      }
      expect(back, `${resource} ${order} back`).to.deep.equal(whole.slice(0, back.length))
      expect(back.length).to.be.greaterThan(whole.length - 3)
    }
    if (kind === 'sqlite') {
      for (const id of ['DE', 'dE', 'De']) {
        expect((json(await get(`/languages/${id}`)) as { id: string }).id).to.equal(id)
      }
      await store.sql.run("DELETE FROM languages WHERE code IN ('DE', 'dE', 'De')")
    }
  })

  if (kind === 'mysql') {
    it('are found by references and children that the database takes for equal', async () => {
      await store.sql.run("UPDATE publications SET language_id = 'DE' WHERE id = ?", [GUID])
      await store.sql.run(
        "INSERT INTO language_words (id, language_code, word, row_version) VALUES (?, 'De', 'Buch', ?)",
        [OTHER_GUID, Buffer.alloc(8)]
      )
      const row = json(await get(`/publications/${GUID}?includeFKs=true`)) as Record<string, unknown>
      expect(row).to.include({ languageId: 'DE', languageName: 'German' })
      expect(row['language']).to.include({ id: 'de', name: 'German' })
      const listed = json(await get('/publications?includeFKs=true')) as {
        id: string
        language: { id: string } | null
      }[]
      expect(listed.find(({ id }) => id === GUID)?.language?.id).to.equal('de')
      const { words } = json(await get('/languages/de?includeChildren=true')) as { words: { word: string }[] }
      expect(words.map(({ word }) => word)).to.include('Buch')
      const pages = json(await get('/languages/paged?includeChildren=true&pageSize=100')) as {
        id: string
        words: object[]
      }[]
      expect(pages.find(({ id }) => id === 'de')?.words).to.have.length(words.length)
      await store.sql.run("UPDATE publications SET language_id = 'de' WHERE id = ?", [GUID])
    })
  }

  it('are described: the properties of each, and the id as a text', async () => {
    const document = json(await get('/openapi.json')) as {
      components: { schemas: Record<string, { required?: string[]; properties: Record<string, object> }> }
    }
    expect(parametersOf(document, '/shelves/{id}', 'get').get('id')?.schema).to.include({ type: 'string' })
    const { schemas } = document.components
    expect(Object.keys(schemas['shelves']?.properties ?? {}).slice(0, 4)).to.deep.equal([
      'id',
      'languageId',
      'room',
      'number'
    ])
    expect(schemas['shelves.create']?.required).to.have.members(['languageId', 'room', 'number', 'label'])
    expect(schemas['shelves.create']?.properties).not.to.have.property('id')
    expect(Object.keys(schemas['shelves.update']?.properties ?? {})).to.deep.equal(['label'])
    expect(schemas['languages.create']?.required).to.have.members(['id', 'name'])
    expect(schemas['languages.update']?.properties).not.to.have.property('id')
  })
})
