/// <reference lib="dom" />
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const
const ZONES = { desktop: 'America/New_York', phone: 'Asia/Kolkata' } as const

export type Row = Readonly<Record<string, unknown>> & { readonly id: number; readonly rowVersion: string }

export const NEW_PRODUCT = { name: 'Pan of a day', categoryId: 1, price: '19.90' }

/** The store with its admin, and a browser in which accounts of it have signed in. */
export class AdminPages {
  readonly shop: Shop
  readonly #browser: Browser
  /** Of accounts that have signed in, by account and size: what the browser has compiled of the admin stays with its visit. */
  readonly #visits = new Map<string, Visit>()
  readonly #tokens = new Map<string, string>()
  #visit: Visit | undefined

  private constructor(shop: Shop, browser: Browser) {
    this.shop = shop
    this.#browser = browser
  }

  static async start(): Promise<AdminPages> {
    return new AdminPages(await Shop.start({ env: { ADMIN_UI: 'true' } }), await sharedBrowser())
  }

  async stop(): Promise<void> {
    for (const { context } of this.#visits.values()) await context.close()
    await this.shop.stop()
  }

  /** Called after each test. Closes its pages, and fails where the browser has complained. */
  async afterTest(): Promise<void> {
    const { visit } = this
    // The first look for a session finds none, and a conflict is what a test is about.
    const expected = /status of (?:401|412)/
    const complaints = visit.complaints.splice(0).filter((one) => !expected.test(one))
    for (const page of visit.context.pages()) {
      // Filters and sorts of lists.
      await page.evaluate(() => localStorage.clear())
      await page.close()
    }
    expect(complaints).to.deep.equal([])
  }

  /** Of the test that runs. */
  get visit(): Visit {
    if (this.#visit === undefined) throw new TypeError('no page has been opened')
    return this.#visit
  }

  /** A visit of somebody who has not signed in. */
  async visitOf(name: string, size: keyof typeof SIZES = 'desktop'): Promise<Visit> {
    const known = this.#visits.get(name)
    this.#visit = known ?? (await Visit.start(this.#browser, { viewport: SIZES[size], timezoneId: ZONES[size] }))
    this.#visits.set(name, this.#visit)
    return this.#visit
  }

  /** Opens a page of the admin for an account that is signed in already. The clock of a desktop is that of New York, and of a phone that of Kolkata. */
  async open(account: string, path: string, size: keyof typeof SIZES = 'desktop'): Promise<Page> {
    const name = `${account}, ${size}`
    const isKnown = this.#visits.has(name)
    const visit = await this.visitOf(name, size)
    if (!isKnown) {
      const data = { email: `${account}@example.com`, password: 'demo-password' }
      const login = await visit.context.request.post(`${this.shop.url()}/auth/login`, { data })
      expect(login.status()).to.equal(200)
    }
    return visit.open(this.urlOf(path))
  }

  urlOf(path: string): string {
    return `${this.shop.url()}/admin/#${path}`
  }

  /** A request of another client of the account, to see and to change what the page shows; `over` is the row as it was read. */
  async api(
    account: string,
    ...[method, path, body, over]: [method: string, path: string, body?: object, over?: Row]
  ): Promise<{ readonly status: number; readonly row: Row }> {
    const token = await this.#tokenOf(account)
    const answer = await fetch(this.shop.url() + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(over === undefined ? {} : { 'if-match': `W/"${over.rowVersion}"` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok && method !== 'GET') throw new Error(await answer.text())
    const text = await answer.text()
    return { status: answer.status, row: JSON.parse(text === '' ? '{}' : text) as Row }
  }

  async #tokenOf(account: string): Promise<string> {
    const known = this.#tokens.get(account)
    if (known !== undefined) return known
    const login = await fetch(`${this.shop.url()}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `${account}@example.com`, password: 'demo-password' })
    })
    const { accessToken } = (await login.json()) as { readonly accessToken: string }
    this.#tokens.set(account, accessToken)
    return accessToken
  }
}
