import { ask } from './compare-answers.js'
import type { Answering, Workload } from './workload.js'

const ACCEPT = 'Accept: text/html'
const PATH = '/'

/**
 * The first page of the shop for a browser that is signed in: the gateway reads the session cookie, hands the request on to
 * the renderer, and the renderer reads the products, through the gateway again.
 */
export function htmlWorkload(tokens: readonly string[]): Workload {
  const known = new Map<string, Promise<string[]>>()
  const cookiesOf = ({ origin }: Answering): Promise<string[]> => {
    const cookies = known.get(origin) ?? Promise.all(tokens.map((token) => sessionCookie(origin, token)))
    known.set(origin, cookies)
    return cookies
  }
  return {
    name: 'html',
    description: `GET ${PATH} of the shop as a signed-in browser does, rendered by the renderer behind the gateway`,
    connections: [32],
    async compare([target]) {
      if (target === undefined) return 0
      const [cookie = ''] = await cookiesOf(target)
      const { status, body } = await ask(target.origin, PATH, { headers: [ACCEPT, cookie] })
      if (status !== 200 || !body.includes('Customer 1')) {
        throw new Error(`${target.name} answers ${status} to ${PATH}, or greets nobody.`)
      }
      return 1
    },
    async startRound(target) {
      const clients = (await cookiesOf(target)).map((cookie) => ({ headers: [ACCEPT, cookie] }))
      return { requests: { kind: 'read', clients, paths: [PATH] }, check: () => Promise.resolve() }
    }
  }
}

/** The header line of a session of the browser with this token. */
async function sessionCookie(origin: string, accessToken: string): Promise<string> {
  const response = await fetch(`${origin}/auth/session-cookie`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ accessToken })
  })
  const pairs = response.headers.getSetCookie().map((line) => line.split(';', 1).join())
  if (!response.ok || pairs.length === 0)
    throw new Error(`No session cookie: ${response.status} ${await response.text()}`)
  return `Cookie: ${pairs.filter((pair) => !pair.endsWith('=')).join('; ')}`
}
