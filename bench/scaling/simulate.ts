import { percentile } from '../measure-rounds.js'
import { randomNumbers } from '../workloads/reads.js'
import type { OperationCosts, SimulatedOperation } from './cost-model.js'
import { type Context, DatabaseNode, DataService, Gateway, type Request } from './processes.js'
import { Clock, Cores, EventLoop, type Machine, type Micros, type Turn } from './stations.js'
import type { Simulated, Simulation } from './system.js'

/** Runs a simulation. The same one gives the same result. */
export function simulate(simulation: Simulation): Simulated {
  return new Run(simulation).result()
}

class Run implements Context {
  readonly clock = new Clock()
  readonly simulation: Simulation
  readonly shared: Cores | undefined
  readonly nodes: readonly DatabaseNode[]
  readonly dataServices: readonly DataService[]
  readonly gateways: readonly Gateway[]
  readonly #random: () => number
  readonly #latencies: number[] = []
  readonly #generator: EventLoop
  #underWay = 0
  #area = 0
  #changed: Micros = 0
  #counted = 0
  #statements = 0

  constructor(simulation: Simulation) {
    this.simulation = simulation
    this.#random = randomNumbers(simulation.seed)
    const { system } = simulation
    const { clock } = this
    this.shared = system.machines.kind === 'one' ? new Cores(clock, system.machines.cores) : undefined
    this.#generator = new EventLoop(this.machine())
    const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
    this.nodes = numbers(system.database.nodes).map(() => new DatabaseNode(this))
    this.dataServices = numbers(system.pairs).map((index) => new DataService(this, index))
    this.gateways = numbers(system.pairs).map((index) => new Gateway(this, index))
  }

  machine(): Machine {
    const { clock, shared } = this
    return { clock, cores: shared ?? new Cores(clock, 1), wake: this.simulation.system.wake }
  }

  around(mean: Micros): Micros {
    return mean * (0.5 - 0.5 * Math.log(1 - this.#random()))
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  result(): Simulated {
    const { arrivals, seconds } = this.simulation
    if (arrivals.kind === 'closed') this.#closed(arrivals.connections)
    else this.#open(arrivals.perSecond)
    const end = seconds * 1e6
    const begin = end / 5
    this.clock.runUntil(begin)
    this.#count()
    this.#area = 0
    this.#latencies.length = 0
    this.#counted = 0
    this.#statements = 0
    const before = this.#busy()
    this.clock.runUntil(end)
    this.#count()
    const after = this.#busy()
    const time = end - begin
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const share = (kind: 'gateway' | 'dataService' | 'database', count: number): number =>
      (after[kind] - before[kind]) / time / count
    const each = (kind: 'gateway' | 'dataService' | 'database'): number => (after[kind] - before[kind]) / this.#counted
    const { pairs, database } = this.simulation.system
    return {
      requests: this.#counted,
      requestsPerSecond: (this.#counted / time) * 1e6,
      meanMs: sorted.reduce((sum, one) => sum + one, 0) / sorted.length / 1000,
      p50Ms: percentile(sorted, 0.5) / 1000,
      p99Ms: percentile(sorted, 0.99) / 1000,
      underWay: this.#area / time,
      gateway: share('gateway', pairs),
      dataService: share('dataService', pairs),
      database: share('database', database.nodes * (this.shared?.count ?? database.cores)),
      gatewayMicros: each('gateway'),
      dataServiceMicros: each('dataService'),
      databaseMicros: each('database'),
      statements: this.#statements / this.#counted
    }
  }

  #busy() {
    const sum = (of: readonly { readonly busy: Micros }[]): Micros => of.reduce((all, { busy }) => all + busy, 0)
    return {
      gateway: sum(this.gateways.map(({ loop }) => loop)),
      dataService: sum(this.dataServices.map(({ loop }) => loop)),
      database: sum(this.nodes)
    }
  }

  #closed(connections: number): void {
    for (let index = 0; index < connections; index++) {
      const gateway = this.gateways[index % this.gateways.length]
      if (gateway === undefined) throw new Error('A system without a gateway.')
      const next = (): void => this.#generator.arrive((turn) => this.#generate(turn, gateway, next))
      this.clock.after(index, next)
    }
  }

  #generate(turn: Turn, gateway: Gateway, next: () => void): void {
    const operation = this.#anyOperation()
    turn.spend(this.simulation.costs[operation].generator)
    turn.atEnd(() => this.#send(operation, gateway, next))
  }

  #open(perSecond: number): void {
    const arrive = (): void => {
      const gateway = this.gateways[Math.floor(this.#random() * this.gateways.length)]
      if (gateway === undefined) throw new Error('A system without a gateway.')
      this.#send(this.#anyOperation(), gateway, () => {})
      this.clock.after((-1e6 / perSecond) * Math.log(1 - this.#random()), arrive)
    }
    arrive()
  }

  #anyOperation(): SimulatedOperation {
    let left = this.#random()
    let last: SimulatedOperation = 'by-id'
    for (const [operation, share] of Object.entries(this.simulation.shares) as [SimulatedOperation, number][]) {
      last = operation
      left -= share
      if (left < 0) break
    }
    return last
  }

  #send(operation: SimulatedOperation, gateway: Gateway, then: () => void): void {
    const { clock } = this
    this.#count()
    this.#underWay += 1
    const started = clock.now
    const answered = (): void => {
      this.#count()
      this.#underWay -= 1
      this.#counted += 1
      this.#latencies.push(clock.now - started)
      then()
    }
    this.travel(() => gateway.request({ operation, started, answered, gateway, dataService: undefined }))
  }

  travel(arrive: () => void): void {
    this.clock.after(this.simulation.system.network, arrive)
  }

  countStatement(): void {
    this.#statements += 1
  }

  costOf(requests: readonly Request[]): OperationCosts {
    return this.simulation.costs[requests[0]?.operation ?? 'by-id']
  }

  #count(): void {
    this.#area += this.#underWay * (this.clock.now - this.#changed)
    this.#changed = this.clock.now
  }
}
