import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { expect } from 'chai'
import { open } from '../harness/http.js'
import { isSoak } from '../harness/in-soak.js'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { openTestDatabase, withTestDatabase } from '../oracle/test-database.js'
import { watchSnapshot } from '../soak/export-snapshot.js'
import { openDescriptors } from '../soak/memory-of.js'
import { describeApi } from './api-store.js'
import { parseCsv, values } from '../stack/csv.js'

/** 18 MB: many times what the sockets and the windows between database and client hold. */
const ROWS = isSoak ? 5000 : 3000
/** Milliseconds between two rounds of writes, which take the processor from the export. */
const WRITE_MS = isSoak ? 1 : 30
/** Exports that are asked for at the same moment: far more than there are places. */
const AT_ONCE = isSoak ? 60 : 24
const FIRST = 1_000_000
/**
 * What a busy machine may take to stop a query, below the deadline of a call, which would stop it too. The soak judges
 * how long it takes.
 */
const GONE_MS = 8000
/** The same of an export, which a client that reads nothing would end after 30 s. */
const EXPORT_GONE_MS = 25_000

/** Rows whose id is even stay throughout; the odd ones come and go. */
const row = (id: number): NewRow => ({
  id,
  name: `Row ${id}`,
  sku: `ROW-${id}`,
  categoryId: 1,
  price: `${id % 100}.00`,
  isActive: true,
  description: '€'.repeat(2000)
})

describeApi(
  'an export under way',
  (store) => {
    before(() => {
      return withTestDatabase(store.databaseUrl, (database) =>
        insertRows(
          database,
          TABLES.products,
          Array.from({ length: ROWS }, (_, n) => row(FIRST + 2 * n))
        )
      )
    })

    const sorts = ['', '&sortColumn=price&sortDirection=desc']
    // One on each database, and both on both in the soak.
    for (const sort of sorts.filter((one) => isSoak || (one === '') === (store.kind === 'sqlite'))) {
      it(`has neither gap nor duplicate while rows come, go and move${sort}`, async () => {
        const writer = await openTestDatabase(store.databaseUrl)
        let writing = true
        let written = 0
        const write = async (): Promise<void> => {
          while (writing) {
            const id = FIRST + 1 + 2 * ((written * 7919) % ROWS)
            await insertRows(writer, TABLES.products, [row(id)])
            await writer.run('DELETE FROM products WHERE id = ?', [id])
            // From one end of the order to the other, and back: a reader without a snapshot misses it or meets it twice.
            await writer.run('UPDATE products SET price = 1000000 - price WHERE id BETWEEN ? AND ? AND id % 100 = 0', [
              FIRST,
              FIRST + 2 * ROWS
            ])
            written++
            await sleep(WRITE_MS)
          }
        }
        const response = await open(`${store.url}/products/export?fields=id,price,description&bom=false${sort}`)
        const chunks: Buffer[] = []
        const writes = write()
        try {
          for await (const chunk of response as AsyncIterable<Buffer>) {
            chunks.push(chunk)
            // Unread, the rest waits in the database: its rows are far more than what sockets hold.
            if (chunks.length === 1) await until(() => Promise.resolve(written >= 3), 30_000, 'three rounds of writes')
          }
        } finally {
          writing = false
          await writes
          if (written % 2 === 1) await writer.run('UPDATE products SET price = 1000000 - price WHERE price > 500000')
          await writer.close()
        }
        expect(written).to.be.greaterThan(0)
        const ids = parseCsv(Buffer.concat(chunks).toString('utf8'))
          .slice(1)
          .map((cells) => Number(values(cells)[0]))
        expect(new Set(ids).size).to.equal(ids.length)
        const throughout = ids.filter((id) => id >= FIRST && id % 2 === 0)
        expect(throughout).to.have.length(ROWS)
        if (sort === '') expect(throughout).to.deep.equal(throughout.toSorted((a, b) => a - b))
      })
    }

    if (store.kind === 'mysql') {
      for (const route of ['export', 'paged?sortColumn=price', 'lookup', '1', '']) {
        it(`stops the query of /products/${route} soon after the client has gone away`, async () => {
          const watcher = await openTestDatabase(store.databaseUrl)
          const locker = await openTestDatabase(store.databaseUrl)
          try {
            const running = async (): Promise<number> => {
              // The service looks for events too: those statements do not wait for the lock.
              const rows = await watcher.run(
                `SELECT id FROM information_schema.processlist
               WHERE db = DATABASE() AND state LIKE 'Waiting for table%lock'`
              )
              return rows.length
            }
            // A statement that waits for a table lock runs for as long as this test wants it to.
            await locker.run('LOCK TABLES products WRITE, categories WRITE')
            const leaving = new AbortController()
            const target = `${store.url}/products${route === '' ? '' : `/${route}`}`
            const answer = open(target, { signal: leaving.signal }).catch(() => undefined)
            await until(async () => (await running()) > 0, 10_000, 'the query runs')
            leaving.abort()
            await answer
            await until(async () => (await running()) === 0, GONE_MS, 'the query is gone while the table is locked')
            await locker.run('UNLOCK TABLES')
          } finally {
            await locker.close()
            await watcher.close()
          }
        })
      }

      it('says that it is incomplete and breaks off when its connection is lost in the middle', async () => {
        const response = await open(`${store.url}/products/export?bom=false`)
        const chunks: Buffer[] = []
        const outcome = await (async () => {
          for await (const chunk of response as AsyncIterable<Buffer>) {
            chunks.push(chunk)
            if (chunks.length > 1) continue
            await withTestDatabase(store.databaseUrl, async (killer) => {
              const ofExport = (): ReturnType<typeof killer.run> =>
                killer.run(
                  `SELECT p.id FROM information_schema.innodb_trx t
                 JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE()`
                )
              let open = await ofExport()
              // InnoDB answers from a cache that it renews only where the last look is more than 100 ms ago.
              while (open.length === 0) {
                await sleep(150)
                open = await ofExport()
              }
              for (const { id } of open) await killer.run(`KILL ${String(id)}`)
            })
          }
          return 'ended'
        })().catch(() => 'broken off')
        const lines = Buffer.concat(chunks).toString('utf8').split('\r\n')
        expect(lines.at(-2)).to.match(/^# export incomplete after \d+ rows,+$/)
        const [, rows] = /after (\d+) rows/.exec(lines.at(-2) ?? '') ?? []
        expect(Number(rows)).to.equal(parseCsv(Buffer.concat(chunks).toString('utf8')).length - 2)
        expect(outcome).to.equal('broken off')
        expect(response.complete).to.equal(false)
      })
    }

    it('keeps no snapshot open after the client went away in the middle', async () => {
      await using watcher = await watchSnapshot(store.databaseUrl)
      await watcher.prepare()
      const response = await open(`${store.url}/products/export`)
      await once(response, 'data')
      response.pause()
      await watcher.begun()
      expect(await watcher.isOpen(), 'a snapshot is open while the export goes on').to.equal(true)
      response.destroy()
      await until(async () => !(await watcher.isOpen()), EXPORT_GONE_MS, 'the snapshot is gone')
      expect(await watcher.isOpen(), 'a snapshot is open after the client went away').to.equal(false)
    })

    // Places are counted before any statement.
    if (isSoak || store.kind === 'mysql') {
      it('keeps no other caller waiting for readers that do not read, and tells those it keeps out when to come back', async () => {
        const twelve = `/products/export?bom=false&fields=id&filters[id].operator=lte&filters[id].value=12`
        const all = await Promise.all(Array.from({ length: 8 }, () => open(`${store.url}/products/export`)))
        const held = all.filter(({ statusCode }) => statusCode === 200)
        try {
          expect(held).to.have.lengthOf(4)
          for (const [at, rejected] of all.filter((one) => !held.includes(one)).entries()) {
            expect(rejected.statusCode, `refused ${at}`).to.equal(503)
            expect(Number(rejected.headers['retry-after']), `refused ${at}`).to.be.greaterThan(0)
            rejected.resume()
          }
          const clerks = await store.as('clerk', twelve, { alone: true })
          expect(parseCsv(clerks.text)).to.have.lengthOf(1 + 12)
          const anonymous = await store.call(twelve, { alone: true })
          store.problem(anonymous, { status: 503, code: 'upstream.unavailable' })
          expect(Number(anonymous.headers['retry-after'])).to.be.greaterThan(0)
        } finally {
          for (const response of held) response.destroy()
        }
        await until(async () => (await store.call(twelve)).status === 200, EXPORT_GONE_MS, 'the places are free again')
      })

      it('counts the exports of a caller, wherever they come from', async () => {
        const token = await store.stack.token('clerk@example.com')
        const headers = { authorization: `Bearer ${token}` }
        const held = await Promise.all(
          Array.from({ length: 4 }, () => open(`${store.url}/products/export`, { headers }))
        )
        try {
          expect(held.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200, 200])
          const fifth = await store.as('clerk', '/products/export', { alone: true })
          store.problem(fifth, { status: 503, code: 'upstream.unavailable' })
          const others = await store.as('admin', '/products/export?bom=false&fields=id', { alone: true })
          expect(parseCsv(others.text)).to.have.lengthOf(1 + 12 + ROWS)
        } finally {
          for (const response of held) response.destroy()
        }
      })

      it('serves everybody else while dozens of exports are asked for at once', async () => {
        const exports = Array.from({ length: AT_ONCE }, async () => {
          const answer = await store.call('/products/export?fields=id', { alone: true })
          return answer.status
        })
        const bystanders: number[] = []
        let running = true
        const bystand = async (): Promise<void> => {
          while (running) bystanders.push((await store.call('/products/1')).status)
        }
        const standing = bystand()
        const statuses = await Promise.all(exports)
        running = false
        await standing
        expect(new Set(statuses)).to.deep.equal(new Set([200, 503]))
        expect(new Set(bystanders)).to.deep.equal(new Set([200]))
      })
    }

    if (process.platform === 'linux') {
      it('leaves no file and no connection open when it has ended', async () => {
        const exported = async (): Promise<void> => {
          const { status } = await store.as(
            'clerk',
            '/products/export?fields=id&filters[id].operator=lte&filters[id].value=12'
          )
          expect(status).to.equal(200)
        }
        const opened = (): Promise<number> => openDescriptors(process.pid)
        await exported()
        const before = await opened()
        for (let n = 0; n < 20; n++) await exported()
        expect((await opened()) - before).to.be.lessThan(10)
      })
    }

    it('serves on after clients went away', async () => {
      for (let n = 0; n < 2; n++) {
        const response = await open(`${store.url}/products/export`)
        await once(response, 'data')
        response.destroy()
      }
      expect((await store.call('/products/1')).status).to.equal(200)
      const whole = await store.call('/products/export?fields=id&bom=false')
      expect(parseCsv(whole.text).length).to.equal(1 + 12 + ROWS)
    })
  },
  { never: ['cuts'] }
)

async function until(condition: () => Promise<boolean>, withinMs: number, what: string): Promise<void> {
  const end = performance.now() + withinMs
  for (;;) {
    if (await condition()) return
    if (performance.now() > end) throw new Error(`Not so within ${withinMs} ms: ${what}`)
    await sleep(20)
  }
}
