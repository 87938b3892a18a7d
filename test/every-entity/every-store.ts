import { entities } from '../../examples/store/entities/index.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../harness/database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import type { Call, Outcome, Transport } from './call.js'
import type { Caller } from './caller.js'
import { grpcTransport } from './grpc-transport.js'
import { httpTransport } from './http-transport.js'
import { RowMaker } from './row-maker.js'
import { statesOf } from './states.js'
import { TokenMint } from '../stack/token-mint.js'

interface Running {
  readonly database: FreshDatabase
  readonly stack: Stack
  readonly sql: TestDatabase
  readonly rpc: GrpcCaller
  readonly maker: RowMaker
  readonly transports: readonly [http: Transport, grpc: Transport]
}

/** A gateway and a data service over a few rows of every entity: one for all tests of a database. */
export class EveryStore {
  readonly kind: DatabaseKind
  readonly #mint = new TokenMint()
  #running: Running | undefined

  constructor(kind: DatabaseKind) {
    this.kind = kind
  }

  /** Past the service. */
  get sql(): TestDatabase {
    return this.#get().sql
  }

  get maker(): RowMaker {
    return this.#get().maker
  }

  get rpc(): GrpcCaller {
    return this.#get().rpc
  }

  get transports(): Running['transports'] {
    return this.#get().transports
  }

  send(transport: Transport, call: Call, caller: Caller): Promise<Outcome> {
    return transport.send(call, this.#mint.of(caller))
  }

  /** undefined for a caller without one. */
  tokenOf(caller: Caller): string | undefined {
    return this.#mint.of(caller)
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const database = await freshDatabase(this.kind)
    const stack = await startStack({
      database,
      env: { SAMPLE_DATA: 'false', ...(await this.#mint.settings()), ...env }
    })
    const sql = await openTestDatabase(database.url)
    const rpc = new GrpcCaller(stack.dataAddress)
    const maker = new RowMaker(sql, entities)
    this.#running = { database, stack, sql, rpc, maker, transports: [httpTransport(stack.url), grpcTransport(rpc)] }
    await maker.fill(statesOf)
  }

  async stop(): Promise<void> {
    await using _mint = this.#mint
    if (this.#running === undefined) return
    const { database, stack, sql, rpc } = this.#running
    rpc.close()
    await sql.close()
    await stack.stop()
    await database.dispose()
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error('The stack runs within tests and hooks alone')
    return this.#running
  }
}
