import {
  AskedFamily,
  CounterFamily,
  type MetricFamily,
  type Tally,
  type Timings,
  TimingFamily
} from '../../shared/observe/tallies.js'

/** What the gateway knows of one data service. */
export interface ReplicaState {
  /** IP address and port. */
  readonly address: string
  readonly isServing: boolean
  /** Calls that were sent and have not ended. */
  readonly inFlight: number
  /** Calls that are not sent yet. */
  readonly waiting: number
  /** Whether its stream of calls is open. */
  readonly hasStream: boolean
}

/** Answers that are kept for clients. */
export interface UnsentCounts {
  /** Bytes. */
  readonly held: number
  /** Requests that were refused, by the bound that was reached. */
  readonly refused: Readonly<Record<string, number>>
}

/** An answered request. */
export interface AnsweredRequest {
  /** The template of its route, or what stands for it. */
  readonly route: string
  /** The resource, or the operation of the application; empty for requests of neither. */
  readonly resource: string
  /** One that the router knows. */
  readonly method: string
  /** 0 if the client was gone before there was a status. */
  readonly status: number
}

/** What is counted of the requests of a route, a resource and a method. */
interface RouteCounts {
  readonly timings: Timings
  /** By status. */
  readonly byStatus: Map<number, Tally>
}

/** The metrics of a gateway (docs/operations.md). */
export class GatewayMetrics {
  readonly families: readonly MetricFamily[]
  readonly #requests = new CounterFamily({
    name: 'http_requests_total',
    help: 'Requests that ended, by route template, resource, method and status. The status of a request whose client was gone before its answer began is aborted.',
    labels: ['route', 'resource', 'method', 'status']
  })
  readonly #durations = new TimingFamily({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labels: ['route', 'method']
  })
  readonly #byRoute = new Map<string, Map<string, Map<string, RouteCounts>>>()
  #inFlight = 0
  #connections = (): number => 0
  #unsent: UnsentCounts = { held: 0, refused: {} }

  /** `replicas` is called at each scrape. */
  constructor(replicas: () => readonly ReplicaState[]) {
    const ofReplicas = (value: (replica: ReplicaState) => number) => () =>
      replicas().map((one) => ({ labels: { address: one.address }, value: value(one) }))
    this.families = [
      this.#requests,
      this.#durations,
      new AskedFamily(
        'gauge',
        { name: 'http_requests_in_flight', help: 'Requests that have not ended.', labels: [] },
        () => [{ labels: {}, value: this.#inFlight }]
      ),
      new AskedFamily('gauge', { name: 'http_connections_open', help: 'Connections of clients.', labels: [] }, () => [
        { labels: {}, value: this.#connections() }
      ]),
      new AskedFamily(
        'gauge',
        {
          name: 'uniform_rest_unsent_answer_bytes',
          help: 'Bytes that are kept for answers under way, and for those that their clients have not taken.',
          labels: []
        },
        () => [{ labels: {}, value: this.#unsent.held }]
      ),
      new AskedFamily(
        'counter',
        {
          name: 'uniform_rest_unsent_answers_refused_total',
          help: 'Requests that were refused because earlier answers were not read, by the bound that was reached: connection, address or process.',
          labels: ['bound']
        },
        () => Object.entries(this.#unsent.refused).map(([bound, value]) => ({ labels: { bound }, value }))
      ),
      new AskedFamily(
        'gauge',
        {
          name: 'uniform_rest_data_service_serving',
          help: 'Whether a data service says that it serves: 1 or 0.',
          labels: ['address']
        },
        ofReplicas(({ isServing }) => (isServing ? 1 : 0))
      ),
      new AskedFamily(
        'gauge',
        {
          name: 'uniform_rest_data_service_streams_open',
          help: 'Streams of calls to a data service: 1 or 0. Calls go by unary methods without one.',
          labels: ['address']
        },
        ofReplicas(({ hasStream }) => (hasStream ? 1 : 0))
      ),
      new AskedFamily(
        'gauge',
        {
          name: 'uniform_rest_data_service_calls_in_flight',
          help: 'Calls to a data service that have not ended, exports and calls that wait included.',
          labels: ['address']
        },
        ofReplicas(({ inFlight }) => inFlight)
      ),
      new AskedFamily(
        'gauge',
        {
          name: 'uniform_rest_data_service_calls_waiting',
          help: 'Calls to a data service that are not sent yet.',
          labels: ['address']
        },
        ofReplicas(({ waiting }) => waiting)
      )
    ]
  }

  /** `count` is called at each scrape. */
  countConnections(count: () => number): void {
    this.#connections = count
  }

  /** `counts` is read at each scrape. */
  countUnsent(counts: UnsentCounts): void {
    this.#unsent = counts
  }

  /** Each call must be followed by exactly one `requestEnded`. */
  requestStarted(): void {
    this.#inFlight += 1
  }

  /** `milliseconds`: from the start of the request to the end of its answer. */
  requestEnded(request: AnsweredRequest, milliseconds: number): void {
    this.#inFlight -= 1
    const { timings, byStatus } = this.#countedOf(request)
    timings.add(milliseconds)
    const tally = byStatus.get(request.status)
    if (tally === undefined) byStatus.set(request.status, this.#tallyOf(request))
    else tally.count += 1
  }

  #tallyOf({ status, ...labels }: AnsweredRequest): Tally {
    const tally = this.#requests.of({ ...labels, status: status === 0 ? 'aborted' : String(status) })
    tally.count += 1
    return tally
  }

  #countedOf({ route, resource, method }: AnsweredRequest): RouteCounts {
    const known = this.#byRoute.get(route)?.get(resource)?.get(method)
    if (known !== undefined) return known
    const ofRoute = this.#byRoute.get(route) ?? new Map<string, Map<string, RouteCounts>>()
    const ofResource = ofRoute.get(resource) ?? new Map<string, RouteCounts>()
    const counted = { timings: this.#durations.of({ route, method }), byStatus: new Map<number, Tally>() }
    this.#byRoute.set(route, ofRoute.set(resource, ofResource.set(method, counted)))
    return counted
  }
}
