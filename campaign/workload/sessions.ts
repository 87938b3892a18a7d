import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Client } from '../client.js'
import type { Answer } from '../history.js'
import type { Workload } from './workload.js'

const ACCOUNTS = ['ada@example.com', 'ben@example.com', 'nobody@example.com', 'clerk@example.com'] as const
/** The store's documented password of its sample accounts. */
const PASSWORD = 'demo-password'
/** As seldom as browsers: a session is given 60 tokens a minute at most. */
const THOUGHTS = 10

/** An account that there is not, and a password that nobody has. */
const STRANGER = { email: 'stranger@example.com', password: 'no-such-password' }
/** Milliseconds after which a used token is honoured no more: the grace window, and what the clocks of processes may differ by. */
const FORGOTTEN_MS = 11_500
/** After so many steps of its client, which take about as long, somebody finds a token that a browser has used. */
const FORGOTTEN_STEPS = 14

/** What a browser holds, and what it has held. */
interface Browser {
  token: string
  /** Of the last answer that had one. */
  access: string
  readonly old: string[]
}

/** A session that its browser has left, with a token that it had used. */
interface Left {
  readonly used: string
  readonly newest: string
  /** By `performance.now`. */
  readonly forgottenAt: number
  steps: number
}

/** Browsers that log in, keep their sessions alive, and log out; now and then with a token that they should have forgotten. */
export function sessions(): Workload {
  const browsers = new Map<string, Browser>()
  const left = new Map<string, Left>()

  async function logIn(client: Client): Promise<void> {
    const what = client.random()
    const email = client.pick(ACCOUNTS)
    // The log-in that follows clears the failure, and a stranger is soon told to wait.
    if (what < 0.1) await client.send({ target: '/auth/login', body: { email, password: STRANGER.password } })
    else if (what < 0.2) await client.send({ target: '/auth/login', body: STRANGER })
    const { answer } = await client.insist({ target: '/auth/login', body: { email, password: PASSWORD } })
    const token = refreshTokenOf(answer)
    if (answer?.status === 200 && token !== undefined)
      browsers.set(client.name, { token, access: accessTokenOf(answer), old: [] })
  }

  async function goOn(client: Client, browser: Browser, token: string): Promise<void> {
    const { answer } = await client.send(refreshWith(token))
    const next = refreshTokenOf(answer)
    if (answer?.status === 401) browsers.delete(client.name)
    if (answer?.status !== 200 || next === undefined || next === browser.token) return
    browser.old.push(browser.token)
    browser.token = next
    browser.access = accessTokenOf(answer)
  }

  /** A log-out by either of its names. */
  async function logOut(client: Client, { token, old }: Browser): Promise<void> {
    browsers.delete(client.name)
    const headers = { cookie: refreshCookie(token) }
    await client.insist(
      client.random() < 0.5
        ? { method: 'POST', target: '/auth/logout', headers }
        : { method: 'DELETE', target: '/auth/session-cookie', headers }
    )
    await client.send(refreshWith(token))
    await client.think(THOUGHTS)
    await client.send(refreshWith(client.random() < 0.5 ? token : (old.at(-1) ?? token)))
  }

  /** Leaves the session as it is, once it has a token that was used. */
  function leave(client: Client, { token, old }: Browser): void {
    const used = old.at(-1)
    if (used === undefined || left.has(client.name)) return
    browsers.delete(client.name)
    left.set(client.name, { used, newest: token, forgottenAt: performance.now() + FORGOTTEN_MS, steps: 0 })
  }

  /** Somebody has found the used token: it is worth nothing any more, and neither is the one that the browser holds. */
  async function find(client: Client, { used, newest, forgottenAt }: Left): Promise<void> {
    left.delete(client.name)
    await delay(Math.max(0, forgottenAt - performance.now()))
    await client.insist(refreshWith(used))
    await client.insist(refreshWith(newest))
  }

  /** The cookies of tokens that a client got elsewhere, and what is answered to whoever has them. */
  async function mirror(client: Client, { token, access }: Browser): Promise<void> {
    const body = client.random() < 0.5 ? { accessToken: access, refreshToken: token } : { accessToken: access }
    await client.send({ target: '/auth/session-cookie', body })
    await client.send({
      method: 'POST',
      target: '/auth/session/token',
      headers: { cookie: `app_auth_access=${access}; ${refreshCookie(token)}` }
    })
  }

  /** What another site can make a browser send. */
  async function forge(client: Client, { token }: Browser): Promise<void> {
    const headers = { cookie: refreshCookie(token), 'sec-fetch-site': 'cross-site' }
    const target = client.pick(['/auth/session/token', '/auth/logout'])
    await client.send({ method: 'POST', target, headers })
  }

  async function use(client: Client, browser: Browser): Promise<void> {
    const what = client.random()
    if (what < 0.55) await goOn(client, browser, browser.token)
    else if (what < 0.67) await goOn(client, browser, client.pick([browser.token, ...browser.old].slice(-3)))
    else if (what < 0.77) leave(client, browser)
    else if (what < 0.83) await mirror(client, browser)
    else if (what < 0.88) await forge(client, browser)
    else if (what < 0.9) await client.send({ target: '/auth/session-cookie' })
    else await logOut(client, browser)
  }

  return {
    name: 'sessions',
    clients: 3,
    prepare: async () => {},
    async step(client) {
      const browser = browsers.get(client.name)
      const found = left.get(client.name)
      if (found !== undefined && ++found.steps > FORGOTTEN_STEPS) await find(client, found)
      else if (browser === undefined) await logIn(client)
      else await use(client, browser)
      await client.think(THOUGHTS)
    }
  }
}

function refreshCookie(token: string): string {
  return `app_auth_refresh=${token}`
}

function refreshWith(token: string): Call {
  return { method: 'POST', target: '/auth/session/token', headers: { cookie: refreshCookie(token) } }
}

function accessTokenOf({ body }: Answer): string {
  return String((JSON.parse(body) as { readonly accessToken?: unknown }).accessToken)
}

/** Of `Set-Cookie`; undefined where there is none, or one that takes it away. */
function refreshTokenOf(answer: Answer | undefined): string | undefined {
  const value = /\bapp_auth_refresh=([^;,]*)/.exec(answer?.headers['set-cookie'] ?? '')?.[1]
  return value === '' ? undefined : value
}
