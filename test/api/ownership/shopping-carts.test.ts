import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { isSoak } from '../../harness/in-soak.js'
import { filter, ids, json, type Answer } from '../http-call.js'
import { changesNothing } from '../writes/stored.js'
import { etagOf, rowIn, send } from '../writes/send.js'

const READS = ['', '/paged', '/export', '/lookup', '/ID'] as const
const ACTIONS: Readonly<Record<string, object>> = {
  'add-item': { productId: 1, quantity: 1 },
  'change-item-quantity': { itemId: 1, quantity: 1 },
  'remove-item': { itemId: 1 },
  clear: {},
  'apply-coupon': { code: 'x' },
  checkout: {}
}

/** domain.md: a foreign `customerId` is 403 on every route; a missing one leaves each to the row scope. */
describeApi('ownership of shopping carts', (store) => {
  const carts: Record<string, number[]> = { ada: [], ben: [] }
  let etag: string

  before(async () => {
    for (const account of ['ada', 'ben', 'ada'] as const) {
      const body = { currency: 'EUR', items: [{ productId: 1, quantity: 1 }] }
      const created = await send(store, `${account} POST /shopping-carts`, { body })
      expect(created.status, created.text).to.equal(201)
      carts[account]?.push(Number(rowIn(created)['id']))
      if (account === 'ada') etag = etagOf(created)
    }
  })

  const adas = (): number => carts['ada']?.at(-1) ?? 0
  const bens = (): number => carts['ben']?.[0] ?? 0
  /** Every read and write there is, as `account` of the cart, with and without what else a write needs. */
  async function everyRoute(account: string, query: string, id: number): Promise<[string, Answer][]> {
    const answers: [string, Answer][] = []
    const ask = async (line: string, write: Parameters<typeof send>[2] = {}): Promise<void> => {
      answers.push([line, await send(store, `${account} ${line}${query}`, write)])
    }
    for (const path of READS) await ask(`GET /shopping-carts${path.replace('ID', String(id))}`)
    await ask('POST /shopping-carts', { body: { currency: 'EUR' } })
    for (const [at, [name, body]] of Object.entries(ACTIONS).entries()) {
      // Who may comes before the precondition: in the soak each of these for each action.
      const tags = [etag, '*', 'x'].filter((_, number) => isSoak || number === at % 3)
      for (const ifMatch of tags) await ask(`PUT /shopping-carts/${id}/${name}`, { body, ifMatch })
    }
    await ask(`DELETE /shopping-carts/${id}`)
    return answers
  }

  for (const query of ['customerId=2', 'customerId=x', 'customerId=', 'customerId=%2B1', 'customerId=1&customerId=1']) {
    it(`?${query}, which is not the caller, is 403 on every route and writes nothing`, async () => {
      const answers = await changesNothing(store, () => everyRoute('ada', `?${query}`, adas()))
      expect(answers).to.have.length(READS.length + 1 + (isSoak ? 3 : 1) * Object.keys(ACTIONS).length + 1)
      for (const [line, answer] of answers) {
        expect(answer.status, `${line} ${answer.text}`).to.equal(403)
        store.problem(answer, { status: 403, code: 'ownership.denied' })
      }
    })
  }

  it('no owner is 403 and no token 401, whoever the parameter names', async () => {
    for (const [account, status, code] of [
      ['nobody', 403, 'ownership.denied'],
      ['clerk', 403, 'ownership.denied'],
      ['-', 401, 'auth.required']
    ] as const) {
      for (const query of ['', '?customerId=1', '?customerId=2']) {
        for (const [, answer] of await changesNothing(store, () => everyRoute(account, query, adas()))) {
          store.problem(answer, { status, code })
        }
      }
    }
  })

  for (const query of ['', '?customerId=1', '?customerId=01']) {
    it(`${query || 'no parameter'} shows the own carts on every read`, async () => {
      const own = carts['ada'] ?? []
      expect(ids(await store.as('ada', `/shopping-carts${query}`))).to.deep.equal(own)
      const paged = await store.as('ada', `/shopping-carts/paged${query}`)
      expect(ids(paged)).to.deep.equal(own)
      expect(paged.headers['x-total-count']).to.equal(String(own.length))
      const lookup = json(await store.as('ada', `/shopping-carts/lookup${query}`)) as { items: { id: number }[] } // contract.md
      expect(lookup.items.map(({ id }) => id)).to.deep.equal(own)
      const exported = await store.as('ada', `/shopping-carts/export${query}${query ? '&' : '?'}fields=id&bom=false`)
      expect(exported.text).to.equal(['id', ...own, ''].join('\r\n'))
      expect((await store.as('ada', `/shopping-carts/${adas()}${query}`)).status).to.equal(200)
    })
  }

  it("leaves another's cart out of sight of every route", async () => {
    for (const query of ['', '?customerId=1']) {
      const path = `/shopping-carts/${bens()}`
      store.problem(await store.as('ada', `${path}${query}`), { status: 404, code: 'not-found' })
      for (const [name, body] of Object.entries(ACTIONS)) {
        const write = { body, ifMatch: etagOf(await store.as('ben', path)) }
        const rejected = await changesNothing(store, () => send(store, `ada PUT ${path}/${name}${query}`, write))
        store.problem(rejected, { status: 404, code: 'not-found' })
      }
      const rejected = await changesNothing(store, () => send(store, `ada DELETE ${path}${query}`))
      store.problem(rejected, { status: 404, code: 'not-found' })
    }
    const foreign = filter('customerId', 'equals', '2')
    const paged = await store.as('ada', `/shopping-carts/paged?${foreign}`)
    expect([ids(paged), paged.headers['x-total-count']]).to.deep.equal([[], '0'])
  })

  it('is narrowed for the bypass role, within its filters, and never by what is no integer', async () => {
    const all = [...(carts['ada'] ?? []), ...(carts['ben'] ?? [])].toSorted((a, b) => a - b)
    expect(ids(await store.as('admin', '/shopping-carts'))).to.deep.equal(all)
    expect(ids(await store.as('admin', '/shopping-carts?customerId=2'))).to.deep.equal(carts['ben'])
    expect(ids(await store.as('admin', '/shopping-carts?customerId=3'))).to.deep.equal([])
    const foreign = filter('customerId', 'equals', '1')
    expect(ids(await store.as('admin', `/shopping-carts/paged?customerId=2&${foreign}`))).to.deep.equal([])
    for (const path of READS.slice(0, -1)) {
      store.problem(await store.as('admin', `/shopping-carts${path}?customerId=x`), {
        status: 400,
        code: 'filter.value.invalid',
        violations: [{ code: 'filter.value.invalid', parameter: 'customerId' }]
      })
    }
  })

  it('takes the owner of a new cart from the claim, from the body only what agrees, and from a bypass caller all', async () => {
    const post = (account: string, body: object): Promise<Answer> =>
      send(store, `${account} POST /shopping-carts`, { body: { currency: 'EUR', ...body } })
    for (const body of [{}, { customerId: 1 }]) {
      const created = await post('ada', body)
      expect(rowIn(created), JSON.stringify(body)).to.include({ customerId: 1 })
      expect(
        (await send(store, `ada DELETE /shopping-carts/${String(rowIn(created)['id'])}`)).status,
        JSON.stringify(body)
      ).to.equal(204)
    }
    const foreign = await changesNothing(store, () => post('ada', { customerId: 2 }))
    store.problem(foreign, { status: 403, code: 'ownership.denied' })
    store.problem(await changesNothing(store, () => post('admin', {})), {
      status: 400,
      code: 'body.invalid',
      violations: [{ code: 'body.invalid', pointer: '/customerId' }]
    })
    const given = await post('admin', { customerId: 2 })
    expect(rowIn(given)).to.include({ customerId: 2 })
    // The parameter of a bypass caller narrows collections; it is no word on single rows.
    const gone = await send(store, `admin DELETE /shopping-carts/${String(rowIn(given)['id'])}?customerId=1`)
    expect(gone.status, gone.text).to.equal(204)
  })
})
