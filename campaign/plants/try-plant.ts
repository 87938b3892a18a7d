import { checkers } from '../checkers/all.js'
import type { Checker, Verdict } from '../checkers/checker.js'
import { showTo } from '../checkers/tool-calls.js'
import { Client, streamOf } from '../client.js'
import { faultsOf } from '../faults/all.js'
import { breakThings } from '../faults/break-things.js'
import type { Fault } from '../faults/fault.js'
import { planOf } from '../faults/plan.js'
import type { Delivery, Exchange, HistoryLine, Injury } from '../history.js'
import { workloads } from '../workload/all.js'
import type { Workload } from '../workload/workload.js'
import type { Plant } from './plant.js'
import type { PlantedSite } from './planted-site.js'

/** A checker that went red, or that was not tried. */
export interface Red extends Verdict {
  /** The class of the checker. */
  readonly checker: string
}

/** What became of a fault. */
export interface Tried {
  /** Requests until a checker went red, or all that were sent. */
  readonly requests: number
  readonly red: readonly Red[]
}

/** Requests after which the checkers judge for the first time. Each round doubles what was sent so far. */
const FIRST_ROUND = 50

/** So many clients in place of one. */
const CROWD = 3

/** Milliseconds between the faults that a planted one needs, as `Run.pace` says. */
const PACE = 200

/** A client that does not think between its requests, so that more of them meet. */
class Hurried extends Client {
  override think(): Promise<void> {
    return Promise.resolve()
  }
}

/**
 * Lets the clients of some workloads work, with no other faults than those that it names, until the checker goes red or `limit`
 * requests were sent, and a few more. The clients rest while the checkers judge, and everything is mended.
 */
export async function tryPlant(
  planted: PlantedSite,
  of: {
    readonly workloads: readonly string[]
    readonly seed: number
    readonly limit: number
    /** The class of the checker that has to find something: the others may go red before it. Default: any. */
    readonly checker?: string
    /** As `Plant.faults` says. */
    readonly faults?: readonly string[]
    /** Default: true. Without, there are as many clients as in a campaign, and they think: nothing takes too long. */
    readonly inHurry?: boolean
  }
): Promise<Tried> {
  const { inHurry = true } = of
  const chosen = workloads().filter(({ name }) => of.workloads.includes(name))
  if (chosen.length < of.workloads.length) throw new Error(`Not all of ${of.workloads.join()} are workloads.`)
  const exchanges: Exchange[] = []
  const injuries: Injury[] = []
  const deliveries: Delivery[] = []
  const history = {
    add(line: HistoryLine): Promise<void> {
      if ('exchange' in line) exchanges.push(line.exchange)
      else if ('injury' in line) injuries.push(line.injury)
      return Promise.resolve()
    }
  }
  const began = performance.now()
  const now = (): number => performance.now() - began
  const stopRecording = planted.receiver.record({
    add: (delivery) => Promise.resolve(void deliveries.push(delivery)),
    now,
    random: streamOf(of.seed, 'webhook')
  })
  const clients: Client[] = []
  const clientOf = (workload: Workload, name: string): Client => {
    const client = new (inHurry ? Hurried : Client)(`${workload.name}-${name}`, {
      workload: workload.name,
      site: planted.site,
      history,
      now,
      seed: of.seed
    })
    clients.push(client)
    return client
  }
  const plan = planOf(faultsNamed(planted, of.faults ?? []), {
    seed: Math.floor(streamOf(of.seed, 'faults')() * 2 ** 32),
    pace: PACE,
    pairs: 0
  })
  /** Breaks things for as long as it is not told to end. */
  const breaking = async (isOver: () => boolean): Promise<void> => {
    const watch = {
      breaks: () => () => undefined,
      report(finding: string): never {
        throw new Error(finding)
      }
    }
    await breakThings(plan, {
      goesOn: () => !isOver(),
      now,
      history,
      watch,
      services: planted.site.services.length
    })
  }
  try {
    for (const workload of chosen) await workload.prepare(clientOf(workload, 'prepare'))
    const working = chosen.flatMap((workload) =>
      Array.from({ length: (inHurry ? CROWD : 1) * workload.clients }, (_, n) => ({
        workload,
        client: clientOf(workload, String(n))
      }))
    )
    for (let target = FIRST_ROUND; ; target = Math.min(of.limit, 2 * target)) {
      const isOver = (): boolean => exchanges.length >= target
      await Promise.all([
        breaking(isOver),
        ...working.map(async ({ workload, client }) => {
          while (!isOver()) await workload.step(client)
        })
      ])
      await planted.receiver.drain(planted.rows, new AbortController().signal)
      const red = await judged(checkers(), { exchanges, injuries, deliveries }, planted)
      const isFound = red.some(({ checker }) => checker === (of.checker ?? checker))
      if (isFound || target === of.limit) return { requests: exchanges.length, red }
    }
  } finally {
    for (const client of clients) client.end()
    stopRecording()
  }
}

function faultsNamed({ site, database }: PlantedSite, texts: readonly string[]): readonly Fault[] {
  if (texts.length === 0) return []
  const found = faultsOf(site, database).filter(({ name }) => texts.some((text) => name.includes(text)))
  if (found.length === 0) throw new Error(`There is no fault whose name includes ${texts.join(' or ')}.`)
  return found
}

async function judged(
  checkers: readonly Checker[],
  {
    exchanges,
    injuries,
    deliveries
  }: {
    readonly exchanges: readonly Exchange[]
    readonly injuries: readonly Injury[]
    readonly deliveries: readonly Delivery[]
  },
  { rows }: PlantedSite
): Promise<readonly Red[]> {
  const red: Red[] = []
  for (const checker of checkers) {
    for (const exchange of exchanges) showTo([checker], exchange)
    for (const injury of injuries) checker.hurt?.(injury)
    for (const delivery of deliveries) checker.deliver?.(delivery)
    const verdict = await checker.judge(rows)
    if (verdict.violations.length > 0) red.push({ checker: checker.constructor.name, ...verdict })
  }
  return red
}

/** Why a fault was not found as it has to be; undefined if it was. */
export function whyNotFound(
  { name, checker }: Pick<Plant, 'name' | 'checker'>,
  { requests, red }: Tried
): string | undefined {
  if (red.some((one) => one.checker === checker)) return undefined
  const others = red.map((one) => `${one.checker} (${one.violations[0]?.what ?? ''})`)
  return others.length === 0
    ? `${name} was not found by ${checker} in ${requests} requests.`
    : `${name} was found by ${others.join(' and ')} alone, and has to be by ${checker}.`
}
