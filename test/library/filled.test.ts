import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

type Row = Readonly<Record<string, unknown>>

/** docs/decisions/023 and contract.md section 5: what the database fills (the entity file is gauges.ts). */
describeLibrary('columns that the database fills', (store, kind) => {
  const send = store.write.bind(store)
  const tagOf = ({ headers }: Answer): string => String(headers['etag'])
  const rowOf = (answer: Answer): Row => json(answer) as Row
  let made = 0
  const create = (body: object = {}): Promise<Answer> =>
    send('POST', '/gauges', { serial: `S-${++made}`, place: 'Hall', ...body })
  const stored = async (id: unknown): Promise<Row> => {
    const [row] = await store.sql.run(
      'SELECT reading, unit, note, place, doubled, next_reading AS following, installed_at AS installed FROM gauges WHERE id = ?',
      [Number(id)]
    )
    return {
      ...row,
      reading: Number(row?.['reading']),
      doubled: Number(row?.['doubled']),
      following: Number(row?.['following'])
    }
  }

  // First, while there are no other gauges.
  it('are read through a view by every route, filtered and included like a table, and the view takes no write', async () => {
    for (const n of [1, 2, 3]) {
      await store.as(LIBRARIAN, '/gauges', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ serial: `V-${n}`, place: 'p', reading: n * 10, parts: n === 2 ? [{ name: 'x' }] : [] })
      })
    }
    const list = await store.as(undefined, '/gauge-totals')
    expect(json(list)).to.deep.equal([
      { id: 1, serial: 'V-1', total: 10, parts: '0' },
      { id: 2, serial: 'V-2', total: 20, parts: '1' },
      { id: 3, serial: 'V-3', total: 30, parts: '0' }
    ])
    const one = await store.as(undefined, '/gauge-totals/2')
    expect([one.status, one.headers['etag'], json(one)]).to.deep.equal([
      200,
      undefined,
      { id: 2, serial: 'V-2', total: 20, parts: '1' }
    ])
    const filtered = await store.as(undefined, '/gauge-totals/paged?filters[total].operator=gt&filters[total].value=15')
    expect((json(filtered) as Row[]).map(({ id }) => id)).to.deep.equal([2, 3])
    expect((await store.as(undefined, '/gauge-totals/export?bom=false')).text).to.equal(
      'id,serial,total,parts\r\n1,V-1,10,0\r\n2,V-2,20,1\r\n3,V-3,30,0\r\n'
    )
    expect(json(await store.as(undefined, '/gauge-totals/lookup'))).to.deep.equal({
      items: [1, 2, 3].map((id) => ({ id, name: `V-${id}` }))
    })
    for (const [method, target] of [
      ['POST', '/gauge-totals'],
      ['PUT', '/gauge-totals/1'],
      ['DELETE', '/gauge-totals/1']
    ] as const) {
      const answer = await store.as(LIBRARIAN, target, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(method === 'DELETE' ? {} : { body: '{}' })
      })
      expect(answer.status, `${method} ${target}`).to.equal(405)
    }
  })

  it('are read through a view whose rows have no key: listed, paged by number, exported and totalled, and none is named', async () => {
    const ask = async (target: string): Promise<Answer> => store.as(undefined, `/gauge-readings${target}`)
    const stored = await store.sql.run('SELECT place, reading, note FROM gauges')
    const rows = stored.flatMap((row) => [row, row]).map((row) => ({ ...row, reading: Number(row['reading']) }))
    const sorted = rows.toSorted((one, other) => one.reading - other.reading)
    const list = await ask('')
    expect([list.status, json(list)]).to.deep.equal([200, sorted])
    const pages = [1, 2, 3].map((number) => ask(`/paged?pageSize=4&pageNumber=${number}`))
    const [first, second, third] = await Promise.all(pages)
    expect([first, second, third].flatMap((one) => json(one as Answer))).to.deep.equal(sorted)
    expect(JSON.parse(String(second?.headers['x-pagination']))).to.deep.equal({
      totalCount: 6,
      pageSize: 4,
      currentPage: 2,
      totalPages: 2,
      hasPrevious: true,
      hasNext: false
    })
    expect(first?.headers['x-next-cursor'], 'no cursor names a row').to.equal(undefined)
    expect(String(first?.headers['link'])).to.match(/pageNumber=2>; rel="next"/)
    const down = await ask('/paged?sortColumn=reading&sortDirection=desc&pageSize=1&fields=reading')
    expect(json(down)).to.deep.equal([{ reading: 30 }])
    const filtered = await ask('/paged?filters[reading].operator=gt&filters[reading].value=10&search=p&totalLimit=3')
    expect([filtered.headers['x-total-count'], (json(filtered) as Row[]).length]).to.deep.equal(['3', 4])
    const lines = sorted.map(({ reading }) => `p,${reading},new\r\n`)
    expect((await ask('/export?bom=false')).text).to.equal(`place,reading,note\r\n${lines.join('')}`)
    expect(json(await ask('/totals?by=place'))).to.deep.equal([{ place: 'p', count: 6, 'sum.reading': 120 }])
    for (const name of ['after', 'before']) {
      const { status, text } = await ask(`/paged?${name}=rLSoK5QWORMaWyJGOHU2czI1TGJUb0MiLGZhbHNlLCIwLjEwIiwyXQ`)
      expect([status, text]).to.satisfy(
        ([code, body]: [number, string]) => code === 400 && body.includes('have no key')
      )
    }
    for (const target of ['/1', '/lookup', '/by/place/p', '/1/history', '/batch']) {
      expect([target, (await ask(target)).status]).to.deep.equal([target, 404])
    }
    const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    expect((await store.as(LIBRARIAN, '/gauge-readings', posted)).status).to.equal(405)
    expect((await ask('/paged?fields=unit')).status, 'a hidden column').to.equal(400)
  })

  it('are exported whole without a key, also where a batch ends between rows that are alike', async () => {
    const rows = Array.from({ length: 1600 }, (_, at) => `('many-${at}', ${at % 7}, 'many')`)
    await store.sql.run(`INSERT INTO gauges (serial, reading, place) VALUES ${rows.join(', ')}`)
    const { text } = await store.as(undefined, '/gauge-readings/export?bom=false&search=many&fields=reading')
    const expected = rows.flatMap((_, at) => [at % 7, at % 7]).toSorted((one, other) => one - other)
    expect(text.split('\r\n').slice(1, -1)).to.deep.equal(expected.map(String))
    await store.sql.run("DELETE FROM gauges WHERE place = 'many'")
  })

  it('are paged by number without a key, each row once, also where a sort has no room for their texts', async () => {
    const rows = Array.from({ length: 25 }, (_, at) => `('log-${at}', ${at}, 'log')`)
    await store.sql.run(`INSERT INTO gauges (serial, reading, place) VALUES ${rows.join(', ')}`)
    const ask = (target: string): Promise<Answer> =>
      store.as(undefined, `/gauge-logs${target}filters[place].operator=eq&filters[place].value=log`)
    const pages = await Promise.all([1, 2, 3].map((number) => ask(`/paged?pageSize=10&pageNumber=${number}&`)))
    expect(pages.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    const found = pages.flatMap((one) => json(one) as Row[])
    const expected = rows.map((_, n) => ({ place: 'log', log0: 'log', log1: 'log', log2: String(n), payload: { n } }))
    expect(found).to.have.deep.members(expected)
    expect((await ask('/export?bom=false&')).text.split('\r\n')).to.have.length(rows.length + 2)
    await store.sql.run("DELETE FROM gauges WHERE place = 'log'")
  })

  it('take their defaults in a create that leaves them out, and the answer holds what is stored', async () => {
    const before = Date.now()
    const answer = await create()
    expect(answer.status).to.equal(201)
    const { id, installedAt, changedAt, rowVersion, ...rest } = rowOf(answer)
    expect(rest).to.deep.equal({
      serial: 'S-1',
      reading: 7,
      unit: 'kwh$x',
      note: 'new',
      place: 'Hall',
      doubled: '14',
      next: 8
    })
    for (const moment of [installedAt, changedAt].map(String)) {
      expect(moment).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Date.parse(moment)).to.be.within(before - 60_000, Date.now() + 60_000)
    }
    expect(rowVersion).to.have.length(12)
    expect(await stored(id)).to.deep.include({ reading: 7, unit: 'kwh$x', note: 'new', doubled: 14, following: 8 })
    const read = rowOf(await store.as(undefined, `/gauges/${String(id)}`))
    expect(read).to.deep.equal(rowOf(answer))
  })

  it('take the values that a create names, null too', async () => {
    const answer = await create({ reading: 0, unit: 'm3', note: null, installedAt: '2020-02-03T04:05:06.789Z' })
    expect(rowOf(answer)).to.deep.include({
      reading: 0,
      unit: 'm3',
      note: null,
      doubled: '0',
      next: 1,
      installedAt: '2020-02-03T04:05:06.789Z'
    })
  })

  it('take no value of a request where the database alone sets them: it is named as ignored', async () => {
    const answer = await create({ doubled: '1', next: 1, changedAt: '2020-01-01T00:00:00Z' })
    expect(answer.status).to.equal(201)
    expect(String(answer.headers['x-ignored-parameters']).split(',').toSorted()).to.deep.equal([
      'body.changedAt',
      'body.doubled',
      'body.next'
    ])
    expect(rowOf(answer)).to.include({ doubled: '14', next: 8 })
  })

  it('are left to the rules of PUT: null where it may be, else the default; a member without one is missing', async () => {
    const created = await create({ reading: 100, unit: 'm3', note: 'old', installedAt: '2020-02-03T04:05:06.789Z' })
    const { id, serial } = rowOf(created)
    const missing = await send('PUT', `/gauges/${String(id)}`, { serial }, tagOf(created))
    expect(missing.status).to.equal(400)
    expect((json(missing) as Row)['detail']).to.equal('place is missing.')
    const put = await send('PUT', `/gauges/${String(id)}`, { serial, place: 'Attic' }, tagOf(created))
    expect(put.status).to.equal(200)
    expect(rowOf(put)).to.deep.include({
      reading: 7,
      unit: 'kwh$x',
      note: null,
      place: 'Attic',
      doubled: '14',
      next: 8,
      installedAt: '2020-02-03T04:05:06.789Z'
    })
    expect(await stored(id)).to.deep.include({ reading: 7, unit: 'kwh$x', note: null, place: 'Attic' })
    expect(tagOf(put)).to.not.equal(tagOf(created))
    const full = await send(
      'PUT',
      `/gauges/${String(id)}`,
      { serial, place: 'Attic', reading: 9, unit: 'l' },
      tagOf(put)
    )
    expect(rowOf(full)).to.deep.include({ reading: 9, unit: 'l', doubled: '18' })
  })

  it('keep their values in a PATCH that leaves them out, which follows what it sets', async () => {
    const created = await create({ reading: 5, unit: 'm3', note: 'n' })
    const { id } = rowOf(created)
    const patched = await send('PATCH', `/gauges/${String(id)}`, { reading: 6 }, tagOf(created))
    expect(rowOf(patched)).to.deep.include({ reading: 6, unit: 'm3', note: 'n', doubled: '12', next: 7 })
    const nulled = await send('PATCH', `/gauges/${String(id)}`, { unit: null }, tagOf(patched))
    expect(nulled.status).to.equal(400)
    const read = await send('PUT', `/gauges/${String(id)}/read`, { reading: 50 }, tagOf(patched))
    expect(rowOf(read)).to.deep.include({ reading: 50, doubled: '100', next: 51 })
  })

  it('advance a timestamp that the database keeps with each write, and the version once', async () => {
    const created = await create()
    const { id, changedAt } = rowOf(created)
    await store.sql.run('UPDATE gauges SET note = ? WHERE id = ?', ['by hand', Number(id)])
    const patched = await send('PATCH', `/gauges/${String(id)}`, { note: 'x' }, tagOf(created))
    expect(patched.status).to.equal(200)
    expect(Date.parse(String(rowOf(patched)['changedAt']))).to.be.at.least(Date.parse(String(changedAt)))
    const count = (answer: Answer): bigint => Buffer.from(tagOf(answer).slice(3, -1), 'base64').readBigUInt64BE()
    expect(count(patched) - count(created)).to.equal(1n)
  })

  it('are left out of single children, of batches, and of replays alike', async () => {
    const answer = await create({
      parts: [{ name: 'a' }, { name: 'b', colour: 'red' }, { name: 'c', colour: 'blue' }, { name: 'd' }, { name: 'e' }]
    })
    const { id } = rowOf(answer)
    const parts = await store.sql.run('SELECT name, colour, size FROM gauge_parts WHERE gauge_id = ? ORDER BY id', [
      Number(id)
    ])
    expect(parts.map(({ name, colour, size }) => [name, colour, Number(size)])).to.deep.equal([
      ['a', 'grey', 3],
      ['b', 'red', 3],
      ['c', 'blue', 3],
      ['d', 'grey', 3],
      ['e', 'grey', 3]
    ])
    const batch = await send('POST', '/gauges/batch', [
      { serial: 'B-1', place: 'x' },
      { serial: 'B-2', place: 'x', reading: 3 }
    ])
    expect((json(batch) as Row[]).map(({ reading, doubled }) => [reading, doubled])).to.deep.equal([
      [7, '14'],
      [3, '6']
    ])
    const keyed = (): Promise<Answer> =>
      store.as(LIBRARIAN, '/gauges', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'a-gauge' },
        body: JSON.stringify({ serial: 'K-1', place: 'x' })
      })
    const [first, again] = [await keyed(), await keyed()]
    expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([first.text, 'true'])
  })

  it('need no member in the documents of the API, and those alone that have no default are required', async () => {
    const document = json(await store.as(undefined, '/openapi.json')) as {
      components: { schemas: Record<string, { required: string[]; properties: object }> }
    }
    const { schemas } = document.components
    expect(schemas['gauges.create']?.required).to.deep.equal(['serial', 'place'])
    expect(schemas['gauges.update']?.required).to.deep.equal(['serial', 'place'])
    expect(Object.keys(schemas['gauges.update']?.properties ?? {})).to.deep.equal([
      'serial',
      'reading',
      'unit',
      'note',
      'place'
    ])
    expect(Object.keys(schemas['gauges']?.properties ?? {})).to.include.members(['doubled', 'next', 'changedAt'])
  })

  if (kind === 'mysql') {
    it('stand in no INSERT and UPDATE but as DEFAULT', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const lines = await log.during(async () => {
          const created = await create()
          const { id, serial } = rowOf(created)
          await send('PUT', `/gauges/${String(id)}`, { serial, place: 'Attic' }, tagOf(created))
        })
        const texts = lines.filter(({ command, text }) => command === 'Execute' && /`gauges`/.test(text))
        const [insert = ''] = texts.map(({ text }) => text).filter((text) => text.startsWith('INSERT'))
        const [update = ''] = texts.map(({ text }) => text).filter((text) => text.startsWith('UPDATE'))
        expect(insert).to.match(/^INSERT INTO `gauges` \(`serial`,`place`,`row_version`\) VALUES/)
        expect(update).to.match(
          /SET `serial`=[^,]+,`note`=[^,]+,`place`=[^,]+,`reading`=DEFAULT,`unit`=DEFAULT,`row_version`=/
        )
      } finally {
        await log.close()
      }
    })
  }
})
