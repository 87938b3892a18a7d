import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { etagOf, rowIn, sendTo, type Write } from '../api/writes/send.js'
import { count, select } from '../api/writes/stored.js'
import type { Deployment } from './deployment.js'

/** Clients of each kind. */
const CLIENTS = 2
/** Milliseconds between two requests of a client: the machine has other work, and timeouts should come from defects alone. */
const PAUSE_MS = 20
/** Requests of each kind that are enough to see what a change of the processes does to them. */
const ENOUGH = 10

type Kind = 'reads' | 'creates' | 'updates'

interface Row {
  readonly id: number
  readonly sku: string
  etag: string
  /** Acknowledged updates. The price of the row is their number. */
  updates: number
}

/**
 * Clients that read, create under idempotency keys and update under guard through the balancer, over connections that they
 * keep. No request is sent twice: each that does not get the one right answer is a failure.
 */
export class Traffic {
  readonly answered: Record<Kind, number> = { reads: 0, creates: 0, updates: 0 }
  readonly failures: string[] = []
  /** What happens to the processes at the moment, for the text of a failure. */
  phase = ''
  readonly #deployment: Deployment
  readonly #name: string
  readonly #rows: readonly Row[]
  readonly #token: string
  readonly #categoryId: number
  readonly #keys: string[] = []
  readonly #agent = new Agent({ keepAlive: true })
  #stopping = false
  #clients: Promise<unknown> = Promise.resolve()

  private constructor(
    deployment: Deployment,
    made: { readonly name: string; readonly rows: readonly Row[]; readonly token: string; readonly categoryId: number }
  ) {
    this.#deployment = deployment
    this.#name = made.name
    this.#rows = made.rows
    this.#token = made.token
    this.#categoryId = made.categoryId
  }

  /** Makes the rows that are read and updated, and starts the clients. `name` begins the keys of all rows. */
  static async start(deployment: Deployment, name: string): Promise<Traffic> {
    const token = await deployment.token('clerk@example.com')
    const post = (target: string, body: object): Promise<Answer> =>
      sendTo(deployment.url, { method: 'POST', target, token }, { body })
    const category = created(await post('/categories', { name, slug: name }))
    const categoryId = Number(rowIn(category)['id'])
    const rows: Row[] = []
    for (let n = 0; n < CLIENTS; n++) {
      const sku = `${name}-row-${n}`
      const answer = created(await post('/products', { ...PRODUCT, name: sku, sku, categoryId }))
      rows.push({ id: Number(rowIn(answer)['id']), sku, etag: etagOf(answer), updates: 0 })
    }
    const traffic = new Traffic(deployment, { name, rows, token, categoryId })
    traffic.#clients = Promise.all(
      rows.flatMap((row, client) => [traffic.#read(row), traffic.#create(client), traffic.#update(row)])
    )
    return traffic
  }

  /** Resolves when some more requests of each kind were answered, well or not. */
  async more(): Promise<void> {
    const enough = Object.values(this.answered).map((known) => known + ENOUGH)
    const isEnough = (): boolean => Object.values(this.answered).every((known, index) => known >= (enough[index] ?? 0))
    while (!isEnough() && this.failures.length === 0) await pause(PAUSE_MS)
  }

  /** Ends the clients. No request has failed, every create is stored once and every update is there. */
  async expectAll(): Promise<void> {
    await this.end()
    expect(this.failures).to.deep.equal([])
    for (const answered of Object.values(this.answered)) expect(answered).to.be.greaterThan(ENOUGH)
    const store = { databaseUrl: this.#deployment.database.url }
    const stored = await select(store, 'SELECT sku FROM products WHERE sku LIKE ? ORDER BY sku', [
      `${this.#name}-key-%`
    ])
    expect(stored.map(({ sku }) => sku)).to.deep.equal(this.#keys.toSorted())
    for (const { id, sku, etag, updates } of this.#rows) {
      const [row] = await select(store, 'SELECT price, row_version FROM products WHERE id = ?', [id])
      const version = Buffer.from(row?.['row_version'] as Uint8Array).toString('base64')
      expect([Number(row?.['price']), `W/"${version}"`], sku).to.deep.equal([updates, etag])
      const entries = "ur_audit_entries WHERE resource = 'products' AND action = 'update' AND row_id = ?"
      expect(await count(store, entries, [String(id)]), sku).to.equal(updates)
    }
  }

  async end(): Promise<void> {
    this.#stopping = true
    await this.#clients
    this.#agent.destroy()
  }

  async #read({ id }: Row): Promise<void> {
    const page = '/products/paged?pageSize=5&sortColumn=id&fields=id,sku'
    for (let n = 0; !this.#stopping; n++) {
      const answer = await this.#send('reads', `GET ${n % 2 === 0 ? `/products/${id}` : page}`)
      if (answer !== undefined && n % 2 === 1) expect(json(answer)).to.have.length.within(CLIENTS, 5)
    }
  }

  async #create(client: number): Promise<void> {
    for (let n = 0; !this.#stopping; n++) {
      const key = `${this.#name}-key-${client}-${n}`
      const body = { ...PRODUCT, name: key, sku: key, categoryId: this.#categoryId }
      const answer = await this.#send('creates', 'POST /products', { body, key })
      if (answer !== undefined) this.#keys.push(key)
    }
  }

  async #update(row: Row): Promise<void> {
    while (!this.#stopping) {
      const { id, sku, etag } = row
      const price = `${row.updates + 1}.00`
      const body = { ...PRODUCT, name: sku, sku, categoryId: this.#categoryId, price, isActive: true }
      const answer = await this.#send('updates', `PUT /products/${id}`, { body, ifMatch: etag })
      // The version after a failure is not known, and every update with an old one would be a failure too.
      if (answer === undefined) return
      row.etag = etagOf(answer)
      row.updates += 1
    }
  }

  /** The answer if it is the right one. */
  async #send(kind: Kind, line: string, write: Write = {}): Promise<Answer | undefined> {
    await pause(PAUSE_MS)
    const { phase } = this
    const [method = '', target = ''] = line.split(' ')
    const request = { method, target, token: this.#token, agent: this.#agent }
    try {
      const answer = await sendTo(this.#deployment.url, request, write)
      if (answer.status === (kind === 'creates' ? 201 : 200)) {
        this.answered[kind] += 1
        return answer
      }
      this.#failed(`${line}: ${answer.status} ${answer.text}`, phase)
    } catch (error) {
      this.#failed(`${line}: ${String(error)}`, phase)
    }
    return undefined
  }

  #failed(what: string, phase: string): void {
    this.failures.push(`${phase === this.phase ? phase : `${phase}, ${this.phase}`}: ${what}`)
  }
}

/** What every product has. */
const PRODUCT = { price: '0.00' } as const

function created(answer: Answer): Answer {
  expect(answer.status, answer.text).to.equal(201)
  return answer
}
