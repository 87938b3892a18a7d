import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { readSessionCookie } from '../../../shared/session-cookie/read-session-cookie.js'
import { expectProblem } from '../expect-problem.js'
import { type Answer, json } from '../http-call.js'
import { oddTokens } from '../ownership/claims.js'
import { cookiesOf, describeSessions, type SessionCookies, type SessionStack } from './session-stack.js'
import { listenLocally } from '../../harness/local-server.js'

// A renderer that greets whoever the cookies name.
const renderer = createServer((request, response) => {
  const result = readSessionCookie(request.headers.cookie)
  const greeting = result.kind === 'success' ? result.principal.nameIdentifier : result.kind
  response.setHeader('content-type', 'text/html').end(`<p>${greeting}</p>`)
})
const port = await listenLocally(renderer)
after(() => renderer.close())

const tokens = await oddTokens()
after(() => tokens.dispose())

const SETTINGS = {
  RENDERER_URL: `http://127.0.0.1:${port}`,
  ACCESS_TOKEN_TTL: '2s',
  REFRESH_GRACE: '1m',
  JWT_PRIVATE_KEY_FILE: tokens.keyFile
}

describeSessions(
  'the first page of a session',
  SETTINGS,
  (stack) => {
    const open = (cookies: SessionCookies, more: object = {}): Promise<Answer> =>
      stack.send('/account', { method: 'GET', cookies, headers: { accept: 'text/html,*/*;q=0.8' }, ...more })

    it('greets whoever is signed in', async () => {
      const cookies = cookiesOf(await stack.login('ada'))
      const page = await open(cookies)
      expect(page.status).to.equal(200)
      expect(page.text).to.equal('<p>ada@example.com</p>')
      expect((await open({})).text).to.equal('<p>none</p>')
    })

    it('greets whoever is signed in once the access token has expired, at every gateway', async () => {
      const signedIn = cookiesOf(await stack.login('ada'))
      const before = await expired(stack, signedIn)
      const tabs = await Promise.all(
        Array.from({ length: 10 }, (_, tab) => open(before, { gateway: tab % 2, alone: true }))
      )
      for (const tab of tabs) {
        expect(tab.status, tab.path).to.equal(200)
        expect(tab.text, tab.path).to.equal('<p>ada@example.com</p>')
        expect(tab.headers, tab.path).to.include({ 'cache-control': 'private, no-store' })
        expect(tab.headers.vary, tab.path).to.match(/\bCookie\b/)
      }
      const fresh = new Set(tabs.map((tab) => cookiesOf(tab).refresh))
      expect(fresh.size).to.equal(1)
      expect(fresh.has(before.refresh)).to.equal(false)
      expect((await stack.send('/auth/session/token', { cookies: cookiesOf(tabs[0] ?? missing()) })).status).to.equal(
        200
      )
    })

    it('gives scripts the same token until it has expired, then a fresh one', async () => {
      let cookies = cookiesOf(await stack.login('ada'))
      const first = cookies.access
      for (;;) {
        const answer = await stack.send('/auth/session/token', { cookies })
        expect(answer.status, answer.text).to.equal(200)
        if (answer.headers['set-cookie'] !== undefined) {
          cookies = cookiesOf(answer)
          expect(json(answer)).to.include({ accessToken: cookies.access })
          break
        }
        expect(json(answer)).to.include({ accessToken: first })
        await pause(50)
      }
      expect(cookies.access).to.not.equal(first)
      expect(claims(first ?? '').exp * 1000).to.be.at.most(Date.now())
      expect((await stack.send('/auth/session/token', { cookies, gateway: 1 })).status).to.equal(200)
    })

    it('takes forms with an antiforgery token of its own session, refreshed or not, and of no other', async () => {
      const ada = cookiesOf(await stack.login('ada'))
      const mine = await antiforgery(stack, ada)
      const nobodys = await antiforgery(stack, {})
      const elsewhere = cookiesOf(await stack.login('ada'))
      const bens = cookiesOf(await stack.login('ben'))
      const form = (cookies: SessionCookies, { cookie, token }: Antiforgery, site?: string): Promise<Answer> =>
        stack.send('/basket', {
          headers: {
            cookie: [
              cookie,
              `app_auth_access=${cookies.access ?? ''}`,
              `app_auth_refresh=${cookies.refresh ?? ''}`
            ].join('; '),
            'content-type': 'application/x-www-form-urlencoded',
            ...(site === undefined ? {} : { 'sec-fetch-site': site })
          },
          body: `product=1&_csrf=${token}`
        })
      // Whether the token of two seconds still lives does not matter here: either is the renderer's answer.
      const answered = /^<p>(?:ada@example\.com|failure)<\/p>$/
      expect((await form(ada, mine)).text).to.match(answered)
      await expired(stack, ada)
      expect((await form(ada, mine)).text).to.equal('<p>failure</p>')
      const refreshed = cookiesOf(await stack.send('/auth/session/token', { cookies: ada }))
      expect(refreshed.access).to.not.equal(ada.access)
      expect((await form(refreshed, mine, 'same-origin')).text).to.match(answered)
      expect((await form({}, nobodys)).text).to.equal('<p>none</p>')
      for (const [cookies, token] of [
        [refreshed, nobodys],
        [refreshed, await antiforgery(stack, elsewhere)],
        [elsewhere, mine],
        [bens, mine],
        [{}, mine]
      ] as const) {
        const rejected = await form(cookies, token)
        expectProblem(rejected, { status: 403, code: 'antiforgery.invalid', base: stack.url() })
      }
      for (const site of ['same-site', 'cross-site']) {
        const rejected = await form(refreshed, mine, site)
        expectProblem(rejected, { status: 403, code: 'request.cross-site', base: stack.url() })
      }
    })

    it('goes on from a session of a version without sid, whose antiforgery tokens last until it is refreshed', async () => {
      const ada = cookiesOf(await stack.login('ada'))
      const before = { ...ada, access: tokens.change(ada.access ?? '', { sid: undefined }) }
      const issued = await antiforgery(stack, before)
      const post = async (cookies: SessionCookies, { cookie, token }: Antiforgery): Promise<number> => {
        const all = `${cookie}; app_auth_access=${cookies.access ?? ''}; app_auth_refresh=${cookies.refresh ?? ''}`
        return (await stack.send('/basket', { headers: { cookie: all, 'x-csrf-token': token }, body: 'x' })).status
      }
      expect(await post(before, issued)).to.equal(200)
      await expired(stack, before)
      expect(await post(before, issued)).to.equal(200)
      const page = await open(before)
      expect(page.text).to.equal('<p>ada@example.com</p>')
      const after = cookiesOf(page)
      expect(claims(after.access ?? '').sid).to.equal(claims(ada.access ?? '').sid)
      expect(await post(after, issued)).to.equal(403)
      expect(await post(after, await antiforgery(stack, after))).to.equal(200)
    })

    it('greets nobody in a session that is over, and leaves its cookies alone', async () => {
      const { refresh = '' } = cookiesOf(await stack.login('ben'))
      await stack.send('/auth/logout', { cookies: { refresh } })
      const page = await open({ refresh })
      expect(page.text).to.equal('<p>none</p>')
      expect(page.headers['set-cookie']).to.equal(undefined)
    })

    it('comes, without a greeting, while the data service is away', async () => {
      const { refresh = '' } = cookiesOf(await stack.login('ada'))
      const [address = ''] = await stack.stopDataServices()
      const page = await open({ refresh })
      expect(page.status).to.equal(200)
      expect(page.text).to.equal('<p>none</p>')
      expect(page.headers['set-cookie']).to.equal(undefined)
      await stack.startDataService({ DATA_SERVICE_ADDRESS: address })
      let again = await open({ refresh })
      while (again.text === '<p>none</p>') again = await open({ refresh })
      expect(again.text).to.equal('<p>ada@example.com</p>')
      const bodies = stack.answers.map(({ text }) => text).join('\n')
      expect(bodies.includes(refresh)).to.equal(false)
      expect(stack.logText().includes(refresh)).to.equal(false)
    })
  },
  { on: 'sqlite', never: ['document'] }
)

interface Antiforgery {
  /** As it stands in a `Cookie` header. */
  readonly cookie: string
  readonly token: string
}

/** An antiforgery token for whoever the cookies name. */
async function antiforgery(stack: SessionStack, cookies: SessionCookies): Promise<Antiforgery> {
  const answer = await stack.send('/auth/antiforgery', { method: 'GET', cookies })
  expect(answer.status, answer.text).to.equal(200)
  const { token } = json(answer) as { token: string }
  return { token, cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '' }
}

/** The same cookies, once their access token is of no use any more. */
async function expired(stack: SessionStack, cookies: SessionCookies): Promise<SessionCookies> {
  for (;;) {
    const answer = await stack.send('/orders', { method: 'GET', token: cookies.access })
    if (answer.status === 401) return cookies
    await pause(50)
  }
}

function missing(): never {
  throw new Error('There are ten tabs')
}

function claims(token: string): { readonly exp: number; readonly sid?: string } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    readonly exp: number
    readonly sid?: string
  }
}
