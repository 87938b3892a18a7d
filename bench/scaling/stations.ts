/** Microseconds since a simulation began, or a length of time. */
export type Micros = number

type Action = () => void

/** The clock of a simulation: actions in the order of their times, and of their scheduling where the times are the same. */
export class Clock {
  now: Micros = 0
  #count = 0
  // A binary heap; times and order are kept beside the actions, so that a comparison reads two arrays of numbers.
  readonly #times: number[] = []
  readonly #orders: number[] = []
  readonly #actions: Action[] = []

  after(wait: Micros, action: Action): void {
    let at = this.#times.length
    const time = this.now + wait
    const order = this.#count++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#time(parent) <= time) break
      this.#move(parent, at)
      at = parent
    }
    this.#put(at, { time, order, action })
  }

  /** Runs actions until a moment, at which the clock then stands. */
  runUntil(end: Micros): void {
    while (this.#times.length > 0 && this.#time(0) <= end) {
      this.now = this.#time(0)
      const action = this.#actions[0]
      this.#removeFirst()
      action?.()
    }
    this.now = end
  }

  #removeFirst(): void {
    const time = this.#times.pop() ?? 0
    const order = this.#orders.pop() ?? 0
    const action = this.#actions.pop()
    const size = this.#times.length
    if (size === 0 || action === undefined) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && this.#isBefore(child + 1, this.#time(child), this.#order(child))) child += 1
      if (!this.#isBefore(child, time, order)) break
      this.#move(child, at)
      at = child
    }
    this.#put(at, { time, order, action })
  }

  #isBefore(at: number, time: number, order: number): boolean {
    const own = this.#time(at)
    return own < time || (own === time && this.#order(at) < order)
  }

  #time(at: number): number {
    return this.#times[at] ?? 0
  }

  #order(at: number): number {
    return this.#orders[at] ?? 0
  }

  #move(from: number, to: number): void {
    const action = this.#actions[from]
    if (action !== undefined) this.#put(to, { time: this.#time(from), order: this.#order(from), action })
  }

  #put(at: number, { time, order, action }: { time: number; order: number; action: Action }): void {
    this.#times[at] = time
    this.#orders[at] = order
    this.#actions[at] = action
  }
}

/** A burst that is longer gives its core to the next one that waits, as the scheduler of a kernel does. */
const SLICE: Micros = 1000

/** The cores of a machine, which bursts of its processes use in turn. */
export class Cores {
  busy: Micros = 0
  readonly #clock: Clock
  readonly count: number
  #free: number
  readonly #waiting = new Queue<{ left: Micros; done: Action }>()

  constructor(clock: Clock, count: number) {
    this.#clock = clock
    this.count = count
    this.#free = count
  }

  run(length: Micros, done: Action): void {
    const burst = { left: length, done }
    if (this.#free === 0) return this.#waiting.add(burst)
    this.#free -= 1
    this.#slice(burst)
  }

  #slice(burst: { left: Micros; done: Action }): void {
    const length = Math.min(SLICE, burst.left)
    this.#clock.after(length, () => {
      this.busy += length
      burst.left -= length
      if (burst.left > 0) this.#waiting.add(burst)
      const next = this.#waiting.take()
      if (next === undefined) this.#free += 1
      else this.#slice(next)
      if (burst.left <= 0) burst.done()
    })
  }
}

/** First in, first out, in constant time. */
export class Queue<Item> {
  #items: Item[] = []
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  add(item: Item): void {
    this.#items.push(item)
  }

  take(): Item | undefined {
    const item = this.#items[this.#first]
    if (item === undefined) return undefined
    this.#first += 1
    if (this.#first === this.#items.length) this.takeAll()
    return item
  }

  takeAll(): Item[] {
    const items = this.#items.slice(this.#first)
    this.#items = []
    this.#first = 0
    return items
  }
}

/** A place for at most so many at a time; others wait in order. */
export class Pool {
  #free: number
  readonly #waiting = new Queue<Action>()

  constructor(size: number) {
    this.#free = size
  }

  acquire(then: Action): void {
    if (this.#free === 0) return this.#waiting.add(then)
    this.#free -= 1
    then()
  }

  release(): void {
    const next = this.#waiting.take()
    if (next === undefined) this.#free += 1
    else next()
  }
}

/** The log of a database: transactions that come while it is written to the disk are all written by the next write. */
export class GroupCommit {
  writes = 0
  readonly #clock: Clock
  readonly #length: Micros
  readonly #waiting = new Queue<Action>()
  #isWriting = false

  /** `length` of 0: the server does not wait for the disk. */
  constructor(clock: Clock, length: Micros) {
    this.#clock = clock
    this.#length = length
  }

  commit(done: Action): void {
    if (this.#length === 0) return done()
    this.#waiting.add(done)
    if (!this.#isWriting) this.#write()
  }

  #write(): void {
    const group = this.#waiting.takeAll()
    this.#isWriting = group.length > 0
    if (!this.#isWriting) return
    this.writes += 1
    this.#clock.after(this.#length, () => {
      for (const done of group) done()
      this.#write()
    })
  }
}

/** What a turn of an event loop hands over to other processes. They get it when the turn is over. */
export interface Turn {
  /** Adds CPU to the turn. */
  spend(micros: Micros): void
  /** Runs when the turn is over. */
  atEnd(action: Action): void
}

/** What a process runs on. */
export interface Machine {
  readonly clock: Clock
  readonly cores: Cores
  /** Until a process that sleeps runs after something arrived for it. What arrives meanwhile joins its turn. */
  readonly wake: Micros
}

/**
 * A process with one thread, such as Node's: it takes everything that has arrived since its last turn and works it off in one
 * turn. So messages grow with the load, and what is done once for a message gets cheaper for each request.
 */
export class EventLoop {
  readonly #machine: Machine
  readonly #arrived = new Queue<(turn: Turn) => void>()
  readonly #endings: ((turn: Turn) => void)[]
  #isRunning = false
  busy: Micros = 0
  turns = 0

  /** `endings` run at the end of each turn, such as the flush of what was gathered in it. */
  constructor(machine: Machine, endings: ((turn: Turn) => void)[] = []) {
    this.#machine = machine
    this.#endings = endings
  }

  /** Work that arrives from elsewhere. */
  arrive(work: (turn: Turn) => void): void {
    this.#arrived.add(work)
    if (this.#isRunning) return
    this.#isRunning = true
    const { clock, wake } = this.#machine
    clock.after(wake, () => this.#turn())
  }

  #turn(): void {
    const works = this.#arrived.takeAll()
    this.#isRunning = works.length > 0
    if (!this.#isRunning) return
    this.turns += 1
    let length = 0
    const actions: Action[] = []
    const turn: Turn = {
      spend: (micros) => void (length += micros),
      atEnd: (action) => void actions.push(action)
    }
    for (const work of works) work(turn)
    for (const ending of this.#endings) ending(turn)
    this.#machine.cores.run(length, () => {
      this.busy += length
      for (const action of actions) action()
      this.#turn()
    })
  }
}
