import type { Touch } from '../history.js'
import type { Fault } from './fault.js'

/** Where a fault may be felt. */
export interface Reach {
  /** What clients may see of it; none for what no answer depends on. */
  readonly touches: readonly Touch[]
  /** Whether a member of the system, `gateway-1`, may log errors for it. */
  isHeardBy(member: string): boolean
  /** Milliseconds for which it may be heard after it was mended. */
  readonly settles: number
}

/** Milliseconds until a gateway that listens again, and its clients, are as before. */
const GATEWAY_SETTLES_MS = 2000
/** Calls go to the other data services meanwhile; connections are made anew by a backoff. */
const CALLS_SETTLE_MS = 5000
/** Pools find out which of their connections are dead, and members of a cluster where it stands. */
const DATABASE_SETTLES_MS = 10_000

/**
 * Where a fault may be felt, by what the contract says of its target: sections 1 (replicas), 4 (the second store), 5 (locks) and 8
 * (the key ring, the renderer). `services` is how many data services there are. Throws for a target that it does not know.
 */
export function reachOf({ kind, target }: Pick<Fault, 'kind' | 'target'>, services: number): Reach {
  const gateway = numberIn(/gateway-(\d+)/, target)
  const service = numberIn(/data-service-(\d+)/, target)
  // A per-process key serves meanwhile, and nothing that clients of the history ask for comes from the renderer.
  if (kind.startsWith('key vault ') || /to the (?:blob store|renderer)$/.test(target))
    return { touches: [], isHeardBy: ownOf(target), settles: GATEWAY_SETTLES_MS }
  if (/^clients to gateway-\d+$/.test(target))
    return felt(GATEWAY_SETTLES_MS, { gateway, brings: ['lost'] }, isServiceOr(`gateway-${gateway}`))
  if (/^gateway-\d+$/.test(target))
    return felt(GATEWAY_SETTLES_MS, { gateway, brings: ['lost', 'failed'] }, isServiceOr(target))
  if (/^gateway-\d+ to data-service-\d+$/.test(target)) {
    const ends = [`gateway-${gateway}`, `data-service-${service}`]
    return felt(CALLS_SETTLE_MS, { gateway, brings: ['failed'] }, (member) => ends.includes(member))
  }
  if (/^data-service-\d+$/.test(target)) {
    // A replica that drains or dies costs no request that may be sent again, where there is another. One that is frozen keeps what it has.
    const isSpared = services > 1 && (kind === 'SIGKILL' || kind === 'SIGTERM')
    const spared = isSpared ? ({ of: 'not sent again', service } as const) : {}
    return felt(CALLS_SETTLE_MS, { brings: ['failed'], ...spared })
  }
  if (/^data-service-\d+ to the second store$/.test(target))
    return felt(DATABASE_SETTLES_MS, { brings: ['failed'], of: 'second store' })
  if (/^data-service-\d+ to the database$/.test(target) || target === 'the database')
    return felt(DATABASE_SETTLES_MS, { brings: ['failed'] })
  throw new Error(`Nobody has said where ${kind} of ${target} may be felt.`)
}

function felt(settles: number, touch: Omit<Touch, 'settles'>, isHeardBy: Reach['isHeardBy'] = () => true): Reach {
  return { touches: [{ ...touch, settles }], isHeardBy, settles }
}

function isServiceOr(gateway: string): Reach['isHeardBy'] {
  return (member) => member === gateway || member.startsWith('data-service-')
}

/** The gateway that a target begins with; every one for what is of none of them. */
function ownOf(target: string): Reach['isHeardBy'] {
  const [name] = /^gateway-\d+/.exec(target) ?? []
  return (member) => member === name || (name === undefined && member.startsWith('gateway-'))
}

/** -1 where there is none. */
function numberIn(pattern: RegExp, text: string): number {
  return Number(pattern.exec(text)?.[1] ?? -1)
}
