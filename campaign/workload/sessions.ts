import type { Client } from '../client.js'
import type { Exchange } from '../history.js'
import type { Workload } from './workload.js'

const ACCOUNTS = ['ada@example.com', 'ben@example.com', 'nobody@example.com', 'clerk@example.com'] as const
/** The store's documented password of its sample accounts. */
const PASSWORD = 'demo-password'
/** As seldom as browsers: a session is given 60 tokens a minute at most. */
const THOUGHTS = 10

/** What a browser holds, and what it has held. */
interface Browser {
  token: string
  readonly old: string[]
}

/** Browsers that log in, keep their sessions alive, and log out; now and then with a token that they should have forgotten. */
export function sessions(): Workload {
  const browsers = new Map<string, Browser>()

  async function logIn(client: Client): Promise<void> {
    const { answer } = await client.insist({
      target: '/auth/login',
      body: { email: client.pick(ACCOUNTS), password: PASSWORD }
    })
    const token = refreshTokenOf(answer?.headers['set-cookie'])
    if (answer?.status === 200 && token !== undefined) browsers.set(client.name, { token, old: [] })
  }

  const refresh = (client: Client, token: string): Promise<Exchange> =>
    client.send({ method: 'POST', target: '/auth/session/token', headers: { cookie: `app_auth_refresh=${token}` } })

  async function goOn(client: Client, browser: Browser, token: string): Promise<void> {
    const { answer } = await refresh(client, token)
    const next = refreshTokenOf(answer?.headers['set-cookie'])
    if (answer?.status === 401) browsers.delete(client.name)
    if (answer?.status !== 200 || next === undefined || next === browser.token) return
    browser.old.push(browser.token)
    browser.token = next
  }

  async function logOut(client: Client, { token, old }: Browser): Promise<void> {
    browsers.delete(client.name)
    const headers = { cookie: `app_auth_refresh=${token}` }
    await client.insist({ method: 'POST', target: '/auth/logout', headers })
    await refresh(client, token)
    await client.think(THOUGHTS)
    await refresh(client, client.random() < 0.5 ? token : (old.at(-1) ?? token))
  }

  return {
    name: 'sessions',
    clients: 3,
    prepare: async () => {},
    async step(client) {
      const browser = browsers.get(client.name)
      const what = client.random()
      if (browser === undefined) await logIn(client)
      else if (what < 0.7) await goOn(client, browser, browser.token)
      else if (what < 0.85) await goOn(client, browser, browser.old.at(-1) ?? browser.token)
      else if (what < 0.9) await goOn(client, browser, browser.old[0] ?? browser.token)
      else await logOut(client, browser)
      await client.think(THOUGHTS)
    }
  }
}

/** Of `Set-Cookie`; undefined where there is none, or one that takes it away. */
function refreshTokenOf(cookies: string | undefined): string | undefined {
  const value = /\bapp_auth_refresh=([^;,]*)/.exec(cookies ?? '')?.[1]
  return value === '' ? undefined : value
}
