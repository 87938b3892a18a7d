/// <reference lib="dom" />
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

/** One moment as clocks show it in two time zones, and another one. */
const MOMENT = '2031-03-05T05:00:00.000Z'
const LATER = '2031-07-05T05:00:00.000Z'
const ZONES = [
  { zone: 'America/New_York', moment: '2031-03-05T00:00', later: '2031-07-05T01:00' },
  { zone: 'Asia/Kolkata', moment: '2031-03-05T10:30', later: '2031-07-05T10:30' }
] as const

interface Coupon {
  readonly id: number
  readonly startsAt: string
  readonly endsAt: string | null
}

describe('dates with times in the admin', () => {
  let shop: Shop
  let browser: Browser
  let visit: Visit
  let authorization: string

  before(async () => {
    shop = await Shop.start({ env: { ADMIN_UI: 'true' } })
    browser = await sharedBrowser()
  })
  after(async () => {
    await shop?.stop()
  })
  afterEach(async () => {
    await visit.context.close()
  })

  const open = async (timezoneId: string, path: string): Promise<Page> => {
    visit = await Visit.start(browser, { viewport: { width: 1280, height: 860 }, timezoneId })
    const data = { email: 'admin@example.com', password: 'demo-password' }
    const login = await visit.context.request.post(`${shop.url()}/auth/login`, { data })
    const { accessToken } = (await login.json()) as { readonly accessToken: string }
    authorization = `Bearer ${accessToken}`
    return visit.open(`${shop.url()}/admin/#${path}`)
  }
  /** Presses Save, waits until the row is shown, as it is after a save that succeeded, and answers what is stored. */
  const save = async (page: Page): Promise<Coupon> => {
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/#\/coupons\/\d+\/show$/)
    const [id = ''] = /\d+(?=\/show$)/.exec(page.url()) ?? []
    const answer = await fetch(`${shop.url()}/coupons/${id}`, { headers: { authorization } })
    expect(answer.status).to.equal(200)
    return (await answer.json()) as Coupon
  }

  for (const { zone, moment, later } of ZONES) {
    const code = `ZONE-${zone.length}`

    it(`saves the moment that a clock shows there, in a create: ${zone}`, async () => {
      const page = await open(zone, '/coupons/create')
      await page.getByLabel('Code').fill(code)
      await page.getByLabel('Percent').fill('10')
      await page.getByLabel('Starts at').fill(moment)
      expect(await save(page)).to.include({ startsAt: MOMENT, endsAt: null })
    })

    it(`saves the moment that a clock shows there, in a form, and empties it: ${zone}`, async () => {
      const { id } = await createCoupon(`${code}-FORM`, MOMENT)
      const page = await open(zone, `/coupons/${id}`)
      await page.getByLabel('Percent').waitFor()
      expect(await page.getByLabel('Starts at').inputValue()).to.equal(moment)
      await page.getByLabel('Ends at').fill(later)
      expect(await save(page)).to.include({ startsAt: MOMENT, endsAt: LATER })
      await page.goto(`${shop.url()}/admin/#/coupons/${id}`)
      await page.getByLabel('Ends at').fill('')
      await page.getByLabel('Percent').fill('12')
      expect(await save(page)).to.include({ startsAt: MOMENT, endsAt: null })
    })
  }

  it('leaves the seconds of a moment that was not changed', async () => {
    const exact = '2031-03-05T05:00:12.345Z'
    const { id } = await createCoupon('EXACT', exact)
    const page = await open('Asia/Kolkata', `/coupons/${id}`)
    await page.getByLabel('Starts at').focus()
    await page.getByLabel('Percent').fill('12')
    expect(await save(page)).to.include({ startsAt: exact, percent: 12 })
  })

  async function createCoupon(code: string, startsAt: string): Promise<Coupon> {
    const login = await fetch(`${shop.url()}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'admin@example.com', password: 'demo-password' })
    })
    const { accessToken } = (await login.json()) as { readonly accessToken: string }
    const answer = await fetch(`${shop.url()}/coupons`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ code, percent: 10, startsAt })
    })
    expect(answer.status).to.equal(201)
    return (await answer.json()) as Coupon
  }
})
