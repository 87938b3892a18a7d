import { type MetricFamily, SECONDS, type Timings } from './tallies.js'

/** Writes the metrics of a process. */
export interface MetricsText {
  /** `text/plain; version=0.0.4; charset=utf-8`. */
  readonly contentType: string
  write(): Promise<string>
}

/**
 * The families and Node's own metrics (`process_*`, `nodejs_*`) in the text format of Prometheus. The library is loaded
 * here, so that a process without an admin port does without it.
 */
export async function openMetrics(families: readonly MetricFamily[]): Promise<MetricsText> {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  /** The library has no way to set a histogram to what was counted elsewhere. */
  class CountedHistogram extends Histogram {
    readonly #name: string
    readonly #help: string
    readonly #family: MetricFamily & { readonly kind: 'histogram' }

    constructor(one: MetricFamily & { readonly kind: 'histogram' }) {
      const { name, help, labels } = one.about
      super({ name, help, labelNames: [...labels], buckets: [...SECONDS], registers: [] })
      this.#name = name
      this.#help = help
      this.#family = one
    }

    override get(): ReturnType<InstanceType<typeof Histogram>['get']> {
      const values = this.#family.samples().flatMap(({ labels, value }) => bucketValues(this.#name, labels, value))
      // The declaration of the library makes the type of a metric a number; it writes and reads its name.
      return Promise.resolve({
        name: this.#name,
        help: this.#help,
        type: 'histogram',
        aggregator: 'sum',
        values
      } as never)
    }

    /** The library asks for this form when it writes text. */
    getForPromString(): ReturnType<InstanceType<typeof Histogram>['get']> {
      return this.get()
    }
  }

  const metricOf = (one: MetricFamily): Parameters<typeof registry.registerMetric>[0] => {
    if (one.kind === 'histogram') return new CountedHistogram(one)
    const { name, help, labels } = one.about
    const about = { name, help, labelNames: [...labels], registers: [] }
    return one.kind === 'counter'
      ? new Counter({
          ...about,
          collect() {
            this.reset()
            for (const { labels: of, value } of one.samples()) this.inc(of, value)
          }
        })
      : new Gauge({
          ...about,
          collect() {
            this.reset()
            for (const { labels: of, value } of one.samples()) this.set(of, value)
          }
        })
  }
  for (const one of families) registry.registerMetric(metricOf(one))
  return { contentType: registry.contentType, write: () => registry.metrics() }
}

interface BucketValue {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** Each bucket counts what is in those below it too. */
function bucketValues(name: string, labels: Readonly<Record<string, string>>, { counts, sum }: Timings): BucketValue[] {
  let count = 0
  const buckets = counts.map((inBucket, at) => {
    count += inBucket
    return { metricName: `${name}_bucket`, labels: { ...labels, le: SECONDS[at] ?? '+Inf' }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count }
  ]
}
