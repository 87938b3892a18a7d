import { expect } from 'chai'
import type { ApiStore } from '../api-store.js'
import { etagOf, rowIn, send } from './send.js'
import type { Answer } from '../http-call.js'

/** A shopping cart of Ada's, followed from one version to the next. */
export class Cart {
  readonly id: number
  readonly #store: ApiStore
  etag: string

  private constructor(store: ApiStore, answer: Answer) {
    this.#store = store
    this.id = Number(rowIn(answer)['id'])
    this.etag = etagOf(answer)
  }

  static async of(store: ApiStore, body: object = {}): Promise<Cart> {
    const answer = await send(store, 'ada POST /shopping-carts', { body: { currency: 'EUR', ...body } })
    expect(answer.status, answer.text).to.equal(201)
    return new Cart(store, answer)
  }

  get path(): string {
    return `/shopping-carts/${this.id}`
  }

  /** As Ada, with the version that it has now. */
  act(name: string, body?: object): Promise<Answer> {
    return send(this.#store, `ada PUT ${this.path}/${name}`, { ...(body && { body }), ifMatch: this.etag })
  }

  /** An action that must be done; answers the cart as a read shows it from then on. */
  async done(name: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.act(name, body)
    expect(answer.status, answer.text).to.equal(200)
    expect(etagOf(answer)).not.to.equal(this.etag)
    expect(answer.bytes).to.deep.equal((await this.#store.as('ada', this.path)).bytes)
    this.etag = etagOf(answer)
    return rowIn(answer)
  }

  /** The items without their versions. */
  async items(): Promise<{ id: number; productId: number; variantId: number | null; quantity: number }[]> {
    const row = rowIn(await this.#store.as('ada', `${this.path}?includeChildren=true`))
    const items = row['items'] as { id: number; productId: number; variantId: number | null; quantity: number }[] // domain.md
    return items.map(({ id, productId, variantId, quantity }) => ({ id, productId, variantId, quantity }))
  }
}

/** A coupon that is valid now, unless it says otherwise. */
export async function coupon(store: ApiStore, body: object): Promise<void> {
  const valid = { percent: 10, startsAt: '2024-01-01T00:00:00Z', endsAt: null, isActive: true }
  const answer = await send(store, 'clerk POST /coupons', { body: { ...valid, ...body } })
  expect(answer.status, answer.text).to.equal(201)
}
