import type { Call, Client } from '../client.js'
import type { Answer } from '../history.js'
import type { Workload } from './workload.js'

const ADMIN = 'admin@example.com'
/** How long a machine lives, in steps of its client. */
const LIFE = [12, 30] as const
/** How often its sender tries again to write an account that was changed since it was read. */
const MOST_TRIES = 8
/**
 * Token requests that must fail, of each kind: failures of an address count together with those of log-ins, and after a hundred in
 * a quarter of an hour nobody of it is answered.
 */
const FIRST_FAILURES = 2
const FAILURE_EVERY_MS = 180_000

type Failure = 'wrong' | 'removed' | 'disabled'

interface Machine {
  /** Its name and its client id. */
  readonly clientId: string
  readonly account: string
  /** By number. */
  readonly secrets: Map<number, string>
  /** Secrets that were removed. */
  readonly removed: string[]
  token?: string | undefined
  left: number
}

interface Credentials {
  readonly clientId: string
  readonly secret: string
}

interface Account {
  readonly id: number | string
  readonly rowVersion?: string
  readonly disabledAt?: string | null
  readonly number?: number
  readonly secret?: string | null
}

/** Programs with a client id and a secret: they get tokens, create and export with them, change their secrets, and are disabled. */
export function machines(): Workload {
  const living = new Map<string, Machine>()
  const failures = new Map<Failure, number>()
  const began = performance.now()

  async function add(client: Client): Promise<void> {
    const email = client.tag()
    const headers = { 'idempotency-key': client.key() }
    const body = { email, isMachine: true, roles: ['Clerk'] }
    const { answer } = await client.insist({ target: '/accounts', account: ADMIN, headers, body })
    const { id, secret } = accountIn(answer)
    // A secret is shown once: that of an answer that was lost is lost.
    if (answer?.status !== 201 || typeof secret !== 'string') return
    const secrets = new Map([[1, secret]])
    living.set(client.name, { clientId: email, account: String(id), secrets, removed: [], left: client.whole(...LIFE) })
  }

  async function askToken(client: Client, credentials: Credentials): Promise<string | undefined> {
    const call = tokenRequest(credentials, client.random() < 0.5)
    const { answer } = await client.insist(call)
    if (answer?.status !== 200) return undefined
    return String((JSON.parse(answer.body) as { readonly access_token?: unknown }).access_token)
  }

  /** A token request that must be refused, as often as the throttle of its address allows. */
  async function fail(client: Client, why: Failure, { clientId, secret }: Credentials): Promise<void> {
    const isBasic = client.random() < 0.5
    const sent = failures.get(why) ?? 0
    if (sent >= FIRST_FAILURES + (performance.now() - began) / FAILURE_EVERY_MS) return
    failures.set(why, sent + 1)
    await client.send(tokenRequest({ clientId, secret }, isBasic))
  }

  async function work(client: Client, machine: Machine): Promise<void> {
    const { clientId, secrets } = machine
    if (machine.token === undefined || client.random() < 0.4)
      machine.token = await askToken(client, { clientId, secret: client.pick([...secrets.values()]) })
    if (machine.token === undefined) return
    const by = { account: clientId, token: machine.token }
    if (client.random() < 0.5) {
      const headers = { 'idempotency-key': client.key() }
      const call = { target: '/warehouses', headers, body: { name: client.tag(), city: 'Aarhus' }, ...by }
      await client.insist(call)
      if (client.random() < 0.2) await client.send(call)
    } else await client.send({ target: '/stock-items/export', ...by })
  }

  /** A second secret, or the end of the older one. */
  async function rotate(client: Client, machine: Machine): Promise<void> {
    const { clientId, account, secrets, removed } = machine
    if (secrets.size === 1) {
      const headers = { 'idempotency-key': client.key() }
      const target = `/accounts/${account}/secrets`
      const { answer } = await client.insist({ target, account: ADMIN, headers, body: {} })
      const { number = 0, secret } = accountIn(answer)
      if (answer?.status === 201 && typeof secret === 'string') secrets.set(number, secret)
      // Its place is taken by a secret that nobody knows.
      else living.delete(client.name)
      return
    }
    const [[number, secret] = [0, '']] = secrets
    await write(client, account, { method: 'DELETE', target: `/accounts/${account}/secrets/${number}` })
    secrets.delete(number)
    removed.push(secret)
    await fail(client, 'removed', { clientId, secret })
  }

  /** On the version that the account has now, again if it is another one. */
  async function write(client: Client, account: string, call: Call): Promise<void> {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const read = await client.insist({ target: `/accounts/${account}`, account: ADMIN })
      const headers = { 'if-match': read.answer?.headers['etag'] ?? '', 'idempotency-key': client.key() }
      const { answer } = await client.insist({ ...call, account: ADMIN, headers })
      if (answer?.status !== 412) return
    }
  }

  async function disable(client: Client, { clientId, account, secrets }: Machine): Promise<void> {
    living.delete(client.name)
    await write(client, account, { method: 'PUT', target: `/accounts/${account}/disable`, body: {} })
    await fail(client, 'disabled', { clientId, secret: client.pick([...secrets.values()]) })
  }

  return {
    name: 'machines',
    clients: 2,
    prepare: async () => {},
    async step(client) {
      const machine = living.get(client.name)
      const what = client.random()
      if (machine === undefined) await add(client)
      else if (--machine.left < 0) await disable(client, machine)
      else if (what < 0.2) await rotate(client, machine)
      else if (what < 0.25) {
        const { clientId, secrets } = machine
        await fail(client, 'wrong', { clientId, secret: `${client.pick([...secrets.values()])}x` })
      } else await work(client, machine)
      await client.think(6)
    }
  }
}

/** Client id and secret by HTTP Basic, or in the body. */
function tokenRequest({ clientId, secret }: Credentials, isBasic: boolean): Call {
  const grant = 'grant_type=client_credentials'
  const type = 'application/x-www-form-urlencoded'
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')
  const body = `${grant}&client_id=${clientId}&client_secret=${encodeURIComponent(secret)}`
  return {
    method: 'POST',
    target: '/auth/token',
    headers: isBasic ? { authorization: `Basic ${credentials}` } : {},
    text: { type, body: isBasic ? grant : body }
  }
}

function accountIn(answer: Answer | undefined): Account {
  return JSON.parse(answer?.body ?? '{}') as Account
}
