import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { filter, ids, json, type Answer } from './http-call.js'
import { oddTokens } from './ownership/claims.js'
import { StatementLog, statements } from './statement-log.js'
import { select } from './writes/stored.js'
import { etagOf, rowIn, send, sendTo, tagOf } from './writes/send.js'

const tokens = await oddTokens()
after(() => tokens.dispose())
const env = (): Record<string, string> => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile })

/** The header row and the rows of a CSV without quoting. */
function cells({ text }: Answer): string[][] {
  return text
    .replace('\uFEFF', '')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
}

function rowsIn(answer: Answer): Record<string, unknown>[] {
  return json(answer) as Record<string, unknown>[] // of a collection
}

const CUSTOMER = { name: 'Eve', email: 'eve@example.com', phone: '1' }
/** What it takes to write all of it. */
const WRITES = ['customers:manage', 'customers:contact']

describeApi(
  'columns by permission',
  (store) => {
    before(async () => {
      const cents = (amount: number): number => (store.kind === 'sqlite' ? amount * 100 : amount)
      await select(store, 'UPDATE products SET cost_price = ?, reorder_level = id WHERE id > 2', [BigInt(cents(3))])
      await select(store, 'UPDATE products SET cost_price = ? WHERE id = 1', [BigInt(cents(12))])
      await select(store, 'UPDATE customers SET credit_limit = ?', [BigInt(cents(700))])
      await select(store, 'UPDATE order_lines SET unit_cost = ?', [BigInt(cents(2))])
    })

    describe('for callers who have the permission', () => {
      it('are properties like any other', async () => {
        const { costPrice, reorderLevel, margin } = rowIn(await store.as('clerk', '/products/1'))
        expect({ costPrice, reorderLevel, margin }).to.deep.equal({
          costPrice: '12.00',
          reorderLevel: null,
          margin: '7.90'
        })
        const filtered = `/products/paged?${filter('costPrice', 'gt', '11')}&fields=id,costPrice`
        expect(json(await store.as('clerk', filtered))).to.deep.equal([{ id: 1, costPrice: '12.00' }])
        expect(
          ids(await store.as('clerk', '/products/paged?sortColumn=reorderLevel&sortDirection=desc&pageSize=2'))
        ).to.deep.equal([12, 11])
        const misspelled = await store.as('clerk', `/products/paged?${filter('costPrise', 'gt', '1')}`)
        expect(misspelled.text).to.contain('Did you mean \\"costPrice\\"?')
        const [header, first] = cells(await store.as('clerk', `/products/export?${filter('id', 'eq', '1')}&bom=false`))
        expect(header?.slice(-4)).to.deep.equal(['costPrice', 'reorderLevel', 'displayName', 'margin'])
        expect(first?.slice(-4)).to.deep.equal(['12.00', '', 'Hammer (HM-001)', '7.90'])
      })

      it('are set by create and PUT', async () => {
        const body = { name: 'Saw', sku: 'SW-1', categoryId: 1, price: '5.00', costPrice: '2.50', reorderLevel: 4 }
        const made = await send(store, 'clerk POST /products', { body })
        expect(rowIn(made)).to.include({ costPrice: '2.50', reorderLevel: 4, margin: '2.50' })
        const changed = await send(store, `clerk PUT /products/${String(rowIn(made)['id'])}`, {
          body: { ...body, isActive: true, costPrice: '3.00', reorderLevel: undefined },
          ifMatch: etagOf(made)
        })
        expect(rowIn(changed)).to.include({ costPrice: '3.00', reorderLevel: null })
        const bad = await send(store, 'clerk POST /products', { body: { ...body, costPrice: 'much' } })
        store.problem(bad, { status: 400, code: 'body.invalid' })
      })

      it('are in the answers to them alone, whoever asked before', async () => {
        for (const round of [1, 2]) {
          for (const [by, shown] of [
            ['admin', true],
            ['clerk', false]
          ] as const) {
            const rows = rowsIn(await store.as(by, '/customers'))
            const about = `${by}, round ${round}`
            expect(
              rows.map((row) => 'creditLimit' in row),
              about
            ).to.deep.equal(rows.map(() => shown))
            expect(rows, about).to.have.length.above(2)
          }
          for (const [by, shown] of [
            ['admin', true],
            ['ada', false]
          ] as const) {
            const about = `${by}, round ${round}`
            const { text } = await store.as(by, '/orders/1?includeFKs=true&includeChildren=true')
            expect(text, about).to.contain('"name":"Ada Lovelace"').and.contain('"unitPrice":"18.95"')
            expect(text.includes('"creditLimit":"700.00"'), about).to.equal(shown)
            expect(text.includes('"unitCost":"2.00"'), about).to.equal(shown)
            expect(/creditLimit|unitCost/.test(text), about).to.equal(shown)
          }
        }
      })

      it('are filled by the rules of the store, for whomever they run', async () => {
        const body = {
          lines: [
            { productId: 1, quantity: 1 },
            { productId: 2, quantity: 1 }
          ]
        }
        const placed = await send(store, 'ada POST /orders', { body })
        const path = `/orders/${String(rowIn(placed)['id'])}?includeChildren=true`
        const costsIn = (answer: Answer): unknown[] =>
          (rowIn(answer)['lines'] as { unitCost?: unknown }[]).map(({ unitCost }) => unitCost)
        expect(costsIn(await store.as('ada', path))).to.deep.equal([undefined, undefined])
        expect(costsIn(await store.as('admin', path))).to.deep.equal(['12.00', null])
        const sent = { lines: [{ productId: 1, quantity: 1, unitCost: '1.00', qnitCost: 1 }] }
        const ignored = (await send(store, 'ada POST /orders', { body: sent })).headers['x-ignored-parameters']
        expect(ignored).to.equal('body.lines%2F0%2FunitCost,body.lines%2F0%2FqnitCost')
      })
    })

    describe('in a body of a caller without the permission', () => {
      /** A customer by the admin, with a credit limit. */
      const made = async (email: string): Promise<Answer> => {
        const answer = await send(store, 'admin POST /customers', { body: { ...CUSTOMER, email, creditLimit: '9.00' } })
        expect(rowIn(answer)).to.include({ creditLimit: '9.00' })
        return answer
      }
      const shownToAdmin = async (answer: Answer): Promise<unknown> =>
        rowIn(await store.as('admin', `/customers/${String(rowIn(answer)['id'])}`))['creditLimit']

      for (const [n, value] of ['"1.00"', 'null', '"much"', '{}', '1e999'].entries()) {
        it(`are unknown members, whatever their value: ${value}`, async () => {
          const answers = []
          for (const name of ['creditLimit', 'qreditLimit']) {
            const body = `{"name":"Eve","email":"${name}-${n}@example.com","phone":"1","${name}":${value}}`
            const answer = await send(store, 'clerk POST /customers', { body })
            expect(answer.status, answer.text).to.equal(201)
            expect(answer.headers['x-ignored-parameters']).to.equal(`body.${name}`)
            expect(Object.keys(rowIn(answer))).not.to.include(name)
            expect(await shownToAdmin(answer)).to.equal(null)
            const strict = await send(store, 'clerk POST /customers', {
              body: body.replace('@', '2@'),
              headers: { prefer: 'handling=strict', 'x-request-id': 'same' }
            })
            answers.push([strict.status, strict.text.replaceAll('qreditLimit', 'creditLimit')])
          }
          expect(answers[0]).to.deep.equal(answers[1])
          expect(answers[0]?.[0]).to.equal(400)
        })
      }

      it('are kept by a PUT, and replaced by one of a caller who has it', async () => {
        const first = await made('kept@example.com')
        const path = `/customers/${String(rowIn(first)['id'])}`
        const body = { ...CUSTOMER, email: 'kept@example.com', creditLimit: '1.00', qreditLimit: '1.00' }
        const put = await send(store, `clerk PUT ${path}`, { body, ifMatch: etagOf(first) })
        expect(put.status, put.text).to.equal(200)
        expect(put.headers['x-ignored-parameters']).to.equal('body.creditLimit,body.qreditLimit')
        expect(put.text).not.to.contain('creditLimit')
        expect(await shownToAdmin(first)).to.equal('9.00')
        const without = { ...body, creditLimit: undefined }
        const again = await send(store, `clerk PUT ${path}`, { body: without, ifMatch: etagOf(put) })
        expect(await shownToAdmin(first)).to.equal('9.00')
        const emptied = await send(store, `admin PUT ${path}`, { body: without, ifMatch: etagOf(again) })
        expect(rowIn(emptied)).to.include({ creditLimit: null })
      })

      it('are in no answer to an action', async () => {
        const first = await made('suspended@example.com')
        const path = `/customers/${String(rowIn(first)['id'])}/suspend`
        const suspended = await send(store, `clerk PUT ${path}`, { body: {}, ifMatch: etagOf(first) })
        expect(rowIn(suspended)).to.include({ isSuspended: true }).and.not.have.any.keys('creditLimit')
      })
    })

    describe('in a stored answer', () => {
      const tokenOf = async (...permissions: string[]): Promise<string> =>
        tokens.change(await store.stack.token('nobody@example.com'), { role: [], permissions })
      const create = (token: string, key: string, name: string): Promise<Answer> =>
        sendTo(
          store.url,
          { method: 'POST', target: '/customers', token },
          { body: { ...CUSTOMER, email: `${key}@example.com`, [name]: '5.00' }, key }
        )

      it('are shown no more to a caller who has lost the permission', async () => {
        const before = await tokenOf(...WRITES, 'invoices:manage')
        const after = await tokenOf(...WRITES)
        const first = await create(before, 'lost', 'creditLimit')
        expect(rowIn(first)).to.include({ creditLimit: '5.00' })
        const same = await create(before, 'lost', 'creditLimit')
        expect([same.text, same.headers['idempotent-replayed']]).to.deep.equal([first.text, 'true'])
        const cut = await create(after, 'lost', 'creditLimit')
        expect([cut.status, cut.text]).to.deep.equal([201, first.text.replace('"creditLimit":"5.00",', '')])
        expect(cut.headers).to.include({
          'idempotent-replayed': 'true',
          etag: first.headers.etag,
          location: first.headers.location,
          'x-ignored-parameters': 'body.creditLimit'
        })

        // The same with a name that nobody knows.
        await create(before, 'none', 'qreditLimit')
        const unknown = await create(after, 'none', 'qreditLimit')
        expect(Object.keys(rowIn(cut))).to.deep.equal(Object.keys(rowIn(unknown)))
        expect(Object.keys(cut.headers)).to.deep.equal(Object.keys(unknown.headers))
        expect(unknown.headers['x-ignored-parameters']).to.equal('body.qreditLimit')
      })
    })

    it('are unknown behind a cursor that somebody else got for them', async () => {
      const cursorOf = async (query: string): Promise<string> => {
        const page = await store.as('clerk', `/products/paged?pageSize=2&${query}`)
        expect(page.status, page.text).to.equal(200)
        return String(page.headers['x-next-cursor'])
      }
      const sorted = await cursorOf('sortColumn=name,costPrice')
      const filtered = await cursorOf(filter('costPrice', 'gt', '1'))
      const used = async (cursor: string, query: string): Promise<unknown> => {
        const headers = { 'x-request-id': 'same' }
        const answer = await store.as('ada', `/products/paged?pageSize=2&after=${cursor}&${query}`, { headers })
        return [answer.status, answer.text.replaceAll('qost', 'cost')]
      }
      for (const [cursor, query] of [
        [sorted, (name: string) => `sortColumn=name,${name}`],
        [filtered, (name: string) => filter(name, 'gt', '1')]
      ] as const) {
        expect((await store.as('clerk', `/products/paged?after=${cursor}&${query('costPrice')}`)).status).to.equal(200)
        const answer = await used(cursor, query('costPrice'))
        expect(answer).to.deep.equal(await used(cursor, query('qostPrice')))
        expect(answer).to.have.property('0', 400)
        const without = await store.as('ada', `/products/paged?after=${cursor}`)
        store.problem(without, { status: 400, code: 'paging.cursor.invalid' })
      }
    })

    describe('in the documents of the API', () => {
      const textOf = async (by: string | undefined, path: string): Promise<string> => {
        const answer = by === undefined ? await store.call(path) : await store.as(by, path)
        // The document is large enough to be compressed where the caller accepts it; the pages are not.
        const varies = path === '/openapi.json' ? 'Authorization, Accept-Encoding' : 'Authorization'
        expect([answer.status, answer.headers.vary]).to.deep.equal([200, varies])
        return answer.text
      }
      const mentions = (text: string, name: string): boolean =>
        // In the one document a JSON string, in the other a whole element: `margin` is a word of style sheets too.
        text.includes(`"${name}"`) || text.includes(`>${name}<`)
      const pages = ['products', 'customers', 'orders'].map((resource) => `/docs/resources/${resource}`)
      for (const paths of [['/openapi.json'], pages]) {
        it(`are in ${paths.join(', ')} of callers who have the permission, and of no other`, async () => {
          for (const round of [1, 2]) {
            const seen: unknown[] = []
            for (const by of [undefined, 'ada', 'clerk', 'admin']) {
              const text = (await Promise.all(paths.map((path) => textOf(by, path)))).join('\n')
              for (const name of ['costPrice', 'margin', 'creditLimit', 'unitCost']) {
                if (mentions(text, name)) seen.push(`${by ?? '-'} ${name}`)
              }
            }
            expect(seen, `round ${round}`).to.deep.equal([
              'clerk costPrice',
              'clerk margin',
              'admin costPrice',
              'admin margin',
              'admin creditLimit',
              'admin unitCost'
            ])
          }
        })

        it(`need a good token in ${paths.join(', ')}, if any`, async () => {
          for (const path of paths) {
            store.problem(await store.call(path, { token: 'a.b.c' }), { status: 401, code: 'auth.invalid-token' })
          }
        })
      }
    })

    // The log of statements is MariaDB's.
    if (store.kind === 'sqlite') return
    it('cost the same statements as a name that nobody knows', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      let made = 0
      try {
        const texts = async (work: () => Promise<unknown>): Promise<string[]> =>
          statements(await log.during(work))
            .filter(({ command }) => command !== 'Prepare')
            .map(({ text }) => text.replaceAll('qost', 'cost').replaceAll('qredit', 'credit'))
            .map((text) => text.replace(/'(?:[^'\\]|\\.)*'|\b\d+\b/gs, '?'))
        const reads = (name: string): (() => Promise<unknown>)[] =>
          [
            `/products/paged?${filter(name, 'gt', '1')}`,
            `/products/export?${filter(name, 'gt', '1')}`,
            `/products/paged?sortColumn=${name}`,
            `/products?fields=id,${name}`,
            `/products/1?fields=${name}`,
            `/products/lookup?${name}=1`,
            `/products/paged?${name}=1&includeFKs=true&includeChildren=true`
          ].map((target) => () => store.as('ada', target))
        const writes = (name: string): (() => Promise<unknown>)[] => [
          () =>
            send(store, 'clerk POST /customers', {
              body: { ...CUSTOMER, email: `${(made += 1)}@x.example`, [name]: '1.00' }
            }),
          async () => {
            const [row] = rowsIn(await store.as('clerk', `/customers/paged?${filter('id', 'eq', '3')}`))
            const body = { name: 'Cy', email: 'c3@example.com', [name]: '1.00' }
            expect(
              (await send(store, 'clerk PUT /customers/3', { body, ifMatch: tagOf(row?.['rowVersion']) })).status
            ).to.equal(200)
          }
        ]
        const [hidden, unknown] = [
          [...reads('costPrice'), ...writes('creditLimit')],
          [...reads('qostPrice'), ...writes('qreditLimit')]
        ]
        for (const [index, call] of hidden.entries()) {
          const other = unknown[index]
          if (other === undefined) throw new Error('as many calls of each')
          // The first call of each text prepares it.
          await call()
          const [one, two] = [await texts(call), await texts(other)]
          expect(one, `call ${index}`).to.deep.equal(two)
          expect(one.join('\n')).not.to.match(/cost_price|credit_limit`? ?=/)
        }
      } finally {
        await log.close()
      }
    })
  },
  { on: 'mysql', never: ['cuts'], env }
)

describeApi(
  'a gateway that the data service does not know for one',
  (store) => {
    it('routes every resource, shows each caller what that caller may see, and nobody more', async () => {
      for (const path of ['/products', '/orders', '/customers', '/audit-entries', '/bookmarks/session-ids']) {
        const answer = await store.as('admin', `${path}?userId=1`)
        expect(answer.status, `${path} ${answer.text}`).to.equal(200)
      }
      expect(rowIn(await store.as('clerk', '/products/1'))).to.include.keys('costPrice', 'margin')
      expect((await store.call('/openapi.json')).text).not.to.contain('costPrice')
      expect((await store.as('clerk', '/openapi.json')).text).to.contain('costPrice')
    })
  },
  { on: 'sqlite', never: ['cuts'], env: () => ({ GATEWAY_SECRET: '' }) }
)
