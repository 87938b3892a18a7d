import type { Socket } from 'node:net'
import { MysqlProxy } from '../write/mysql-proxy.js'

const COM_QUERY = 3

/** Name and value as `SHOW VARIABLES` and `SHOW STATUS` answer them. */
function pairs(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `SELECT '${name}' AS Variable_name, '${value}' AS Value`)
    .join(' UNION ALL ')
}

/** Makes a single server look like a node of Galera, as far as the service asks. Everything else is the server's own. */
export class NodeProxy extends MysqlProxy {
  readonly #index: number
  /** `Primary`, or what a node outside of its cluster says. */
  status = 'Primary'
  /** The most statements that a client has sent at a time, without waiting for the answers between them. */
  together = 0

  constructor(index: number) {
    super()
    this.#index = index
  }

  protected override connected(client: Socket, server: Socket): void {
    server.on('data', (data) => client.write(data))
    let rest = Buffer.alloc(0)
    client.on('data', (data) => {
      rest = Buffer.concat([rest, data])
      let commands = 0
      while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
        const packet = rest.subarray(0, 4 + rest.readUIntLE(0, 3))
        rest = rest.subarray(packet.length)
        if (packet[3] === 0) commands++
        server.write(this.#translated(packet))
      }
      this.together = Math.max(this.together, commands)
    })
  }

  #translated(packet: Buffer): Buffer {
    if (packet[3] !== 0 || packet[4] !== COM_QUERY) return packet
    const sql = packet.subarray(5).toString()
    const instead = this.#instead(sql)
    if (instead === undefined) return packet
    const payload = Buffer.concat([Buffer.from([COM_QUERY]), Buffer.from(instead)])
    const head = Buffer.alloc(4)
    head.writeUIntLE(payload.length, 0, 3)
    return Buffer.concat([head, payload])
  }

  #instead(sql: string): string | undefined {
    if (!/^SHOW\b.*'wsrep_/.test(sql)) return undefined
    const values = { wsrep_on: 'ON', wsrep_provider: '/usr/lib/galera/libgalera_smm.so', wsrep_ready: 'ON' }
    const all = { ...values, wsrep_local_index: String(this.#index), wsrep_cluster_status: this.status }
    const asked = Object.entries(all).filter(([name]) => sql.includes(`'${name}'`))
    const version = sql.includes("'version'") ? ["SELECT 'version' AS Variable_name, VERSION() AS Value"] : []
    return [...version, pairs(Object.fromEntries(asked))].join(' UNION ALL ')
  }
}
