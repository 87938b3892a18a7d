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
    await postForm(one, other)
    await delay(PAUSE_MS)
  }
}

/** What came of an attempt. */
export interface Attempt {
  /** What came instead of the answer that there must be; undefined: that answer came. */
  readonly instead: string | undefined
}

/** Posts a form with the antiforgery token of one gateway through another, whence it must reach the renderer. Never rejects. */
export async function postForm(from: string, to: string): Promise<Attempt> {
  const signal = AbortSignal.timeout(GIVES_UP_AFTER_MS)
  let asked = 'the token'
  try {
    const handed = await fetch(`${from}/auth/antiforgery`, { signal })
    const [cookie = ''] = handed.headers.getSetCookie().map((one) => one.split(';')[0])
    const text = await handed.text()
    if (handed.status !== 200) return { instead: `${asked}: ${described(handed.status, text)}` }
    const { token } = JSON.parse(text) as { readonly token?: string } // Else the form is rejected.
    asked = 'the form'
    const answer = await fetch(`${to}/cart`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: `product=1&_csrf=${token}`,
      signal
    })
    const page = await answer.text()
    return { instead: page === PAGE ? undefined : `${asked}: ${described(answer.status, page)}` }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `, ${error.cause.message}` : ''
    return { instead: `${asked}: ${String(error)}${cause}` }
  }
}

/** Characters of an answer that a finding has. A problem document is shorter. */
const LONGEST_BODY = 400

/** `403 {"type":…}`. */
export function described(status: number, body: string): string {
  return `${status} ${body.slice(0, LONGEST_BODY)}`
}

/** What the renderer of the campaign answers everybody. */
export const PAGE = '<p>page</p>'
