/// <reference lib="dom" />
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { packageRoot } from '../harness/package-root.js'
import { ensurePackages } from '../runner/programs.js'
import { Shop } from './shop.js'
import { launchBrowser, Visit } from './visit.js'

const WIDTHS = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844 }
} as const

/** Of the sample store. */
const SHOWN = 517
const IN_CART = [251, 776, SHOWN]

/**
 * Pictures for docs/screenshots: of the shop and of the admin, of desktop and phone width, and of the page to try requests out.
 * Answers their paths.
 */
export async function takeScreenshots(): Promise<string[]> {
  await ensurePackages('chromium-headless-shell')
  const folder = join(packageRoot, 'docs/screenshots')
  await mkdir(folder, { recursive: true })
  const shop = await Shop.start({ env: { ADMIN_UI: 'true' } })
  const browser = await launchBrowser()
  try {
    await fillCart(browser, shop.url())
    const taken: string[] = []
    for (const [width, viewport] of Object.entries(WIDTHS)) {
      const visit = await Visit.start(browser, { viewport, colorScheme: 'light' })
      const page = await visit.signIn(shop.url(), 'ada')
      for (const [name, path] of [
        ['list', '/'],
        ['product', `/products/${SHOWN}`],
        ['cart', '/cart']
      ] as const) {
        const file = join(folder, `${name}-${width}.png`)
        await page.goto(shop.url() + path, { waitUntil: 'networkidle' })
        await page.locator('[aria-busy]').waitFor({ state: 'detached' })
        await page.screenshot({ path: file })
        taken.push(file)
      }
      await visit.context.close()
      taken.push(...(await pictureAdmin(browser, shop.url(), { folder, width, viewport })))
    }
    taken.push(await pictureTryOut(browser, shop.url(), folder))
    return taken
  } finally {
    await browser.close()
    await shop.stop()
  }
}

/** A search in the list of suppliers, for the README. */
const SUPPLIERS = ['admin-suppliers', '/suppliers?filter=%7B%22q%22%3A%22glass%22%7D', 'Country', 440] as const

/** The list of products, and one of them with what can be done with it. */
export async function pictureAdmin(
  browser: Browser,
  url: string,
  {
    folder,
    width,
    viewport
  }: { readonly folder: string; readonly width: string; readonly viewport: (typeof WIDTHS)[keyof typeof WIDTHS] }
): Promise<string[]> {
  const visit = await Visit.start(browser, { viewport, colorScheme: 'light' })
  const page = await visit.open(`${url}/admin`)
  await page.getByLabel('E-mail address').fill('admin@example.com')
  await page.getByLabel('Password').fill('demo-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Password').waitFor({ state: 'detached' })
  const taken: string[] = []
  for (const [name, path, text, height = viewport.height] of [
    ['admin-list', '/products', 'Everyday Copper Jug'],
    ...(viewport === WIDTHS.desktop ? [SUPPLIERS] : []),
    ['admin-product', '/products/1/show', 'Reviews']
  ] as const) {
    const file = join(folder, `${name}-${width}.png`)
    await page.goto(`${url}/admin/#${path}`)
    await page.getByText(text).first().waitFor()
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: file, clip: { x: 0, y: 0, width: viewport.width, height } })
    taken.push(file)
  }
  await visit.context.close()
  return taken
}

/** A request that a clerk has tried out at `/docs/try`, with its answer. */
async function pictureTryOut(browser: Browser, url: string, folder: string): Promise<string> {
  const visit = await Visit.start(browser, { viewport: WIDTHS.desktop, colorScheme: 'light' })
  const page = await visit.open(`${url}/docs/try`)
  // Making the page of a document of 700 kB takes seconds of CPU, and it is made twice.
  page.setDefaultTimeout(180_000)
  await page.locator('.opblock-tag').first().waitFor()
  await page.getByLabel('E-mail address').fill('clerk@example.com')
  await page.getByLabel('Password').fill('demo-password')
  await Promise.all([page.waitForResponse('**/openapi.json'), page.getByRole('button', { name: 'Sign in' }).click()])
  const section = page.locator('.opblock-tag-section:has([data-tag="coupons"])')
  await section.locator('.opblock-tag').click()
  const operation = section.locator('.opblock-get:has([data-path="/coupons/{id}"])')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.locator('[data-param-name="id"] input').fill('1')
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table').waitFor()
  await operation.locator('.btn-group').evaluate((element) => element.scrollIntoView())
  const file = join(folder, 'try-out-desktop.png')
  await page.screenshot({ path: file })
  await visit.context.close()
  return file
}

async function fillCart(browser: Browser, url: string): Promise<void> {
  const visit = await Visit.start(browser)
  const page = await visit.signIn(url, 'ada')
  for (const product of IN_CART) await addToCart(page, `${url}/products/${product}`)
  await visit.context.close()
}

async function addToCart(page: Page, product: string): Promise<void> {
  await page.goto(product)
  await page.getByLabel(/^Medium/).check()
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.getByText('It is in your cart.').waitFor()
}
