import type { OperationCosts, SimulatedOperation } from './cost-model.js'
import { type Clock, Cores, EventLoop, GroupCommit, type Machine, type Micros, Pool, type Turn } from './stations.js'
import type { Simulation } from './system.js'

/** What the processes of a simulation know of it. */
export interface Context {
  readonly clock: Clock
  readonly simulation: Simulation
  /** undefined where machines are apart. */
  readonly shared: Cores | undefined
  readonly nodes: readonly DatabaseNode[]
  readonly dataServices: readonly DataService[]
  /** The shared one, or one with a core of its own. */
  machine(): Machine
  /** A time around `mean`: half of it is fixed, the rest exponential. */
  around(mean: Micros): Micros
  chance(share: number): boolean
  /** Does something one way through the network later. */
  travel(arrive: () => void): void
  countStatement(): void
  /** Of a message that holds these requests. */
  costOf(requests: readonly Request[]): OperationCosts
}

export interface Request {
  readonly operation: SimulatedOperation
  readonly started: Micros
  readonly answered: () => void
  /** Where the call is under way. */
  dataService: DataService | undefined
  readonly gateway: Gateway
}

/** At most so many gathered statements of a kind are under way (decision 030). */
const GATHERED_AT_ONCE = 2

/** Reads by id of one turn go to one data service, unless it has so many more calls than another one. */
const TOGETHER_WITHIN = 64

/** Takes requests, and sends those of a turn to each data service as one message. */
export class Gateway {
  readonly loop: EventLoop
  readonly #run: Context
  readonly #dataServices: readonly DataService[]
  #messages = new Map<DataService, Request[]>()
  #underWay = 0
  /** Where the reads by id of this turn go. */
  #together: DataService | undefined

  constructor(run: Context, index: number) {
    this.#run = run
    const { pairs, dataServicesOfGateway } = run.simulation.system
    this.#dataServices = run.dataServices.filter((_, other) => (other - index + pairs) % pairs < dataServicesOfGateway)
    this.loop = new EventLoop(run.machine(), [(turn) => this.#flush(turn)])
  }

  request(request: Request): void {
    this.loop.arrive((turn) => {
      const costs = this.#run.simulation.costs[request.operation]
      this.#underWay += 1
      turn.spend(this.#run.around(costs.gateway / 2) + costs.gatewayUnderWay * this.#underWay)
      const to = this.#choose(request)
      request.dataService = to
      to.underWay += 1
      this.#messages.set(to, [...(this.#messages.get(to) ?? []), request])
    })
  }

  answers(requests: readonly Request[]): void {
    this.loop.arrive((turn) => {
      const { costs } = this.#run.simulation
      turn.spend(this.#run.costOf(requests).gatewayMessage)
      for (const request of requests) {
        turn.spend(this.#run.around(costs[request.operation].gateway / 2))
        this.#underWay -= 1
        if (request.dataService !== undefined) request.dataService.underWay -= 1
        turn.atEnd(() => this.#run.travel(request.answered))
      }
    })
  }

  #choose({ operation }: Request): DataService {
    let least = this.#dataServices[0]
    for (const one of this.#dataServices) if (least === undefined || one.underWay < least.underWay) least = one
    if (least === undefined) throw new Error('A system without a data service.')
    if (operation !== 'by-id') return least
    if (this.#together === undefined || this.#together.underWay - least.underWay > TOGETHER_WITHIN)
      this.#together = least
    return this.#together
  }

  #flush(turn: Turn): void {
    this.#together = undefined
    for (const [to, requests] of this.#messages) {
      turn.spend(this.#run.costOf(requests).gatewayMessage)
      turn.atEnd(() => this.#run.travel(() => to.calls(requests)))
    }
    this.#messages = new Map()
  }
}

/** Takes calls, and sends statements on its connections; reads of one kind of a turn are one statement. */
export class DataService {
  readonly loop: EventLoop
  underWay = 0
  readonly #run: Context
  readonly #node: DatabaseNode
  readonly #pool: Pool
  readonly #gathered = new Map<SimulatedOperation, { waiting: Request[]; statements: number }>()
  #answers = new Map<Gateway, Request[]>()

  constructor(run: Context, index: number) {
    this.#run = run
    const node = run.nodes[index % run.nodes.length]
    if (node === undefined) throw new Error('A system without a database.')
    this.#node = node
    this.#pool = new Pool(run.simulation.system.poolSize)
    this.loop = new EventLoop(run.machine(), [(turn) => this.#sendGathered(turn), (turn) => this.#flush(turn)])
  }

  calls(requests: readonly Request[]): void {
    this.loop.arrive((turn) => {
      const { costs } = this.#run.simulation
      turn.spend(this.#run.costOf(requests).dataServiceMessage)
      for (const request of requests) {
        turn.spend(this.#run.around(costs[request.operation].dataService / 2))
        if (costs[request.operation].isGathered) this.#group(request.operation).waiting.push(request)
        else turn.atEnd(() => this.#pool.acquire(() => this.#step(request, 1)))
      }
    })
  }

  #group(operation: SimulatedOperation) {
    const group = this.#gathered.get(operation) ?? { waiting: [], statements: 0 }
    this.#gathered.set(operation, group)
    return group
  }

  #sendGathered(turn: Turn): void {
    for (const [operation, group] of this.#gathered) {
      if (group.waiting.length === 0 || group.statements >= GATHERED_AT_ONCE) continue
      const requests = group.waiting
      group.waiting = []
      group.statements += 1
      turn.spend(this.#run.simulation.costs[operation].dataServiceStatement)
      turn.atEnd(() =>
        this.#pool.acquire(() =>
          this.#node.read(operation, requests.length, () =>
            this.loop.arrive((later) => {
              group.statements -= 1
              this.#pool.release()
              for (const request of requests) this.#answer(later, request)
            })
          )
        )
      )
    }
  }

  /** A page has one step, a write has one for its statements and one for its commit. */
  #step(request: Request, step: number): void {
    const costs = this.#run.simulation.costs[request.operation]
    this.loop.arrive((turn) => {
      turn.spend(costs.dataServiceStatement)
      turn.atEnd(() => {
        const done = (): void => {
          if (step < costs.roundTrips) return this.#step(request, step + 1)
          this.loop.arrive((later) => {
            this.#pool.release()
            this.#answer(later, request)
          })
        }
        if (costs.roundTrips === 1) this.#node.read(request.operation, 1, done)
        else if (step === costs.roundTrips) this.#node.commit(request.operation, done)
        else this.#node.write(request.operation, done)
      })
    })
  }

  #answer(turn: Turn, request: Request): void {
    turn.spend(this.#run.around(this.#run.simulation.costs[request.operation].dataService / 2))
    this.#answers.set(request.gateway, [...(this.#answers.get(request.gateway) ?? []), request])
  }

  #flush(turn: Turn): void {
    for (const [to, requests] of this.#answers) {
      turn.spend(this.#run.costOf(requests).dataServiceMessage)
      turn.atEnd(() => this.#run.travel(() => to.answers(requests)))
    }
    this.#answers = new Map()
  }
}

/** A node of the database: a thread for each connection, a log, and the writes of the other nodes. */
export class DatabaseNode {
  busy: Micros = 0
  readonly #run: Context
  readonly #cores: Cores
  readonly #log: GroupCommit

  constructor(run: Context) {
    this.#run = run
    const { database } = run.simulation.system
    this.#cores = run.shared ?? new Cores(run.clock, database.cores)
    this.#log = new GroupCommit(run.clock, database.flush)
  }

  read(operation: SimulatedOperation, keys: number, done: () => void): void {
    const { database } = this.#run.simulation.system
    const { databaseStatement, database: each } = this.#run.simulation.costs[operation]
    const missed = operation === 'by-id' ? this.#missed(keys, database.misses) : 0
    this.#run.countStatement()
    this.#run.travel(() =>
      this.#run.clock.after(missed * database.missTime, () =>
        this.#use(this.#run.around(databaseStatement + each * keys), () => this.#run.travel(done))
      )
    )
  }

  write(operation: SimulatedOperation, done: () => void): void {
    this.#run.countStatement()
    const { databaseStatement, database: each } = this.#run.simulation.costs[operation]
    this.#run.travel(() => this.#use(this.#run.around(databaseStatement + each), () => this.#run.travel(done)))
  }

  commit(operation: SimulatedOperation, done: () => void): void {
    const { database } = this.#run.simulation.system
    const { databaseStatement, database: each } = this.#run.simulation.costs[operation]
    this.#run.countStatement()
    this.#run.travel(() =>
      this.#use(this.#run.around(databaseStatement), () => {
        this.#run.clock.after(database.replication, () => this.#log.commit(() => this.#run.travel(done)))
        for (const other of this.#run.nodes) {
          if (other !== this) {
            this.#run.clock.after(database.replication / 2, () =>
              other.#use(this.#run.around(database.applyShare * (databaseStatement + each)), () => {})
            )
          }
        }
      })
    )
  }

  #use(length: Micros, done: () => void): void {
    this.#cores.run(length, () => {
      this.busy += length
      done()
    })
  }

  /** The keys of one statement are read one after the other. */
  #missed(keys: number, misses: number): number {
    let missed = 0
    for (let key = 0; key < keys; key++) if (this.#run.chance(misses)) missed += 1
    return missed
  }
}
