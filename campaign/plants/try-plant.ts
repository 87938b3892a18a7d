import { randomNumbers } from '../../test/runner/random.js'
import { checkers } from '../checkers/all.js'
import type { Checker, Verdict } from '../checkers/checker.js'
import { Client } from '../client.js'
import type { Exchange, HistoryLine } from '../history.js'
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

/** A client that does not think between its requests, so that more of them meet. */
class Hurried extends Client {
  override think(): Promise<void> {
    return Promise.resolve()
  }
}

/**
 * Lets the clients of some workloads work, without any other fault, until the checker goes red or `limit` requests were sent, and
 * a few more. The clients rest while the checkers judge.
 */
export async function tryPlant(
  planted: PlantedSite,
  of: {
    readonly workloads: readonly string[]
    readonly seed: number
    readonly limit: number
    /** The class of the checker that has to find something: the others may go red before it. Default: any. */
    readonly checker?: string
    /** Default: true. Without, there are as many clients as in a campaign, and they think: nothing takes too long. */
    readonly inHurry?: boolean
  }
): Promise<Tried> {
  const { inHurry = true } = of
  const chosen = workloads().filter(({ name }) => of.workloads.includes(name))
  if (chosen.length < of.workloads.length) throw new Error(`Not all of ${of.workloads.join()} are workloads.`)
  const exchanges: Exchange[] = []
  const history = {
    add(line: HistoryLine): Promise<void> {
      if ('exchange' in line) exchanges.push(line.exchange)
      return Promise.resolve()
    }
  }
  const began = performance.now()
  const now = (): number => performance.now() - began
  const clients: Client[] = []
  const clientOf = (workload: Workload, name: string): Client => {
    const random = randomNumbers(of.seed + clients.length)
    const client = new (inHurry ? Hurried : Client)(`${workload.name}-${name}`, {
      workload: workload.name,
      site: planted.site,
      history,
      now,
      random
    })
    clients.push(client)
    return client
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
      await Promise.all(
        working.map(async ({ workload, client }) => {
          while (exchanges.length < target) await workload.step(client)
        })
      )
      const red = await judged(checkers(), exchanges, planted)
      const isFound = red.some(({ checker }) => checker === (of.checker ?? checker))
      if (isFound || target === of.limit) return { requests: exchanges.length, red }
    }
  } finally {
    for (const client of clients) client.end()
  }
}

async function judged(
  checkers: readonly Checker[],
  exchanges: readonly Exchange[],
  { rows }: PlantedSite
): Promise<readonly Red[]> {
  const red: Red[] = []
  for (const checker of checkers) {
    for (const exchange of exchanges) checker.see(exchange)
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
