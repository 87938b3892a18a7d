import { setTimeout as delay } from 'node:timers/promises'
import type { Breakage, Link, Side } from '../link.js'
import type { Fault, Mend } from './fault.js'

/** Milliseconds by which a slow link delays each piece, at most. */
const LONGEST_LATENCY = 300
/** Bytes of a piece on a link that dribbles, at most, and of a chunk that is dribbled at all: the rest goes in larger pieces. */
const SHORT_READ = 9
const MOST_PIECES = 200
/** Milliseconds that a fault waits for something that it can hit. */
const OCCASION_MS = 1000
const LOOKS_EVERY_MS = 10

/** Each connection between two parts of the system is reset, closed, refused, silent, slow, or passes a few bytes at a time. */
export function linkFaults(links: readonly Link[]): Fault[] {
  return links.flatMap((link) => {
    const target = link.name
    const on = (kind: string, inject: Fault['inject']): Fault => ({ kind, name: `${kind}, ${target}`, target, inject })
    const ends = (['RST', 'FIN'] as const).flatMap((how) =>
      ([['client'], ['server'], ['client', 'server']] as const).map((told: readonly Side[]) =>
        on(`${how} to ${told.length === 2 ? 'both sides' : `the ${told[0]}`}`, async () => {
          await occasion(() => link.connections > 0)
          const hits = link.connections
          const mend = link.end(told, how)
          return () => {
            mend()
            return Promise.resolve(hits)
          }
        })
      )
    )
    return [
      ...ends,
      on('connections refused', async () => {
        const hits = link.connections
        const mend = await link.refuse()
        return async () => {
          await mend()
          return hits
        }
      }),
      on('black hole', () => broken(link, blackHole(['client', 'server']))),
      on('black hole of requests', () => broken(link, blackHole(['client']))),
      on('black hole of answers', () => broken(link, blackHole(['server']))),
      on('slow', (random) => broken(link, slow(Math.ceil(random() * LONGEST_LATENCY)))),
      on('short reads', (random) => broken(link, dribble(random)))
    ]
  })
}

/** A breakage that counts what it hits. */
export type CountedBreakage = (hit: () => void) => Breakage

/** Breaks a link and counts. One that has hit nothing when it is to be mended waits a little for its occasion. */
export function broken(link: Link, breakage: CountedBreakage): Promise<Mend> {
  let hits = 0
  const mend = link.break(breakage(() => void hits++))
  return Promise.resolve(async () => {
    await occasion(() => hits > 0)
    mend()
    return hits
  })
}

/** Resolves when the condition is met, or when it was not for a while. */
async function occasion(isMet: () => boolean): Promise<void> {
  for (let waited = 0; waited < OCCASION_MS && !isMet(); waited += LOOKS_EVERY_MS) await delay(LOOKS_EVERY_MS)
}

/** What these sides send arrives when the link is mended. */
function blackHole(sides: readonly Side[]): CountedBreakage {
  return (hit) => (mended) => async (bytes, passage) => {
    if (sides.includes(passage.from)) {
      hit()
      await aborted(mended)
    }
    await passage.pass(bytes)
  }
}

function slow(latency: number): CountedBreakage {
  return (hit) => (mended) => async (bytes, passage) => {
    hit()
    await Promise.race([delay(latency), aborted(mended)])
    await passage.pass(bytes)
  }
}

function dribble(random: () => number): CountedBreakage {
  return (hit) => (mended) => async (bytes, passage) => {
    hit()
    let sent = 0
    while (sent < bytes.length && !mended.aborted) {
      const size = Math.max(Math.ceil(random() * SHORT_READ), Math.floor(bytes.length / MOST_PIECES))
      await passage.pass(bytes.subarray(sent, sent + size))
      sent += size
      await delay(1)
    }
    if (sent < bytes.length) await passage.pass(bytes.subarray(sent))
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
