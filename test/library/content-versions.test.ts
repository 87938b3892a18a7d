import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { type Answer, call, json } from '../api/http-call.js'
import { Random } from '../faults/fuzz.js'
import { runCommand } from '../harness/command.js'
import { dataSeed, isSoak } from '../harness/in-soak.js'
import { outputRoot } from '../harness/package-root.js'
import type { SqlParameter } from '../oracle/wire-value.js'
import { ROW_VERSION_SECRET, startStack } from '../stack/stack.js'
import { describeLibrary } from './describe-library.js'

/** docs/entity-words.md, row versions: tables that may not be altered. */
describeLibrary('versions that are made of the content of rows', (store, kind) => {
  const send = store.write.bind(store)
  const tagOf = ({ headers }: Answer): string => String(headers['etag'])
  const BODY = { name: 'Lamp', code: 'lamp', price: '19.90', state: 'new' }
  let made = 0

  const create = async (more: object = {}) => {
    const created = await send('POST', '/fittings', { ...BODY, code: `lamp-${(made += 1)}`, ...more })
    expect(created.status, created.text).to.equal(201)
    const { id } = json(created) as { id: number }
    return { id, target: `/fittings/${id}`, tag: tagOf(created) }
  }
  const read = (target: string): Promise<Answer> => store.as(undefined, target)
  const setBySql = (id: number, column: string, value: SqlParameter): Promise<unknown> =>
    store.sql.run(`UPDATE fitting SET ${column} = ? WHERE id = ?`, [value, id])
  const expectStale = (answer: Answer, what: string): void => {
    expect([answer.status, answer.text.includes('"conflict"')], what).to.deep.equal([412, true])
  }

  it('each answer has the same one, as rowVersion and as ETag', async () => {
    const { id, target, tag } = await create({ note: 'x', weight: 0.1, share: 0.5, tags: { a: [1] }, seal: 'AAE=' })
    const byId = await read(target)
    const [listed] = json(await read(`/fittings?filters[id].operator=in&filters[id].value=${id}`)) as object[]
    const version = tag.slice(3, -1)
    expect(tag).to.match(/^W\/"[A-Za-z0-9+/]{11}="$/)
    expect(tagOf(byId)).to.equal(tag)
    expect(json(byId)).to.have.property('rowVersion', version)
    expect(listed).to.have.property('rowVersion', version)
    expect(json(await read(`${target}?fields=rowVersion`))).to.deep.equal({ rowVersion: version })
    expect(tagOf(await store.as({ role: 'Admin' }, target)), 'for a caller who may read more').to.equal(tag)
  })

  it('a change of any column makes the tag stale, of those that the caller may not read too', async () => {
    const changes: readonly (readonly [string, SqlParameter])[] = [
      ['name', 'lamp'],
      ['name', 'LAMP '],
      ['note', ''],
      ['note', 'é'],
      ['price', kind === 'sqlite' ? 1991 : '19.91'],
      ['weight', 0.1],
      ['weight', 0.100_000_000_000_000_02],
      ['weight', 0],
      ['share', 0.1],
      ['share', Math.fround(0.100_000_01)],
      ['is_fixed', 1],
      ['state', 'used'],
      ['tags', '{"a":1}'],
      ['tags', '{"a": 1}'],
      ['seal', Buffer.from([0])],
      ['seal', Buffer.from([0, 0])],
      ['seal', Buffer.alloc(0)],
      ['cost', 0],
      ['vendor_code', 'a'],
      ['vendor_code', 'A'],
      ['vendor_code', '']
    ]
    const { id, target, tag } = await create()
    const tags = [tag]
    for (const [column, value] of changes) {
      const before = tags.at(-1) ?? ''
      await setBySql(id, column, value)
      expectStale(await send('PATCH', target, { price: '1.00' }, before), `${column} ${String(value)}`)
      expectStale(
        await store.as({ role: 'Librarian' }, target, { method: 'DELETE', headers: { 'if-match': before } }),
        column
      )
      tags.push(tagOf(await read(target)))
    }
    expect(new Set(tags).size, 'no two contents have the same version').to.equal(tags.length)
  })

  it('a row that has its former values again has its former version, which the docs say', async () => {
    const { id, target, tag } = await create()
    await setBySql(id, 'note', 'B')
    await setBySql(id, 'note', null)
    expect(tagOf(await read(target))).to.equal(tag)
    expect((await send('PATCH', target, { note: 'mine' }, tag)).status).to.equal(200)
  })

  it('a write that changes nothing answers the same version, and is written down', async () => {
    const { target, tag } = await create()
    for (const body of [{}, { note: null }]) {
      const patched = await send('PATCH', target, body, tag)
      expect([patched.status, tagOf(patched)], JSON.stringify(body)).to.deep.equal([200, tag])
    }
    const entries = json(await store.as({ role: 'Librarian' }, `${target}/history`)) as object[]
    expect(entries).to.have.length(3)
  })

  it('a write that changes nothing is one UPDATE, which the triggers of the vendor see once', async () => {
    const { id, target, tag } = await create()
    const { sql } = store
    await sql.run('CREATE TABLE fitting_log (fitting_id INT NOT NULL)')
    const body = 'INSERT INTO fitting_log (fitting_id) VALUES (NEW.id)'
    await sql.run(
      `CREATE TRIGGER fitting_logged AFTER UPDATE ON fitting FOR EACH ROW ${kind === 'sqlite' ? `BEGIN ${body}; END` : body}`
    )
    const seen = async (): Promise<number> =>
      (await sql.run('SELECT fitting_id FROM fitting_log WHERE fitting_id = ?', [id])).length
    try {
      const changed = await send('PATCH', target, { note: 'x' }, tag)
      const again = await send('PATCH', target, { note: 'x' }, tagOf(changed))
      expect([changed.status, again.status, await seen()]).to.deep.equal([200, 200, 2])
      expectStale(await send('PATCH', target, { note: 'x' }, tag), 'the first tag')
      expect(await seen(), 'after a stale write').to.equal(2)
    } finally {
      await sql.run('DROP TRIGGER fitting_logged')
      await sql.run('DROP TABLE fitting_log')
    }
  })

  it('an action that leaves the row as it is has no other effect, unless its request has a key', async () => {
    const { id, target, tag } = await create()
    const receipts = async (): Promise<number> =>
      (await store.sql.run("SELECT id FROM receipts WHERE code LIKE 'i-%'")).length
    const calls = await Promise.all([1, 2, 3, 4].map(() => send('PUT', `${target}/inspect`, {}, tag)))
    for (const { status, text } of calls) {
      expect([status, text.includes('inspect has left the row as it was')], text).to.deep.equal([422, true])
    }
    expect(await receipts(), 'nothing is left of them').to.equal(0)
    const keyed = (): Promise<Answer> =>
      store.as({ role: 'Librarian', sub: 'x' }, `${target}/inspect`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'if-match': tag, 'idempotency-key': `inspect-${id}` },
        body: '{}'
      })
    const once = await keyed()
    expect([once.status, (await keyed()).status, await receipts()], once.text).to.deep.equal([200, 200, 1])
  })

  it('neither has one that changes another row or emits an event, and what it did is rolled back', async () => {
    const [one, other] = [await create(), await create()]
    const events = async (): Promise<number> => {
      const [row] = await store.sql.run(
        "SELECT COUNT(*) AS n FROM ur_outbox WHERE resource = 'fittings' AND row_id = ?",
        [String(one.id)]
      )
      return Number(row?.['n'])
    }
    const act = (name: string, body: object, more: object = {}): Promise<Answer> =>
      store.as({ role: 'Librarian', sub: 'x' }, `${one.target}/${name}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'if-match': one.tag, ...more },
        body: JSON.stringify(body)
      })
    const hint = { otherId: other.id, note: 'look', vendorCode: null }
    for (const [name, body] of [
      ['hint', hint],
      ['announce', {}]
    ] as const) {
      for (const prefer of [{}, { prefer: 'tx=rollback' }]) {
        const { status, text } = await act(name, body, prefer)
        expect([status, text.includes(`${name} has left the row as it was`)], text).to.deep.equal([422, true])
      }
    }
    expect(tagOf(await read(other.target)), 'the other row').to.equal(other.tag)
    expect(await events()).to.equal(0)
    expect((await act('hint', hint, { 'idempotency-key': `hint-${one.id}` })).status).to.equal(200)
    expect((await act('announce', {}, { 'idempotency-key': `announce-${one.id}` })).status).to.equal(200)
    expect(json(await read(other.target))).to.have.property('note', 'look')
  })

  it('a dry run tells nothing of a column that takes a permission to read, and nothing by a 422 either', async () => {
    const { id, target } = await create()
    await setBySql(id, 'cost', 7)
    const tag = tagOf(await read(target))
    const appraise = (cost: number, prefer: object): Promise<Answer> =>
      store.as({ role: 'Librarian' }, `${target}/appraise`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'if-match': tag, ...prefer },
        body: JSON.stringify({ cost })
      })
    for (const cost of [7, 8]) {
      const dry = await appraise(cost, { prefer: 'tx=rollback' })
      expect([dry.status, dry.headers['etag']], `${cost} ${dry.text}`).to.deep.equal([200, undefined])
      expect(json(dry), String(cost)).to.have.property('rowVersion', null)
    }
    const same = await appraise(7, {})
    expect([same.status, same.text.includes('has left the row as it was')], same.text).to.deep.equal([422, true])
    expect((await appraise(8, {})).headers['etag']).to.be.a('string')
  })

  it('a dry run of an action that sets a hidden column has no version, by which it could be guessed', async () => {
    const { id, target } = await create()
    await setBySql(id, 'vendor_code', '1234')
    const tag = tagOf(await read(target))
    const recode = (vendorCode: string, prefer: object): Promise<Answer> =>
      store.as({ role: 'Librarian' }, `${target}/recode`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'if-match': tag, ...prefer },
        body: JSON.stringify({ vendorCode })
      })
    for (const code of ['1234', '4321']) {
      const dry = await recode(code, { prefer: 'tx=rollback' })
      expect([dry.status, dry.headers['etag']], code).to.deep.equal([200, undefined])
      expect(json(dry), code).to.have.property('rowVersion', null)
    }
    // A rule that names the row among the others is no way around it.
    const hinted = await store.as({ role: 'Librarian' }, `${target}/hint`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-match': tag, prefer: 'tx=rollback' },
      body: JSON.stringify({ otherId: id, note: 'x', vendorCode: '1234' })
    })
    expect([hinted.status, hinted.headers['etag']], hinted.text).to.deep.equal([200, undefined])
    expect((await recode('4321', {})).headers['etag']).to.be.a('string')
  })

  it('two rows with the same values have different versions', async () => {
    const [one, other] = [await create({ name: 'Twin' }), await create({ name: 'Twin' })]
    expect(one.tag).to.not.equal(other.tag)
    expectStale(await send('PATCH', one.target, { note: 'x' }, other.tag), 'the tag of another row')
  })

  it('a dry run answers the version that the write then has, and leaves the row as it is', async () => {
    const { target, tag } = await create()
    const dry = await store.as({ role: 'Librarian' }, target, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': tag, prefer: 'tx=rollback' },
      body: '{"note":"tried"}'
    })
    expect([dry.status, dry.headers['preference-applied']]).to.deep.equal([200, 'tx=rollback'])
    expect(tagOf(await read(target))).to.equal(tag)
    const done = await send('PATCH', target, { note: 'tried' }, tag)
    expect(tagOf(done), 'the answer is the one that the write would have had').to.equal(tagOf(dry))
    expectStale(await send('PUT', target, { ...BODY, name: 'late' }, tag), 'the tag before it')
    expect(json(await read(target))).to.have.property('note', 'tried')
  })

  it('actions, batches and deletes compare it', async () => {
    const [one, two] = [await create(), await create()]
    const items = [one, two].map(({ id, tag }) => ({ id, rowVersion: tag.slice(3, -1), note: 'in a batch' }))
    const changed = await send('PATCH', '/fittings/batch', items)
    expect(changed.status, changed.text).to.equal(200)
    const [first, second] = (json(changed) as { rowVersion: string }[]).map(({ rowVersion }) => `W/"${rowVersion}"`)
    expectStale(await send('PATCH', '/fittings/batch', items), 'the batch again')
    expectStale(await send('PUT', `${one.target}/write-off`, { note: 'gone' }, one.tag), 'an action')
    const off = await send('PUT', `${one.target}/write-off`, { note: 'gone' }, first)
    expect([off.status, tagOf(off)]).to.deep.equal([200, tagOf(await read(one.target))])
    expect((await send('DELETE', two.target, undefined, second)).status).to.equal(204)
  })

  it('a PUT by a unique property and a replay compare it as other writes do', async () => {
    const { id, target, tag } = await create({ code: 'by-code' })
    const put = (ifMatch: string, key?: string): Promise<Answer> =>
      store.as({ role: 'Librarian', sub: 'x' }, '/fittings/by/code/by-code', {
        method: 'PUT',
        headers: {
          'content-type': 'application/json',
          'if-match': ifMatch,
          ...(key === undefined ? {} : { 'idempotency-key': key })
        },
        body: JSON.stringify({ ...BODY, name: 'By code', code: 'by-code' })
      })
    await setBySql(id, 'vendor_code', 'new')
    expectStale(await put(tag), 'after another program')
    const done = await put(tagOf(await read(target)), `content-${id}`)
    expect(done.status, done.text).to.equal(200)
    await setBySql(id, 'vendor_code', 'newer')
    const replayed = await put(tag, `content-${id}`)
    expect([replayed.status, tagOf(replayed)]).to.deep.equal([200, tagOf(done)])
    expect(replayed.headers['idempotent-replayed']).to.equal('true')
  })

  it('rows that other resources lead to have it as well, with a composite key too', async () => {
    const [one, other] = [await create(), await create()]
    const pair = await send('POST', '/fitting-pairs', { fittingId: one.id, otherId: other.id, note: 'fits' })
    expect(pair.status, pair.text).to.equal(201)
    const row = json(await read(`${one.target}?includeChildren=true`)) as Record<
      'matches' | 'pairs',
      { id: unknown; rowVersion: string }[]
    >
    expect(row.matches.map(({ id, rowVersion }) => [id, `W/"${rowVersion}"`])).to.deep.equal([[other.id, other.tag]])
    expect(row.pairs.map(({ rowVersion }) => `W/"${rowVersion}"`)).to.deep.equal([tagOf(pair)])
    const target = `/fitting-pairs/${one.id},${other.id}`
    expect((await send('PUT', target, { note: 'fits well' }, tagOf(pair))).status).to.equal(200)
    expectStale(await send('PUT', target, { note: 'late' }, tagOf(pair)), 'a composite key')
  })

  it('an answer with a value that is not shown has none', async () => {
    const { id, target } = await create()
    await setBySql(id, 'tags', '{')
    const shown = await read(target)
    expect([shown.status, shown.headers['etag']]).to.deep.equal([200, undefined])
    expect(json(shown)).to.have.property('rowVersion', null)
  })

  it('every data service with the same secret has the same one, and a start without a secret says what to set', async () => {
    const { target, tag } = await create({ note: 'of all' })
    const app = join(outputRoot, 'test/library')
    const started = (secret: string) =>
      startStack({ app, database: { url: store.databaseUrl }, env: { ROW_VERSION_SECRET: secret } })
    for (const [secret, isSame] of [
      [ROW_VERSION_SECRET, true],
      ['another-secret-of-tests', false]
    ] as const) {
      const other = await started(secret)
      expect(tagOf(await call(other.url, target)) === tag, secret).to.equal(isSame)
      await other.stop()
    }
    const failed = await started('').then(
      () => 'started',
      (error: unknown) => String(error)
    )
    const missing = "fittings, fitting-pairs: rowVersion: 'content' takes ROW_VERSION_SECRET"
    expect(failed).to.include(missing)
    for (const command of ['check', 'doctor']) {
      const env = { DATABASE_URL: store.databaseUrl, ROW_VERSION_SECRET: '' }
      const { code, stdout, stderr } = await runCommand([command, '--app', app], { directory: app, env })
      expect([code, (stdout + stderr).includes(missing)], `${command}: ${stdout}${stderr}`).to.deep.equal([1, true])
    }
  })

  it(`nothing is lost of what the service and a second program write into the same rows, seed ${dataSeed}`, async () => {
    const random = new Random(dataSeed)
    const rows: { readonly id: number; readonly target: string }[] = []
    for (let at = 0; at < 4; at++) rows.push(await create({ note: '0', weight: 0 }))
    const program = new Worker(new URL('./second-program.js', import.meta.url), {
      workerData: { url: store.databaseUrl }
    })
    const ended = once(program, 'exit')
    const written = { service: rows.map(() => 0), program: rows.map(() => 0) }
    let stale = 0
    /** A PUT says every value, also those that the other program may have changed meanwhile. */
    const add = async (at: number): Promise<void> => {
      const { id, target } = rows[at] ?? expect.fail('no row')
      for (;;) {
        const before = await read(target)
        const { rowVersion: _, cost: __, id: ___, ...row } = json(before) as Record<string, unknown>
        if (random.below(3) === 0) {
          program.postMessage(id)
          written.program[at] = (written.program[at] ?? 0) + 1
        }
        const answer = await send('PUT', target, { ...row, note: String(Number(row['note']) + 1) }, tagOf(before))
        if (answer.status === 200) break
        expectStale(answer, 'a race')
        stale += 1
      }
      written.service[at] = (written.service[at] ?? 0) + 1
    }
    const writers = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < (isSoak ? 500 : 15); n++) await add(random.below(rows.length))
    })
    await Promise.allSettled(writers)
    program.postMessage('end')
    await ended
    await Promise.all(writers)
    const stored = await store.sql.run(
      `SELECT note, weight FROM fitting WHERE id IN (${rows.map(({ id }) => id).join()}) ORDER BY id`
    )
    expect(stored.map(({ note }) => Number(note))).to.deep.equal(written.service)
    expect(stored.map(({ weight }) => Number(weight))).to.deep.equal(written.program)
    expect(stale, 'races').to.be.greaterThan(0)
  })
})
