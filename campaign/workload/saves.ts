import type { Client } from '../client.js'
import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'

interface Open {
  readonly target: string
  readonly name: string
  count: number
  etag: string
}

/** Editors who save the same row again and again, each with the version that the last save was answered with. */
export function saves(): Workload {
  const opened = new Map<string, Open>()

  async function open(client: Client): Promise<void> {
    const name = client.tag()
    const headers = { 'idempotency-key': client.key() }
    const body = { name: `${name} #0`, city: 'Aarhus', capacity: 0 }
    const { answer } = await client.insist({ target: '/venues', account: CLERK, headers, body })
    if (answer?.status !== 201) return
    const { id } = JSON.parse(answer.body) as { readonly id: number }
    opened.set(client.name, { target: `/venues/${id}`, name, count: 0, etag: answer.headers['etag'] ?? '' })
  }

  async function save(client: Client, row: Open): Promise<void> {
    const count = row.count + 1
    const headers = { 'if-match': row.etag }
    const body = { name: `${row.name} #${count}`, city: 'Aarhus', capacity: count }
    const { answer } = await client.send({ method: 'PUT', target: row.target, account: CLERK, headers, body })
    if (answer?.status === 200) Object.assign(row, { count, etag: answer.headers['etag'] ?? '' })
    else await look(client, row)
  }

  /** Nobody else saves the row, so a save that was not answered is in it or is not. */
  async function look(client: Client, row: Open): Promise<void> {
    const { answer } = await client.insist({ target: row.target, account: CLERK })
    if (answer?.status !== 200) return
    const { capacity } = JSON.parse(answer.body) as { readonly capacity: number }
    Object.assign(row, { count: capacity, etag: answer.headers['etag'] ?? '' })
  }

  return {
    name: 'saves',
    clients: 1,
    prepare: async () => {},
    async step(client) {
      const row = opened.get(client.name)
      await (row === undefined ? open(client) : save(client, row))
      await client.think()
    }
  }
}
