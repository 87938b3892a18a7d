import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from './site.js'

const PAUSE_MS = 100
const GIVES_UP_AFTER_MS = 20_000

/**
 * Fetches pages and posts forms, so that there is something to break between gateways and the renderer, and their key ring.
 * What becomes of these requests is no part of the history: while the renderer is broken they fail as it does. Resolves soon
 * after the signal is aborted.
 */
export async function visit({ urls }: Site, over: AbortSignal): Promise<void> {
  for (let n = 0; !over.aborted; n++) {
    const [one = '', other = ''] = [urls[n % urls.length], urls[(n + 1) % urls.length]]
    await fetch(`${one}/`, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(GIVES_UP_AFTER_MS) })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined)
    await isFormAccepted(one, other)
    await delay(PAUSE_MS)
  }
}

/** Whether a form with the antiforgery token of one gateway reaches the renderer through another. */
export async function isFormAccepted(from: string, to: string): Promise<boolean> {
  const signal = AbortSignal.timeout(GIVES_UP_AFTER_MS)
  try {
    const handed = await fetch(`${from}/auth/antiforgery`, { signal })
    const [cookie = ''] = handed.headers.getSetCookie().map((one) => one.split(';')[0])
    const { token } = (await handed.json()) as { readonly token?: string } // Else the form is rejected.
    const answer = await fetch(`${to}/cart`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: `product=1&_csrf=${token}`,
      signal
    })
    return (await answer.text()) === PAGE
  } catch {
    return false
  }
}

/** What the renderer of the campaign answers everybody. */
export const PAGE = '<p>page</p>'
