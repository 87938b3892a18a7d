import { expect } from 'chai'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { startGateway } from '../gateway-fixture.js'
import type { FakeAuthClient } from './fake-auth-client.js'

/** A gateway with sessions in memory, under a clock that the test moves. */
export interface SessionFixture {
  readonly app: FastifyInstance
  readonly auth: FakeAuthClient
  /** All that was logged. */
  logText(): string
  /** Moves the clock. */
  advance(seconds: number): void
  send(method: string, url: string, options?: SendOptions): Promise<LightMyRequestResponse>
  close(): Promise<void>
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: { readonly access?: string; readonly refresh?: string }
  /** Sent as JSON, or as it is where it is a text. */
  readonly body?: object | string
}

const START = Date.parse('2031-02-03T04:05:06.789Z')

export async function startSessions(environment: Readonly<Record<string, string>> = {}): Promise<SessionFixture> {
  let now = START
  const clock = (): Date => new Date(now)
  const settings = { GATEWAY_PORT: '3000', COOKIE_SECURE: 'false', ...environment }
  const { app, auth, logText, close } = await startGateway(settings, undefined, { now: clock })
  return {
    app,
    auth,
    logText,
    advance: (seconds) => void (now += seconds * 1000),
    // Any method at all, which the types of inject do not foresee.
    send: (method, url, options = {}) =>
      app.inject({ method: method as NonNullable<InjectOptions['method']>, url, ...asSent(options) }),
    close
  }
}

function asSent({ headers = {}, cookies = {}, body }: SendOptions): InjectOptions {
  const cookie = cookieHeader(cookies)
  return {
    headers: {
      ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
      ...(cookie === undefined ? {} : { cookie }),
      ...headers
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) })
  }
}

export function cookieHeader({ access, refresh }: NonNullable<SendOptions['cookies']>): string | undefined {
  const parts = [
    ...(access === undefined ? [] : [`app_auth_access=${access}`]),
    ...(refresh === undefined ? [] : [`app_auth_refresh=${refresh}`])
  ]
  return parts.length === 0 ? undefined : parts.join('; ')
}

export function setCookies({ headers }: LightMyRequestResponse): string[] {
  return [headers['set-cookie'] ?? []].flat()
}

export const EXPIRED = [
  'app_auth_access=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
  'app_auth_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'
]

export function expectPrivate({ headers }: LightMyRequestResponse): void {
  expect(headers['cache-control']).to.equal('private, no-store')
  expect(headers['vary']).to.equal('Cookie')
}

/** A problem document with its status and code, never to be kept by a cache. */
export function expectProblem(answer: LightMyRequestResponse, status: number, code: string): Record<string, unknown> {
  expect(answer.statusCode, answer.body).to.equal(status)
  expect(answer.headers['content-type']).to.equal('application/problem+json')
  expect(answer.headers['cache-control']).to.include('no-store')
  const problem: Record<string, unknown> = answer.json()
  expect(problem).to.include({ code, status })
  return problem
}
