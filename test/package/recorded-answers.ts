import type { Stack } from '../stack/stack.js'

/** A request of a fixture's `recorded.json`. */
export interface RecordedRequest {
  /** The e-mail address of the account that sends it; nobody without it. */
  readonly as?: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly ifMatch?: string
}

export interface RecordedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The password of every account of the fixtures. */
const PASSWORD = 'fixture-password'

/** What each run has of its own. */
const VOLATILE = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'])

/** Sends the requests one after the other, and answers what of the answers is the same in every run. */
export async function answersTo(stack: Stack, requests: readonly RecordedRequest[]): Promise<RecordedAnswer[]> {
  const tokens = new Map<string, string>()
  const tokenOf = async (email: string): Promise<string> => {
    const token = tokens.get(email) ?? (await logIn(stack, email))
    tokens.set(email, token)
    return token
  }
  const answers: RecordedAnswer[] = []
  for (const { as, method, path, body, ifMatch } of requests) {
    const token = as === undefined ? undefined : await tokenOf(as)
    const headers = { 'x-request-id': 'recorded' }
    const { status, headers: received, text } = await stack.call(path, { method, token, body, ifMatch, headers })
    const same = (value: string): string => withoutChance(value.replaceAll(stack.url, 'http://127.0.0.1:3000'), status)
    answers.push({
      status,
      headers: Object.fromEntries(
        Object.entries(received).flatMap(([name, value]) =>
          VOLATILE.has(name) || value === undefined ? [] : [[name, same(String(value))]]
        )
      ),
      body: parsed(same(text))
    })
  }
  return answers
}

async function logIn(stack: Stack, email: string): Promise<string> {
  const { body, text } = await stack.call('/auth/login', { body: { email, password: PASSWORD } })
  if (typeof body === 'object' && body !== null && 'accessToken' in body) return String(body.accessToken)
  throw new Error(`${email} cannot log in: ${text}`)
}

/** The first version of a new row is random, its time is now, and so is that in the name of an export's file. */
function withoutChance(value: string, status: number): string {
  const named = value.replace(/-\d{8}T\d{6}Z\.csv/, '-now.csv')
  if (status !== 201) return named
  return named
    .replace(/"rowVersion":"[^"]+"/g, '"rowVersion":"new"')
    .replace(/"createdAt":"[^"]+"/g, '"createdAt":"now"')
    .replace(/^W\/"[^"]+"$/, 'W/"new"')
}

function parsed(text: string): unknown {
  return /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text
}
