/// <reference lib="dom" />
// What is evaluated in a page has the names of one.
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { findChromium } from '../runner/programs.js'

/** For what a page shows in the end, on a machine that has much else to do. */
const TIMEOUT_MS = 60_000

let shared: Promise<Browser> | undefined

/** The one browser of this process, which ends with it: a new one takes a second. */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared
  if (running?.isConnected() === true) return running
  shared = launchBrowser()
  return shared
}

/** Debian's Chromium. As root it has no sandbox. Without `--disable-gpu` it draws with an emulated graphics card. */
export function launchBrowser(): Promise<Browser> {
  const args = ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath: findChromium() ?? 'chromium', args })
}

/** Somebody with a browser profile of their own. */
export class Visit {
  readonly context: BrowserContext
  /** What the browser complained of: errors of scripts, of loading, and of the content security policy. */
  readonly complaints: string[] = []

  private constructor(context: BrowserContext) {
    this.context = context
    context.setDefaultTimeout(TIMEOUT_MS)
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text())
    })
    context.on('weberror', (error) => this.complaints.push(String(error.error())))
  }

  static async start(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
    return new Visit(await browser.newContext(options))
  }

  async open(url: string): Promise<Page> {
    const page = await this.context.newPage()
    await page.goto(url)
    return page
  }

  /** Signs in on the shop's page, with a page that is open after that at `next`. */
  async signIn(url: string, account: string, next = '/'): Promise<Page> {
    const page = await this.open(`${url}/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByLabel('E-mail address').fill(`${account}@example.com`)
    await page.getByLabel('Password').fill('demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${url}${next}`)
    return page
  }

  /** By name, HttpOnly ones too. */
  async cookies(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await this.context.cookies()).map(({ name, value }) => [name, value]))
  }
}

/** All that a page's scripts can read of what its browser keeps. */
export function scriptVisible(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const databases = await indexedDB.databases()
    const stored = [document.cookie, { ...localStorage }, { ...sessionStorage }, databases, await caches.keys()]
    return JSON.stringify([stored, window.name, location.href, history.state, document.documentElement.outerHTML])
  })
}
