import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect, watchDatabase } from '../../data-service/sql/connect.js'
import { expectProblem } from '../api/expect-problem.js'
import { insertFixture } from '../api/fixture.js'
import { type Answer, call } from '../api/http-call.js'
import { StatementLog, statements } from '../api/statement-log.js'
import { etagOf, rowIn, sendTo, type Write } from '../api/writes/send.js'
import { count, select } from '../api/writes/stored.js'
import { type Cluster, startReplicas } from '../harness/cluster.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { type Galera, startGalera } from '../runner/galera.js'
import { ROUNDS } from './lengths.js'
import { together } from '../api/writes/writers.js'

// In each run of the tests: test/data-service/sql/engines/galera-node.test.ts holds the statements that a node gets.

const NODES = 3

/** Two data services write on two nodes; the third one replicates. */
describe(`a Galera cluster of three nodes, ${ROUNDS} rounds,`, function () {
  this.timeout(60_000 + ROUNDS * 10_000)
  let galera: Galera
  let cluster: Cluster
  let folder: string
  let databaseUrls: readonly string[]
  const databaseUrl = (): string => databaseUrls[0] ?? ''

  before(async () => {
    galera = await startGalera(NODES)
    folder = await mkdtemp(join(tmpdir(), 'reviews-'))
    const name = `races_${randomBytes(4).toString('hex')}`
    await withTestDatabase(`${galera.urls[0] ?? ''}/mysql`, (database) =>
      database.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
    )
    databaseUrls = galera.urls.map((url) => `${url}/${name}`)
    const reviewsUrl = `sqlite:${join(folder, 'reviews.sqlite')}`
    const options = databaseUrls
      .slice(0, 2)
      .map((url) => ({ database: { url, reviewsUrl }, env: { SAMPLE_DATA: 'false' } }))
    cluster = await startReplicas(options)
    await insertFixture({ database: databaseUrl(), reviews: reviewsUrl })
  })
  afterEach(function () {
    if (this.currentTest?.state !== 'failed') return
    for (const { logs } of cluster?.stacks ?? []) {
      for (const entry of logs()) if (entry['err'] !== undefined) process.stdout.write(`${JSON.stringify(entry)}\n`)
    }
  })
  after(async () => {
    await cluster?.stop()
    await galera?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  const send = async (n: number, line: string, write: Write = {}): Promise<Answer> => {
    const [account = '', method = '', target = ''] = line.split(' ')
    const token = await cluster.token(`${account}@example.com`)
    return sendTo(cluster.urls[n % 2] ?? '', { method, target, token }, write)
  }
  const done = async (line: string, write: Write = {}): Promise<Answer> => {
    const answer = await send(0, line, write)
    expect(answer.status, answer.text).to.be.within(200, 201)
    return answer
  }
  const idOf = (answer: Answer): number => Number(rowIn(answer)['id'])
  const ordered = async (): Promise<number> =>
    idOf(await done('ada POST /orders', { body: { lines: [{ productId: 1, quantity: 5 }] } }))
  /** Does an action with the row's tag of that moment. */
  const did = async (path: string, name: string, body?: object): Promise<void> => {
    await done(`admin PUT ${path}/${name}`, {
      ifMatch: etagOf(await done(`admin GET ${path}`)),
      ...(body === undefined ? {} : { body })
    })
  }
  /** The other node may be behind: it serves the version that both writes name before they are sent. */
  const tagOnBoth = async (path: string): Promise<string> => {
    const tag = etagOf(await done(`admin GET ${path}`))
    for (let tries = 0; tries < 500; tries++) {
      const other = await send(1, `admin GET ${path}`)
      if (other.status === 200 && etagOf(other) === tag) return tag
    }
    throw new Error(`The other node never came to have ${path}`)
  }
  const rejectedWith = (answer: Answer, expected: { readonly status: number; readonly code: string }): void => {
    const base = cluster.urls.find((url) => answer.text.includes(`"${url}/problems/`))
    expectProblem(answer, { ...expected, base: String(base) })
  }

  it('shows every acknowledged write to a read on the other node at once', async () => {
    for (let round = 1; round <= ROUNDS * 5; round++) {
      const order = await send(round, 'ada POST /orders', { body: { lines: [{ productId: 1, quantity: 1 }] } })
      expect(order.status, order.text).to.equal(201)
      const path = `/orders/${idOf(order)}`
      const read = await send(round + 1, `ada GET ${path}`)
      expect([read.status, etagOf(read)], `round ${round}`).to.deep.equal([200, etagOf(order)])
      const paid = await send(round + 1, `ada PUT ${path}/pay`, { ifMatch: etagOf(order), body: {} })
      expect(paid.status, paid.text).to.equal(200)
      const again = await send(round, `ada GET ${path}`)
      expect(rowIn(again)['status'], `round ${round}`).to.equal('paid')
    }
  })

  it('cancels no order while its invoice is issued on another node', async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const order = `/orders/${await ordered()}`
      const orderId = Number(order.split('/')[2])
      const { customerId } = rowIn(await done(`admin GET ${order}`))
      const invoice = `/invoices/${idOf(await done('admin POST /invoices', { body: { orderId, customerId } }))}`
      const tags = [await tagOnBoth(order), await tagOnBoth(invoice)]
      const answers = await together(2, (n) =>
        n === 0
          ? send(round, `admin PUT ${order}/cancel`, { ifMatch: tags[0] ?? '', body: {} })
          : send(round + 1, `admin PUT ${invoice}/issue`, { ifMatch: tags[1] ?? '' })
      )
      const lost = answers.filter(({ status }) => status !== 200)
      expect(lost, `round ${round}: ${answers.map(({ text }) => text).join('\n')}`).to.have.length(1)
      for (const answer of lost) rejectedWith(answer, { status: 422, code: 'state.invalid' })
    }
  })

  it('takes no goods back twice', async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const orderId = await ordered()
      const order = `/orders/${orderId}`
      await did(order, 'pay')
      await did(order, 'ship', { trackingCode: 'T' })
      await did(order, 'deliver')
      await tagOnBoth(order)
      const body = { orderId, reason: 'Broken', lines: [{ productId: 1, quantity: 5 }] }
      const answers = await together(2, (n) => send(n, 'ada POST /returns', { body }))
      const lost = answers.filter(({ status }) => status !== 201)
      expect(lost, `round ${round}: ${answers.map(({ text }) => text).join('\n')}`).to.have.length(1)
      for (const answer of lost) rejectedWith(answer, { status: 400, code: 'body.invalid' })
    }
  })

  it('moves no two categories under each other', async () => {
    const ids = await Promise.all(
      ['left', 'right'].map(async (slug) => idOf(await done('clerk POST /categories', { body: { name: slug, slug } })))
    )
    for (let round = 1; round <= ROUNDS; round++) {
      const tags: string[] = []
      for (const id of ids) tags.push(await tagOnBoth(`/categories/${id}`))
      const answers = await together(2, (n) =>
        send(n, `clerk PUT /categories/${ids[n] ?? 0}/move`, {
          body: { parentId: ids[1 - n] },
          ifMatch: tags[n] ?? ''
        })
      )
      const moved = answers.filter(({ status }) => status === 200)
      expect(moved, `round ${round}: ${answers.map(({ text }) => text).join('\n')}`).to.have.length(1)
      for (const answer of answers) {
        if (answer.status !== 200) rejectedWith(answer, { status: 422, code: 'state.invalid' })
      }
      for (const answer of moved) await did(`/categories/${idOf(answer)}`, 'move', { parentId: null })
    }
  })

  it('changes a row once for two PUTs by a unique property with one tag', async () => {
    const body = { name: 'By sku', categoryId: 3, price: '20.00', isActive: true }
    await done('clerk POST /products', { body: { ...body, sku: 'MET' } })
    const rows = await count({ databaseUrl: databaseUrl() }, 'products')
    for (let round = 1; round <= ROUNDS; round++) {
      const ifMatch = await tagOnBoth('/products/by/sku/met')
      const answers = await together(2, (n) =>
        send(n, 'clerk PUT /products/by/sku/met', { body: { ...body, description: `${round} ${n}` }, ifMatch })
      )
      const lost = answers.filter(({ status }) => status !== 200)
      expect(lost, `round ${round}: ${answers.map(({ text }) => text).join('\n')}`).to.have.length(1)
      for (const answer of lost) rejectedWith(answer, { status: 412, code: 'conflict' })
      const [stored] = await select(
        { databaseUrl: databaseUrl() },
        "SELECT description FROM products WHERE sku = 'MET'"
      )
      expect(stored).to.deep.equal({ description: `${round} ${answers.findIndex(({ status }) => status === 200)}` })
    }
    expect(await count({ databaseUrl: databaseUrl() }, 'products')).to.equal(rows)
  })

  it('makes each row of two imports with `by` at one moment once', async () => {
    const ROWS = 20
    const rows = await count({ databaseUrl: databaseUrl() }, 'products')
    /** What has met the other import is sent again, as clients do. */
    const importRows = async (n: number, round: number): Promise<Readonly<Record<string, unknown>>> => {
      const skus = Array.from({ length: ROWS }, (_, at) => `G-${round}-${n === 0 ? at : ROWS - 1 - at}`)
      const body = skus.map((sku) => JSON.stringify({ sku, name: sku, categoryId: 3, price: '1.00', isActive: true }))
      const query = `?by=sku&onError=${(round + n) % 2 === 0 ? 'skip' : 'stop'}`
      for (;;) {
        const answer = await send(n, `clerk POST /products/import${query}`, {
          body: body.join('\n'),
          key: `met-${round}-${n}`,
          headers: { 'content-type': 'application/x-ndjson' }
        })
        if (answer.status === 200) return rowIn(answer)
        expect([409, 503], answer.text).to.include(answer.status)
        expect(String(answer.headers['conflict-reason']), answer.text).not.to.contain('unique')
      }
    }
    for (let round = 1; round <= ROUNDS; round++) {
      const counts = await together(2, (n) => importRows(n, round))
      const sum = (name: string): number => counts.reduce((all, one) => all + Number(one[name]), 0)
      const told = JSON.stringify(counts)
      expect([sum('created'), sum('existing'), sum('failed')], told).to.deep.equal([ROWS, ROWS, 0])
    }
    expect(await count({ databaseUrl: databaseUrl() }, 'products')).to.equal(rows + ROUNDS * ROWS)
  })

  it('lets those that only look at one row, or refer to it, go on side by side', async () => {
    const collisions = async (): Promise<number> => {
      const rows = await Promise.all(
        galera.urls.map((url) =>
          select(
            { databaseUrl: `${url}/mysql` },
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')"
          )
        )
      )
      return rows.flat().reduce((sum, row) => sum + Number(row['Value']), 0)
    }
    const before = await collisions()
    for (let round = 1; round <= ROUNDS; round++) {
      // Each looks at the product and refers to the customer. A placed order emits an event besides, and the nodes race for
      // its delivery.
      const body = { currency: 'EUR', couponCode: null, items: [{ productId: 1, quantity: 1 }] }
      const answers = await together(4, (n) => send(n, 'ada POST /shopping-carts', { body }))
      for (const { status, text } of answers) expect(status, text).to.equal(201)
    }
    expect(await collisions()).to.equal(before)
  })

  it('writes guards of few texts, none of which holds a value', async () => {
    const log = await StatementLog.open(databaseUrl(), galera.urls[0])
    try {
      // New connections prepare every text anew.
      const others = 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
      await withTestDatabase(databaseUrl(), async (database) => {
        for (const { id } of await database.run(others)) await database.run(`KILL CONNECTION ${String(id)}`)
      })
      const lines = statements(await log.during(() => together(4, () => ordered())))
      const texts = new Set(lines.filter(({ command }) => command !== 'Execute').map(({ text }) => text))
      const guards = [...texts].filter((text) => text.includes('ur_look_up_guards'))
      expect(guards).to.have.length(1)
      expect(guards[0]).to.match(
        /^INSERT INTO ur_look_up_guards \(slot, turn\) VALUES \(\?, 0\)(, \(\?, 0\))* ON DUPLICATE KEY UPDATE turn = turn \+ 1$/
      )
    } finally {
      await log.close()
    }
    expect(await count({ databaseUrl: databaseUrl() }, 'ur_look_up_guards')).to.be.above(0)
  })

  it('serves nothing by a node outside of it, whose health says so', async () => {
    const [, url = ''] = databaseUrls
    const database = connect(url)
    const health = await watchDatabase(database)
    try {
      expect(health.isServing).to.equal(true)
      const changed = (): Promise<boolean> => new Promise((resolve) => health.onChange(resolve))
      const left = changed()
      const isolate = (isolated: 0 | 1) =>
        select({ databaseUrl: url }, `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isolated}'`)
      await isolate(1)
      expect(await left).to.equal(false)
      const answer = await call(cluster.urls[1] ?? '', '/products/1', { alone: true })
      rejectedWith(answer, { status: 503, code: 'upstream.unavailable' })
      expect((await call(cluster.urls[0] ?? '', '/products/1', { alone: true })).status).to.equal(200)
      const back = changed()
      await isolate(0)
      expect(await back).to.equal(true)
      expect((await call(cluster.urls[1] ?? '', '/products/1', { alone: true })).status).to.equal(200)
    } finally {
      await health.close()
      await database.sequelize.close()
    }
  })
})
