import { mkdir } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Checker, Rows, Verdict } from './checkers/checker.js'
import { showTo } from './checkers/tool-calls.js'
import { Load } from './checkers/answers/load.js'
import { Client, streamOf } from './client.js'
import { breakThings } from './faults/break-things.js'
import type { Fault } from './faults/fault.js'
import { planOf } from './faults/plan.js'
import { HistoryFile, type HistoryLine, type Injury, readHistory } from './history.js'
import type { Memory } from './member.js'
import { type Recovery, recoveryOf } from './recovery.js'
import type { Site } from './site.js'
import { visit } from './visitors.js'
import { Watch } from './watch.js'
import type { WebhookReceiver } from './webhook-receiver.js'
import type { Workload } from './workload/workload.js'

/** What a run is made of. */
export interface Run {
  /** Chooses requests, faults and their moments. How they meet depends on the machine, so a run repeats in its plan alone. */
  readonly seed: number
  /** How long clients work and things break. */
  readonly seconds: number
  /** Whether it goes on, past its time, until each kind of fault had its turn. Default: it does not. */
  readonly eachFault?: boolean
  /** Milliseconds of peace between faults at most, and half of what one lasts at most. Default: 2000. */
  readonly pace?: number
  /** How often a second thing breaks at the same time, from 0 to 1. Default: 0.4. */
  readonly pairs?: number
  /** Milliseconds at the end, when nothing of the last faults is felt any more. Default: 3000. */
  readonly lastQuiet?: number
  readonly site: Site
  /** Where the site sends its events. Default: it sends none. */
  readonly receiver?: WebhookReceiver
  readonly rows: Rows
  readonly workloads: readonly Workload[]
  /** None for a run in which nothing breaks. */
  readonly faults: readonly Fault[]
  readonly checkers: readonly Checker[]
  /** Where `history.jsonl` is written. */
  readonly folder: string
  /** Aborted when somebody ends the run, which rejects then with the reason. */
  readonly interrupted: AbortSignal
  progress(line: string): void
}

/** What the history says. */
export interface Judgement {
  readonly exchanges: number
  readonly lost: number
  /** Of each fault, how often it was injected, and how often it hit something. */
  readonly injuries: Readonly<Record<string, { readonly times: number; readonly hits: number }>>
  readonly verdicts: readonly (Verdict & Pick<Checker, 'title' | 'promise'>)[]
}

/** What came of a run. */
export interface Outcome extends Judgement {
  readonly recovery: readonly Recovery[]
  /** What must not have happened, besides broken promises: a process that ended by itself, a gateway that did not recover. */
  readonly findings: readonly string[]
  /** What was logged as unforeseen while something was broken. */
  readonly unforeseen: Watch['unforeseen']
  /** What was logged as an error while nothing was broken and the machine was overloaded; absent in verdicts of before. */
  readonly overload?: Watch['overload']
  /** Of each process, the seconds in which it might log no error; absent in verdicts of before. */
  readonly quiet?: Watch['quiet']
  /** Of each process at the end. */
  readonly memory: Readonly<Record<string, Memory>>
}

const PROGRESS_MS = 10_000
const PACE_MS = 2000
const PAIRS = 0.4
/** Milliseconds of a peace in which everything recovers and is then whole for a while: the pace times this. */
const QUIET_PACES = 12.5
const LAST_QUIET_MS = 3000

/** Processes that want to run, for each core, above which a machine is overloaded, whatever few clients have seen of it so far. */
const BUSY = 4

function isMachineBusy(): boolean {
  const [ofLastMinute = 0] = loadavg()
  return ofLastMinute > BUSY * availableParallelism()
}

/** Lets clients work while things break, waits until all is mended and answered, and has the checkers judge. */
export async function run({ seed, seconds, site, faults, ...run }: Run): Promise<Outcome> {
  await mkdir(run.folder, { recursive: true })
  const history = new HistoryFile(join(run.folder, 'history.jsonl'))
  const began = performance.now()
  const now = (): number => performance.now() - began
  const clients: Client[] = []
  const load = new Load()
  const written = {
    add(line: HistoryLine): Promise<void> {
      if ('exchange' in line) load.see(line.exchange)
      return history.add(line)
    }
  }
  const clientOf = (name: string, workload: string): Client => {
    const client = new Client(name, { workload, site, history: written, now, seed })
    clients.push(client)
    return client
  }
  const over = new AbortController()
  const members = [...site.gateways, ...site.services]
  const watch = new Watch(members, () => load.isHigh || isMachineBusy())
  const progress = setInterval(
    () => run.progress(`${Math.round(now() / 1000)} s: ${history.exchanges} requests`),
    PROGRESS_MS
  )
  const memory: Record<string, Memory> = {}
  let recovery: Recovery[] = []
  const stopRecording = run.receiver?.record({
    add: (delivery) => history.add({ delivery }),
    now,
    random: streamOf(seed, 'webhook')
  })
  const working: Promise<void>[] = []
  try {
    working.push(visit(site, over.signal))
    for (const workload of run.workloads) await workload.prepare(clientOf(`${workload.name}-prepare`, workload.name))
    for (const workload of run.workloads) {
      for (let n = 0; n < workload.clients; n++) {
        const client = clientOf(`${workload.name}-${n}`, workload.name)
        working.push(
          (async () => {
            try {
              while (!over.signal.aborted) await workload.step(client)
            } catch (error) {
              watch.report(`${client.name} could not go on: ${error instanceof Error ? error.stack : String(error)}`)
            }
          })()
        )
      }
    }
    const end = now() + seconds * 1000
    const plan = planOf(faults, {
      seed: Math.floor(streamOf(seed, 'faults')() * 2 ** 32),
      pace: run.pace ?? PACE_MS,
      pairs: run.pairs ?? PAIRS,
      quiet: QUIET_PACES * (run.pace ?? PACE_MS)
    })
    const kinds = new Set(run.eachFault === true ? faults.map(({ kind }) => kind) : [])
    const goesOn = (peace: number, next: readonly Fault[]): boolean => {
      if (now() + peace >= end && kinds.size === 0) return false
      for (const { kind } of next) kinds.delete(kind)
      return true
    }
    const services = site.services.length
    const isWhole = await Promise.race([
      breakThings(plan, { goesOn, now, history, watch, services }),
      failureOf(working),
      aborted(run.interrupted)
    ])
    if (isWhole)
      await delay(Math.max(watch.settlesIn + (run.lastQuiet ?? LAST_QUIET_MS), end - now()), undefined, {
        signal: run.interrupted
      })
    over.abort()
    const recovered = await Promise.all(
      site.urls.map((_, n) => recoveryOf(n, clientOf(`recovery-${n}`, 'recovery'), site))
    )
    recovery = recovered.map((one) => one.recovery)
    const missing = recovered.flatMap(({ findings }) => findings)
    for (const finding of missing) watch.report(finding)
    if (missing.length > 0) watch.reportWarnings()
    await Promise.all(working)
    await run.receiver?.drain(run.rows, run.interrupted)
    for (const member of members) {
      const used = await member.memory()
      if (used !== undefined) memory[member.name] = used
    }
  } finally {
    over.abort()
    await Promise.allSettled(working)
    clearInterval(progress)
    watch.end()
    for (const client of clients) client.end()
    stopRecording?.()
    await history.end()
  }
  // While everything recovers, and the last requests end, nobody else looks.
  run.interrupted.throwIfAborted()
  const judged = await judge(history.path, run.checkers, run.rows)
  const { findings, unforeseen, overload, quiet } = watch
  return { ...judged, recovery, findings, unforeseen, overload, quiet, memory }
}

/** Reads the history once for all checkers. */
export async function judge(path: string, checkers: readonly Checker[], rows: Rows): Promise<Judgement> {
  let [exchanges, lost] = [0, 0]
  const injuries: Record<string, { times: number; hits: number }> = {}
  const open = new Map<string, Injury>()
  for await (const line of readHistory(path)) {
    if ('begun' in line) {
      open.set(`${line.begun.from} ${line.begun.fault}`, line.begun)
      continue
    }
    if ('injury' in line) {
      const { fault, from, hits = 0 } = line.injury
      open.delete(`${from} ${fault}`)
      const before = injuries[fault] ?? { times: 0, hits: 0 }
      injuries[fault] = { times: before.times + 1, hits: before.hits + hits }
      for (const checker of checkers) checker.hurt?.(line.injury)
      continue
    }
    if ('delivery' in line) {
      for (const checker of checkers) checker.deliver?.(line.delivery)
      continue
    }
    exchanges++
    if (line.exchange.answer === undefined) lost++
    showTo(checkers, line.exchange)
  }
  for (const injury of open.values()) for (const checker of checkers) checker.hurt?.(injury)
  const verdicts: Judgement['verdicts'][number][] = []
  for (const checker of checkers) {
    const { title, promise } = checker
    verdicts.push({ title, promise, ...(await checker.judge(rows)) })
  }
  return { exchanges, lost, injuries, verdicts }
}

/** Rejects with the reason when it is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    if (signal.aborted) reject(signal.reason as Error)
  })
}

/** Rejects when one of them does. */
async function failureOf(working: readonly Promise<void>[]): Promise<boolean> {
  await Promise.all(working)
  return true
}
