import { expect } from 'chai'
import { describeApi } from '../../api/api-store.js'
import type { Answer } from '../../api/http-call.js'
import { etagOf, rowIn, send } from '../../api/writes/send.js'
import { count, select } from '../../api/writes/stored.js'
import type { DatabaseKind } from '../../harness/database.js'
import type { Crash } from './crash-on-statement.js'
import { CrashingService, retried } from './crashing-service.js'

interface Step extends Crash {
  readonly title: string
  /** Whether what was asked for is stored then; undefined where that is a matter of chance. */
  readonly stored: boolean | undefined
}

const COMMIT: readonly Step[] = [
  { title: 'before the commit', when: 'before', statement: '^COMMIT|THEN COMMIT', stored: false },
  { title: 'with the commit on its way', when: 'sent', statement: '^COMMIT|THEN COMMIT', stored: undefined },
  { title: 'after the commit, before the reply', when: 'after', statement: '^COMMIT|THEN COMMIT', stored: true }
]

const CREATE: readonly Step[] = [
  { title: 'before its key is claimed', when: 'before', statement: 'INTO ur_idempotency_keys', stored: false },
  { title: 'before the row', when: 'before', statement: 'INSERT INTO `?orders`?\\b', stored: false },
  { title: 'after its children', when: 'after', statement: 'INSERT INTO `?order_lines`?\\b', stored: false },
  {
    title: 'before the answer is kept',
    when: 'before',
    statement: 'UPDATE ur_idempotency_keys SET answer',
    stored: false
  },
  ...COMMIT
]

const BATCH: readonly Step[] = [
  { title: 'after some rows', when: 'after', statement: 'INSERT INTO `?products`?\\b', stored: false },
  ...CREATE.filter(({ title }) => title === 'before the answer is kept'),
  ...COMMIT
]

const UPDATE: readonly Step[] = [
  { title: 'after the row', when: 'after', statement: 'UPDATE `?products`?\\b', stored: false },
  ...COMMIT
]

/** Which steps are tried, by the beginnings of their titles. */
export type Steps = Readonly<Record<'create' | 'batch' | 'import' | 'update', readonly string[]>>

/** Declares the tests that kill the data service at steps of its writes. Without `stepsOf` all of them are tried. */
export function describeKilled(stepsOf?: (kind: DatabaseKind) => Steps): void {
  describeApi('the data service killed', (store) => {
    const chosen = stepsOf?.(store.kind)
    /** With numbers that keep rows and keys of the steps apart. */
    const tried = (write: keyof Steps, steps: readonly Step[]): (readonly [number, Step])[] => {
      const titles = chosen?.[write] ?? ['']
      expect(titles.filter((title) => !steps.some((step) => step.title.startsWith(title)))).to.deep.equal([])
      return [...steps.filter((step) => titles.some((title) => step.title.startsWith(title))).entries()]
    }
    const service = new CrashingService(store)
    before(() => service.start())
    after(() => service.stop())

    /** Kills at the step, starts again, retries, and answers the last two answers. */
    async function killedAt(step: Step, request: () => Promise<Answer>, isStored: () => Promise<boolean>) {
      if (!service.isRunning) await service.start()
      const rejected = await service.dying(step, request)
      store.problem(rejected, { status: 503, code: 'upstream.unavailable' })
      expect(rejected.headers['retry-after']).to.match(/^[1-9]\d*$/)
      const stored = await isStored()
      if (step.stored !== undefined) expect(stored).to.equal(step.stored)
      await service.start()
      const answer = await retried(request)
      // A commit that was on its way may have arrived only after we looked.
      if (step.stored !== undefined) {
        expect(answer.headers['idempotent-replayed'], answer.text).to.equal(stored ? 'true' : undefined)
      }
      return { answer, again: await request() }
    }

    for (const [n, step] of tried('create', CREATE)) {
      it(`${step.title} of a create: the retry makes one row and has one answer`, async () => {
        const body = {
          lines: [
            { productId: 1, quantity: 2 },
            { productId: 2, quantity: n + 1 }
          ]
        }
        const orders = await count(store, 'orders')
        const { answer, again } = await killedAt(
          step,
          () => send(store, 'ada POST /orders', { body, key: `create-${n}` }),
          async () => (await count(store, 'orders')) === orders + 1
        )
        expect(answer.status, answer.text).to.equal(201)
        const { id } = rowIn(answer)
        expect(answer.headers).to.include({ location: `${store.url}/orders/${String(id)}` })
        const read = await store.as('ada', `/orders/${String(id)}`)
        expect(answer.bytes).to.deep.equal(read.bytes)
        expect(etagOf(answer)).to.equal(etagOf(read))
        expect(again.headers['idempotent-replayed']).to.equal('true')
        expect(again.bytes).to.deep.equal(answer.bytes)
        expect(await count(store, 'orders')).to.equal(orders + 1)
        expect(await count(store, 'order_lines WHERE order_id NOT IN (SELECT id FROM orders)')).to.equal(0)
        expect(await count(store, 'order_lines WHERE order_id = ?', [Number(id)])).to.equal(2)
        expect(await count(store, "ur_audit_entries WHERE resource = 'orders'")).to.equal(n + 1)
        expect(await count(store, 'ur_idempotency_keys WHERE answer IS NULL')).to.equal(0)
      })
    }

    for (const [n, step] of tried('batch', BATCH)) {
      it(`${step.title} of a batch: the retry makes all its rows once`, async () => {
        const body = [1, 2, 3].map((row) => ({ name: 'x', sku: `BATCH-${n}-${row}`, categoryId: 1, price: '1.00' }))
        const ofBatch = `products WHERE sku LIKE 'BATCH-${n}-%'`
        const products = await count(store, 'products')
        const { answer, again } = await killedAt(
          step,
          () => send(store, 'clerk POST /products/batch', { body, key: `batch-${n}` }),
          async () => {
            const made = await count(store, ofBatch)
            expect(made).to.be.oneOf([0, 3])
            return made === 3
          }
        )
        expect(answer.status, answer.text).to.equal(201)
        expect(again.headers['idempotent-replayed']).to.equal('true')
        expect(again.bytes).to.deep.equal(answer.bytes)
        const ids = (JSON.parse(answer.text) as { id: number }[]).map(({ id }) => id)
        const stored = await select(store, `SELECT id FROM ${ofBatch} ORDER BY id`)
        expect(stored.map(({ id }) => Number(id))).to.deep.equal(ids)
        expect(await count(store, 'products')).to.equal(products + 3)
        const entries = await count(store, `ur_audit_entries WHERE resource = 'products' AND row_id IN (${ids.join()})`)
        expect(entries).to.equal(3)
      })
    }

    for (const [n, step] of tried('import', BATCH)) {
      it(`${step.title} of a part of an import: the file sent again makes all its rows once`, async () => {
        const rows = [1, 2, 3].map((row) => ({ name: 'x', sku: `IMPORT-${n}-${row}`, categoryId: 1, price: '1.00' }))
        const body = rows.map((row) => JSON.stringify(row)).join('\n')
        const ofFile = `products WHERE sku LIKE 'IMPORT-${n}-%'`
        const headers = { 'content-type': 'application/x-ndjson' }
        const { answer, again } = await killedAt(
          step,
          () => send(store, 'clerk POST /products/import?onError=skip', { body, key: `import-${n}`, headers }),
          async () => {
            const made = await count(store, ofFile)
            expect(made).to.be.oneOf([0, 3])
            return made === 3
          }
        )
        const replayed = answer.headers['idempotent-replayed'] === 'true' ? 3 : 0
        const counts = { rows: 3, failed: 0, errors: [] }
        expect(JSON.parse(answer.text)).to.deep.equal({ ...counts, created: 3 - replayed, replayed })
        expect(JSON.parse(again.text)).to.deep.equal({ ...counts, created: 0, replayed: 3 })
        expect(await count(store, ofFile)).to.equal(3)
        const made = `row_id IN (SELECT id FROM ${ofFile})`
        expect(await count(store, `ur_audit_entries WHERE resource = 'products' AND ${made}`)).to.equal(3)
      })
    }

    for (const [, step] of tried('update', UPDATE)) {
      it(`${step.title} of a PUT: the retry leaves it written once`, async () => {
        const body = { name: step.title, sku: 'HM-001', categoryId: 2, price: '1.00', isActive: true }
        const before = await store.call('/products/1')
        const entries = await count(store, "ur_audit_entries WHERE action = 'update'")
        const { answer, again } = await killedAt(
          step,
          () =>
            send(store, 'clerk PUT /products/1', {
              body,
              ifMatch: etagOf(before),
              key: step.title.replaceAll(' ', '-')
            }),
          async () => (await count(store, 'products WHERE id = 1 AND name = ?', [step.title])) === 1
        )
        expect(answer.status, answer.text).to.equal(200)
        expect(again.bytes).to.deep.equal(answer.bytes)
        const now = await store.as('clerk', '/products/1')
        expect(now.bytes).to.deep.equal(answer.bytes)
        expect(etagOf(now)).to.equal(etagOf(answer)).and.not.equal(etagOf(before))
        expect(await count(store, "ur_audit_entries WHERE action = 'update'")).to.equal(entries + 1)
        // Whoever has no key hears that the tag is stale, and writes nothing twice.
        const keyless = await send(store, 'clerk PUT /products/1', { body, ifMatch: etagOf(before) })
        store.problem(keyless, { status: 412, code: 'conflict' })
      })
    }
  })
}
