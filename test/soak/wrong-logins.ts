import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A worker that sends wrong logins at a steady rate, in a thread of its own: what it costs to send them must not delay
 * the bystander whose answers are timed. It posts how many answers had which status.
 */
export interface WrongLogins {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  /** Whether every login names an address of its own in `X-Forwarded-For`. */
  readonly everNewAddresses: boolean
}

const TICK_MS = 20
/** Logins beyond these wait in the worker. */
const CONNECTIONS = 400

const { url, perSecond, seconds, everNewAddresses } = workerData as WrongLogins // given by login-flood.test.ts
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
const statuses = new Map<number, number>()
const sent: Promise<void>[] = []
const begun = performance.now()
for (let n = 0; performance.now() - begun < seconds * 1000; await wait(TICK_MS)) {
  for (; n < ((performance.now() - begun) / 1000) * perSecond; n++) sent.push(logIn(n))
}
await Promise.all(sent)
agent.destroy()
parentPort?.postMessage(statuses)

function logIn(n: number): Promise<void> {
  const client = everNewAddresses ? `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` : '198.51.100.1'
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client }
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/auth/login`, { method: 'POST', headers, agent }, (answer) => {
      const { statusCode = 0 } = answer
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
      answer.resume().on('end', resolve)
    })
    outgoing.on('error', reject).end(JSON.stringify({ email: `x${n % 5000}@example.com`, password: 'wrong' }))
  })
}
