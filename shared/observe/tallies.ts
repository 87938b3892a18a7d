// Metrics as plain numbers. What is counted on every request is one addition to an object that was found before: the
// labels are read when somebody asks for the metrics, and never while a request is served.

/** A number that only grows. */
export class Tally {
  count = 0
}

/** Upper bounds of the buckets of every histogram, in seconds. A read by id takes about a millisecond. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** Durations, each counted in the first of the buckets `SECONDS` that holds it, the last of which has no bound. */
export class Timings {
  readonly counts: number[] = Array<number>(SECONDS.length + 1).fill(0)
  /** Seconds in all. */
  sum = 0

  /** `milliseconds` as a difference of `performance.now()`. */
  add(milliseconds: number): void {
    const seconds = milliseconds / 1000
    let at = 0
    while (at < SECONDS.length && seconds > (SECONDS[at] ?? Infinity)) at += 1
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += seconds
  }
}

export type LabelValues<Label extends string> = Readonly<Record<Label, string>>

/** What is said of a metric. `name` and `help` follow the conventions of Prometheus. */
export interface Described<Label extends string> {
  readonly name: string
  readonly help: string
  /** The values of each have to be bounded: a route or a resource, and never an id or a path. */
  readonly labels: readonly Label[]
}

/** One value of a metric with its labels. */
export interface Sample<Value> {
  readonly labels: Readonly<Record<string, string>>
  readonly value: Value
}

/** The members of a family by the values of their labels. Callers keep the members that they count with. */
class FamilyMembers<Label extends string, Member> {
  readonly #labels: readonly Label[]
  readonly #make: () => Member
  readonly #members = new Map<string, Sample<Member>>()

  constructor(labels: readonly Label[], make: () => Member) {
    this.#labels = labels
    this.#make = make
  }

  of(labels: LabelValues<Label>): Member {
    const key = this.#labels.map((label) => labels[label]).join('\n')
    const known = this.#members.get(key)
    if (known !== undefined) return known.value
    const value = this.#make()
    this.#members.set(key, { labels, value })
    return value
  }

  samples(): readonly Sample<Member>[] {
    return [...this.#members.values()]
  }
}

/** A counter whose members are counted with. */
export class CounterFamily<Label extends string = string> {
  readonly kind = 'counter'
  readonly about: Described<Label>
  readonly #members: FamilyMembers<Label, Tally>

  constructor(about: Described<Label>) {
    this.about = about
    this.#members = new FamilyMembers(about.labels, () => new Tally())
  }

  /** Makes it with the value 0 at the first call. */
  of(labels: LabelValues<Label>): Tally {
    return this.#members.of(labels)
  }

  samples(): readonly Sample<number>[] {
    return this.#members.samples().map(({ labels, value }) => ({ labels, value: value.count }))
  }
}

/** A histogram of durations. */
export class TimingFamily<Label extends string = string> {
  readonly kind = 'histogram'
  readonly about: Described<Label>
  readonly #members: FamilyMembers<Label, Timings>

  constructor(about: Described<Label>) {
    this.about = about
    this.#members = new FamilyMembers(about.labels, () => new Timings())
  }

  of(labels: LabelValues<Label>): Timings {
    return this.#members.of(labels)
  }

  samples(): readonly Sample<Timings>[] {
    return this.#members.samples()
  }
}

/** Values that are asked for when somebody asks for the metrics: how much there is of something, or what others count. */
export class AskedFamily<Label extends string = string> {
  readonly kind: 'gauge' | 'counter'
  readonly about: Described<Label>
  readonly samples: () => readonly Sample<number>[]

  constructor(
    kind: 'gauge' | 'counter',
    about: Described<Label>,
    samples: () => readonly { readonly labels: LabelValues<Label>; readonly value: number }[]
  ) {
    this.kind = kind
    this.about = about
    this.samples = samples
  }
}

export type MetricFamily = CounterFamily | TimingFamily | AskedFamily
