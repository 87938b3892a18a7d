import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { ComposeAnswer, ComposeProject } from './project.js'

/** Clients that read, and as many that create. */
const CLIENTS = 3
const AGAIN_MS = 50
/** Milliseconds in which a create must be acknowledged, however often it is sent again. */
const ACKNOWLEDGED_MS = 90_000

/**
 * Readers and creators that go on until they are stopped. Each create has an idempotency key, and its product is named by
 * that key. While `tolerant` a request may fail, and a create is sent again until it is acknowledged; otherwise one failed
 * request fails the test.
 */
export class Load {
  tolerant = false
  /** The keys of the creates that were acknowledged. */
  readonly acknowledged: string[] = []
  readonly #project: ComposeProject
  readonly #token: string
  readonly #name: string
  #answers = 0
  #stopping = false
  #clients: Promise<unknown> | undefined

  constructor(project: ComposeProject, { token, name }: { readonly token: string; readonly name: string }) {
    this.#project = project
    this.#token = token
    this.#name = name
  }

  start(): void {
    const clients = Array.from({ length: CLIENTS }, (_, client) => [this.#read(), this.#create(client)]).flat()
    this.#clients = Promise.all(clients).catch((error: unknown) => {
      this.#stopping = true
      throw error
    })
    // It is awaited by `stop` and by `more`.
    this.#clients.catch(() => undefined)
  }

  /** Resolves when this many requests more were answered well. Rejects when a client has failed. */
  async more(count = 40): Promise<void> {
    const enough = this.#answers + count
    while (this.#answers < enough) {
      if (this.#stopping) await this.#clients
      await pause(10)
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#clients
  }

  /** Every acknowledged create is stored, and none is stored twice. */
  async expectStoredOnce(): Promise<void> {
    const query = `fields=name&filters[name].operator=startsWith&filters[name].value=${this.#name}&bom=false`
    const { status, text } = await this.#project.send(`/products/export?${query}`, { headers: this.#authorization() })
    expect(status, text).to.equal(200)
    const stored = new Map<string, number>()
    for (const name of text.split(/\r?\n/).slice(1)) stored.set(name, (stored.get(name) ?? 0) + 1)
    expect(this.acknowledged).not.to.be.empty
    expect(this.acknowledged.filter((key) => stored.get(key) !== 1)).to.deep.equal([])
    expect([...stored].filter(([name, times]) => name !== '' && times !== 1)).to.deep.equal([])
  }

  #authorization(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}` }
  }

  async #read(): Promise<void> {
    while (!this.#stopping) await this.#succeeds(200, () => this.#project.send('/products/1'))
  }

  async #create(client: number): Promise<void> {
    for (let n = 0; !this.#stopping; n++) {
      const key = `${this.#name}-${client}-${n}`
      const body = { name: key, sku: key, categoryId: 4, price: '1.00' }
      const headers = { ...this.#authorization(), 'idempotency-key': key }
      const end = performance.now() + ACKNOWLEDGED_MS
      while (!(await this.#succeeds(201, () => this.#project.send('/products', { method: 'POST', headers, body })))) {
        if (performance.now() > end) throw new Error(`The create ${key} was not acknowledged in ${ACKNOWLEDGED_MS} ms`)
      }
      this.acknowledged.push(key)
    }
  }

  /** Whether the answer has the status. Throws for another one unless failures are tolerated at either end of the request. */
  async #succeeds(wanted: number, send: () => Promise<ComposeAnswer>): Promise<boolean> {
    const { tolerant } = this
    const { status, text } = await send().catch((error: unknown) => ({ status: 0, text: String(error) }))
    if (status === wanted) {
      this.#answers++
      return true
    }
    const failure = new Error(`${status || 'no answer'}: ${text}`)
    // The first attempt may still be under way.
    const isPassing = status === 0 || status >= 500 || text.includes('"idempotency.in-flight"')
    if (!isPassing) throw failure
    if (!tolerant && !this.tolerant) throw failure
    await pause(AGAIN_MS)
    return false
  }
}
