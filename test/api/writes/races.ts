import { expect } from 'chai'
import type { Answer } from '../http-call.js'
import { EVERY_KEY, gathered } from './hold.js'
import { etagOf, rowIn } from './send.js'
import { count, select } from './stored.js'
import { together, type Writers } from './writers.js'

export const product = (sku: string): object => ({
  name: 'Raced for',
  sku,
  categoryId: 1,
  price: '1.00',
  isActive: true
})

/** The versions of this service count up in their last bytes. */
function numberOf(rowVersion: unknown): bigint {
  return Buffer.from(String(rowVersion), 'base64').readBigUInt64BE()
}

function only(answers: readonly Answer[], status: number): Answer[] {
  return answers.filter((answer) => answer.status === status)
}

/** Declares tests of clients that write the same thing at the same time, so many times. */
export function declareRaces(writers: Writers, rounds: number): void {
  it('50 PUTs with one tag: one 200, 49 times 412, the version advanced once', async function () {
    this.timeout(300_000 + rounds * 10_000)
    const created = await writers.send(0, 'clerk POST /products', { body: product('RACE') })
    expect(created.status, created.text).to.equal(201)
    const path = `/products/${String(rowIn(created)['id'])}`
    let last = created
    for (let round = 1; round <= rounds; round++) {
      const put = (n: number): Promise<Answer> =>
        writers.send(n, `clerk PUT ${path}`, {
          body: { ...product('RACE'), description: `round ${round}, client ${n}` },
          ifMatch: etagOf(last)
        })
      const answers = await gathered(writers, "SELECT id FROM products WHERE sku = 'RACE' FOR UPDATE", () =>
        together(50, put)
      )
      const [won, ...others] = only(answers, 200)
      if (won === undefined) throw new Error(answers.map(({ status }) => status).join())
      expect(others, `round ${round}`).to.be.empty
      const lost = only(answers, 412)
      expect(lost, `round ${round}`).to.have.length(49)
      for (const answer of lost) {
        writers.problem(answer, { status: 412, code: 'conflict', says: 'A data conflict occurred.' })
      }
      const client = answers.indexOf(won)
      expect(rowIn(won)['description'], `round ${round}`).to.equal(`round ${round}, client ${client}`)
      for (const reader of [0, 1]) {
        const read = await writers.send(reader, `clerk GET ${path}`)
        expect(read.bytes, `round ${round}, reader ${reader}`).to.deep.equal(won.bytes)
        expect(etagOf(read), `round ${round}, reader ${reader}`).to.equal(etagOf(won))
      }
      expect(numberOf(rowIn(won)['rowVersion']), `round ${round}`).to.equal(numberOf(rowIn(last)['rowVersion']) + 1n)
      last = won
    }
    expect(await count(writers, "ur_audit_entries WHERE action = 'update'")).to.equal(rounds)
  })

  it('20 POSTs with one key: one row, one answer or 409 with Retry-After', async function () {
    this.timeout(300_000 + rounds * 10_000)
    for (let round = 1; round <= rounds; round++) {
      const body = { lines: [{ productId: 1, quantity: round }] }
      const orders = await count(writers, 'orders')
      const entries = await count(writers, "ur_audit_entries WHERE resource = 'orders'")
      const post = (n: number): Promise<Answer> => writers.send(n, 'ada POST /orders', { body, key: `round-${round}` })
      const answers = await gathered(writers, EVERY_KEY, () => together(20, post))
      const made = only(answers, 201)
      for (const answer of answers.filter((one) => !made.includes(one))) {
        writers.problem(answer, { status: 409, code: 'idempotency.in-flight' })
        expect(answer.headers['retry-after'], `round ${round}, ${answer.path}`).to.match(/^[1-9]\d*$/)
      }
      const again = await together(2, post)
      expectOneAnswer([...made, ...again])
      expect(
        again.map(({ headers }) => headers['idempotent-replayed']),
        `round ${round}`
      ).to.deep.equal(['true', 'true'])
      expect(
        made.filter(({ headers }) => headers['idempotent-replayed'] === undefined),
        `round ${round}`
      ).to.have.length(1)
      expect(await count(writers, 'orders'), `round ${round}`).to.equal(orders + 1)
      expect(await count(writers, "ur_audit_entries WHERE resource = 'orders'"), `round ${round}`).to.equal(entries + 1)
    }
  })

  it('20 POSTs with one key and as many bodies: one row, and the others are told', async function () {
    this.timeout(300_000 + rounds * 10_000)
    for (let round = 1; round <= rounds; round++) {
      const orders = await count(writers, 'orders')
      const post = (n: number): Promise<Answer> =>
        writers.send(n, 'ada POST /orders', {
          body: { lines: [{ productId: 1, quantity: n + 1 }] },
          key: `bodies-${round}`
        })
      const answers = await gathered(writers, EVERY_KEY, () => together(20, post))
      expect(only(answers, 201), `round ${round}`).to.have.length(1)
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        if (answer.status === 422) writers.problem(answer, { status: 422, code: 'idempotency.key.reused' })
        else writers.problem(answer, { status: 409, code: 'idempotency.in-flight' })
      }
      expect(await count(writers, 'orders'), `round ${round}`).to.equal(orders + 1)
    }
  })

  it('20 POSTs of one unique value: one row, 19 times 409', async function () {
    this.timeout(300_000 + rounds * 10_000)
    for (let round = 1; round <= rounds; round++) {
      const answers = await together(20, (n) =>
        writers.send(n, 'clerk POST /products', { body: product(`UNIQUE-${round}`), key: `unique-${round}-${n}` })
      )
      expect(only(answers, 201), `round ${round}`).to.have.length(1)
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        writers.problem(answer, { status: 409, code: 'conflict' })
      }
      expect(await count(writers, 'products WHERE sku = ?', [`UNIQUE-${round}`]), `round ${round}`).to.equal(1)
    }
  })

  it('two categories moved under each other make no circle', async function () {
    this.timeout(300_000 + rounds * 10_000)
    const ids = await Promise.all(
      ['left', 'right'].map(async (slug) => {
        const created = await writers.send(0, 'clerk POST /categories', { body: { name: slug, slug } })
        return Number(rowIn(created)['id'])
      })
    )
    for (let round = 1; round <= rounds; round++) {
      const tags = await Promise.all(ids.map(async (id) => etagOf(await writers.read(0, `/categories/${id}`))))
      const move = (n: number): Promise<Answer> =>
        writers.send(n, `clerk PUT /categories/${ids[n] ?? 0}/move`, {
          body: { parentId: ids[1 - n] },
          ifMatch: tags[n] ?? ''
        })
      const answers = await gathered(
        writers,
        "SELECT id FROM categories WHERE slug IN ('left', 'right') FOR UPDATE",
        () => together(2, move)
      )
      // They wait for each other in a circle of locks: the one that is rolled back is tried again, and then sees.
      const moved = only(answers, 200)
      expect(moved, answers.map(({ text }) => text).join('\n')).to.have.length(1)
      for (const answer of only(answers, 422)) writers.problem(answer, { status: 422, code: 'state.invalid' })
      expect(only(answers, 422), `round ${round}`).to.have.length(1)
      const parents = await select(writers, "SELECT parent_id FROM categories WHERE slug IN ('left', 'right')")
      expect(
        parents.filter(({ parent_id: parent }) => parent !== null),
        `round ${round}`
      ).to.have.length(1)
      for (const answer of moved) {
        const { id } = rowIn(answer)
        const back = { body: { parentId: null }, ifMatch: etagOf(answer) }
        expect(
          (await writers.send(0, `clerk PUT /categories/${String(id)}/move`, back)).status,
          `round ${round}, ${answer.path}`
        ).to.equal(200)
      }
    }
  })
}

/** Status, body, Location and ETag are those of the first. Each gateway names itself in Location. */
function expectOneAnswer(answers: readonly Answer[]): void {
  const shown = answers.map(({ status, text, headers }) => ({
    status,
    text,
    etag: headers.etag,
    path: new URL(String(headers.location)).pathname
  }))
  for (const one of shown) expect(one).to.deep.equal(shown[0])
}
