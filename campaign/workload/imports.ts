import type { Call, Client } from '../client.js'
import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'
/** More than one transaction of an import takes. */
const LARGE = [501, 900] as const
const SMALL = [3, 40] as const
/** The rows of a batch at most. */
const MOST_OF_A_BATCH = 500
/** Files whose rows somebody goes on changing. */
const MOST_OPEN = 6
/** A version that no row ever has. */
const NO_VERSION = '//////////8='

interface Row {
  readonly id: number
  readonly rowVersion: string
}

/**
 * Files that are imported, broken off at random moments and sent again under the same key, and batches of changes and deletes
 * of their rows. No column of a supplier is unique: only the key of an import prevents a second row.
 */
export function imports(): Workload {
  /** By client: what the names of the rows of a file begin with. */
  const opened = new Map<string, string[]>()

  async function importFile(client: Client): Promise<void> {
    const file = client.tag()
    const isSkipping = client.random() < 0.6
    const [least, most] = client.random() < 0.3 ? LARGE : SMALL
    const rows = Array.from({ length: client.whole(least, most) }, (_, n) => {
      // A supplier without a country is none: such a row fails, and the others are created.
      const isWrong = isSkipping && client.random() < 0.02
      return { name: `${file} ${n + 1}`, country: isWrong ? '' : 'SE' }
    })
    const isCsv = client.random() < 0.5
    const lines = rows.map((row) => (isCsv ? `"${row.name}",${row.country}` : JSON.stringify(row)))
    const call: Call = {
      target: `/suppliers/import?onError=${isSkipping ? 'skip' : 'stop'}`,
      account: CLERK,
      headers: { 'idempotency-key': client.key() },
      text: isCsv
        ? { type: 'text/csv', body: ['name,country', ...lines].join('\r\n') }
        : { type: 'application/x-ndjson', body: lines.join('\n') }
    }
    for (let breaks = client.whole(0, 2); breaks > 0; breaks--) {
      const share = client.random() < 0.4 ? 1 : client.random()
      await client.send({ ...call, breakOff: { share, afterMs: client.whole(0, 150) } })
    }
    const { answer } = await client.insist(call)
    if (client.random() < 0.3) await client.send(call)
    if (answer?.status === 200) opened.set(client.name, [...openOf(client), file].slice(-MOST_OPEN))
  }

  const openOf = (client: Client): readonly string[] => opened.get(client.name) ?? []

  /** All rows of a file that a batch takes, as they are now. */
  async function rowsOf(client: Client, file: string): Promise<readonly Row[]> {
    const named = `filters[name].operator=starts%20with&filters[name].value=${encodeURIComponent(`${file} `)}`
    const target = `/suppliers/paged?${named}&pageSize=${MOST_OF_A_BATCH}&includeTotal=false`
    const { answer } = await client.insist({ target, account: CLERK })
    return answer?.status === 200 ? (JSON.parse(answer.body) as readonly Row[]) : []
  }

  async function writeBatch(client: Client, file: string): Promise<void> {
    const rows = await rowsOf(client, file)
    if (rows.length === 0) {
      opened.set(
        client.name,
        openOf(client).filter((one) => one !== file)
      )
      return
    }
    const [isDelete, isStale] = [client.random() < 0.3, client.random() < 0.1]
    const country = client.tag()
    const items = rows.map(({ id, rowVersion }, at) => ({
      id,
      rowVersion: isStale && at === rows.length - 1 ? NO_VERSION : rowVersion,
      ...(isDelete ? {} : { country })
    }))
    const call: Call = {
      method: isDelete ? 'POST' : 'PATCH',
      target: isDelete ? '/suppliers/batch/delete' : '/suppliers/batch',
      account: CLERK,
      body: items
    }
    // A batch without a key and without an answer may be done or not. The next one is made from what is read then.
    if (client.random() < 0.4) await client.send(call)
    else {
      const keyed = { ...call, headers: { 'idempotency-key': client.key() } }
      if (client.random() < 0.3) await client.send({ ...keyed, breakOff: { share: 1, afterMs: client.whole(0, 60) } })
      await client.insist(keyed)
      if (client.random() < 0.2) await client.send(keyed)
    }
  }

  return {
    name: 'imports',
    clients: 1,
    prepare: async () => {},
    async step(client) {
      const open = openOf(client)
      if (open.length === 0 || client.random() < 0.4) await importFile(client)
      else await writeBatch(client, client.pick(open))
      await client.think(2)
    }
  }
}
