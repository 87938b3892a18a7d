import { setTimeout as delay } from 'node:timers/promises'
import { plainOf } from '../checkers/tool-calls.js'
import type { Call, Client } from '../client.js'
import type { Answer } from '../history.js'
import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'
/** Rows that all agents write, few enough that they collide. */
const STOCK_ITEMS = 2
/** How often a call is sent at most before its sender waits for the answer. */
const REPEATS = 2
/** How often an agent sends a call again that was answered "wait", or not at all: as often as other clients insist. */
const MOST_ATTEMPTS = 60
const BETWEEN_ATTEMPTS_MS = 250
/** A version that no row ever has. */
const NO_VERSION = '//////////8='

interface Row {
  readonly id: number | string
  readonly rowVersion: string
  readonly name?: string
  readonly capacity?: number
}

/**
 * Programs that a language model drives: they call the tools of `POST /mcp`, hang up at random moments and send the same call
 * again, through whichever gateway. Creates have a key; changes, actions and deletes the version that was read.
 */
export function agents(): Workload {
  const stockItems: string[] = []
  /** By client: a venue that it changes. */
  const venues = new Map<string, number | string>()

  /** Sends a call, some of them several times. Resolves with the answer to the request that the tool stands for. */
  async function call(client: Client, name: string, sent: object): Promise<Answer | undefined> {
    const message: Call = {
      target: '/mcp',
      account: CLERK,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: sent } }
    }
    for (let repeats = client.random() < 0.5 ? 0 : client.whole(1, REPEATS); repeats > 0; repeats--)
      await client.send({ ...message, breakOff: { share: 1, afterMs: client.whole(0, 60) } })
    for (let attempt = 1; ; attempt++) {
      const { answer } = plainOf(await client.send(message))
      const { status = 0 } = answer ?? {}
      const isFinal = status >= 200 && status < 500 && status !== 409 && status !== 429
      if (isFinal || attempt === MOST_ATTEMPTS) return answer
      await delay(BETWEEN_ATTEMPTS_MS)
    }
  }

  const rowOf = (answer: Answer | undefined): Row | undefined =>
    answer !== undefined && answer.status < 300 ? (JSON.parse(answer.body) as Row) : undefined

  const create = async (client: Client, resource: string, values: object): Promise<Row | undefined> =>
    rowOf(await call(client, 'create_row', { resource, values, idempotencyKey: client.key() }))

  const read = async (client: Client, resource: string, id: number | string): Promise<Row | undefined> =>
    rowOf(await call(client, 'get_row', { resource, id }))

  const keyed = (client: Client): object => (client.random() < 0.5 ? { idempotencyKey: client.key() } : {})

  async function openVenue(client: Client): Promise<void> {
    const row = await create(client, 'venues', { name: `${client.tag()} #0`, city: 'Aarhus', capacity: 0 })
    if (row !== undefined) venues.set(client.name, row.id)
  }

  /** One more, by the version that was read; sometimes by one that the row never had, and sometimes the last change of all. */
  async function changeVenue(client: Client, id: number | string): Promise<void> {
    const resource = 'venues'
    const row = await read(client, resource, id)
    if (row === undefined) {
      venues.delete(client.name)
      return
    }
    const { name = '', capacity = 0 } = row
    const rowVersion = client.random() < 0.03 ? NO_VERSION : row.rowVersion
    await client.think()
    if (client.random() < 0.2) {
      venues.delete(client.name)
      await call(client, 'delete_row', { resource, id, rowVersion: row.rowVersion })
      return
    }
    const values = { name: name.replace(/#\d+$/, `#${capacity + 1}`), capacity: capacity + 1 }
    await call(client, 'update_row', { resource, id, rowVersion, values, ...keyed(client) })
  }

  async function adjust(client: Client, id: string): Promise<void> {
    const resource = 'stock-items'
    const row = await read(client, resource, id)
    if (row === undefined) return
    await client.think()
    const sent = { resource, id, rowVersion: row.rowVersion, action: 'adjust', values: { delta: 1 } }
    await call(client, 'run_action', { ...sent, ...keyed(client) })
  }

  return {
    name: 'agents',
    clients: 2,
    async prepare(client) {
      const warehouse = await create(client, 'warehouses', { name: client.tag(), city: 'Aarhus' })
      for (let n = 1; n <= STOCK_ITEMS; n++) {
        const values = { warehouseId: warehouse?.id, productId: n, onHand: 0 }
        stockItems.push(String((await create(client, 'stock-items', values))?.id))
      }
    },
    async step(client) {
      const venue = venues.get(client.name)
      if (client.random() < 0.4) await adjust(client, client.pick(stockItems))
      else if (venue === undefined) await openVenue(client)
      else await changeVenue(client, venue)
      await client.think(2)
    }
  }
}
