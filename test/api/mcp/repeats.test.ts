import { expect } from 'chai'
import { randomNumbers, shuffled } from '../../runner/random.js'
import { startGatewayHere } from '../../stack/in-process.js'
import type { Listening } from '../../stack/server-log.js'
import { describeApi } from '../api-store.js'
import { select } from '../writes/stored.js'
import { Agent, type ToolAnswer } from './agent.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
const INTENTIONS = 24
const COPIES = 3

interface Expected {
  readonly id: number
  readonly price: string
  readonly isActive: boolean
  /** Writes of the row so far. */
  readonly writes: number
}

/** What an agent is told that does not hold the outcome of the call. */
const AGAIN = new Set(['idempotency.in-flight', 'upstream.unavailable'])

describeApi(
  `an agent that sends each call three times through two gateways, seed ${seed}`,
  (store) => {
    let second: Listening
    let agents: readonly Agent[] = []
    before(async () => {
      const { dataAddress } = store.stack
      second = await startGatewayHere({ DATA_SERVICE_ADDRESS: dataAddress, GATEWAY_PORT: '0', MCP: 'write' })
      const token = await store.stack.token('clerk@example.com')
      agents = await Promise.all([store.url, second.address].map((base) => Agent.at(base, token)))
    })
    after(async () => {
      await Promise.all(agents.map((agent) => agent.close()))
      await second.server.stop()
    })

    it('does each thing once, and overwrites nothing', async () => {
      const random = randomNumbers(seed)
      const pick = (below: number): number => Math.floor(random() * below)
      const rows = new Map<number, Expected>()
      const deleted = new Set<number>()

      /** Sends copies of a call at one moment, each by one of the gateways. Answers the one that did it. */
      const send = async (name: string, sent: object): Promise<Readonly<Record<string, unknown>>> => {
        const one = async (): Promise<ToolAnswer> => {
          for (;;) {
            const answer = await agents[pick(agents.length)]?.call(name, sent)
            if (answer === undefined) throw new Error('there are two agents')
            if (!AGAIN.has(String(answer.json['code']))) return answer
          }
        }
        const answers = await Promise.all(Array.from({ length: COPIES }, one))
        const done = answers.filter(({ isError, json }) => !isError && json['replayed'] !== true)
        expect(done, `${name} ${JSON.stringify(sent)}: ${JSON.stringify(answers)}`).to.have.length(1)
        const others = answers.filter(({ isError }) => isError).map(({ json }) => json['code'])
        // A call with a key is answered again. A change without one meets a version that is gone, and a delete a row that is.
        const told = 'idempotencyKey' in sent ? [] : ['conflict', 'not-found']
        expect(
          others.filter((code) => !told.includes(String(code))),
          `${name} ${JSON.stringify(sent)}`
        ).to.deep.equal([])
        return done[0]?.json ?? {}
      }

      for (let n = 0; n < INTENTIONS; n += 1) {
        const [row] = shuffled([...rows.values()], pick(2 ** 31))
        const kind = row === undefined ? 0 : pick(5)
        const resource = 'products'
        if (row === undefined || kind === 0) {
          const values = { name: `Repeated ${n}`, sku: `REP-${n}`, categoryId: 1, price: `${n}.00` }
          const { row: made } = (await send('create_row', { resource, values, idempotencyKey: `repeat-${n}` })) as {
            row: { id: number; isActive: boolean }
          }
          rows.set(made.id, { id: made.id, price: values.price, isActive: made.isActive, writes: 1 })
          continue
        }
        const { id } = row
        const read = await agents[0]?.call('get_row', { resource, id })
        const { rowVersion } = (read?.json['row'] ?? {}) as { rowVersion?: string }
        const key = pick(2) === 0 ? { idempotencyKey: `repeat-${n}` } : {}
        if (kind === 1) {
          await send('delete_row', { resource, id, rowVersion })
          rows.delete(id)
          deleted.add(id)
        } else if (kind === 2) {
          await send('run_action', { resource, id, rowVersion, action: row.isActive ? 'unpublish' : 'publish', ...key })
          rows.set(id, { ...row, isActive: !row.isActive, writes: row.writes + 1 })
        } else {
          const price = `${n}.50`
          await send('update_row', { resource, id, rowVersion, values: { price }, ...key })
          rows.set(id, { ...row, price, writes: row.writes + 1 })
        }
      }
      const query =
        'filters[sku].operator=startsWith&filters[sku].value=REP-&sortColumn=id&pageSize=100&fields=id,price,isActive'
      expect(JSON.parse((await store.as('clerk', `/products/paged?${query}`)).text)).to.deep.equal(
        [...rows.values()].toSorted((a, b) => a.id - b.id).map(({ id, price, isActive }) => ({ id, price, isActive }))
      )
      const entries = await select(
        store,
        "SELECT row_id, COUNT(*) AS n FROM ur_audit_entries WHERE resource = 'products' GROUP BY row_id"
      )
      const written = new Map(entries.map((one) => [Number(one['row_id']), Number(one['n'])]))
      for (const { id, writes } of rows.values()) expect(written.get(id), `writes of ${id}`).to.equal(writes)
      expect([...deleted].filter((id) => rows.has(id))).to.deep.equal([])
    })
  },
  { on: 'mysql', env: () => ({ MCP: 'write' }) }
)
