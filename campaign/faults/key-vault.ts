import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Link } from '../link.js'
import type { KeyVault } from '../neighbours.js'
import type { Site } from '../site.js'
import { cutFaults } from './cuts.js'
import type { Fault, Mend } from './fault.js'
import { linkFaults } from './links.js'
import { rejections, wrongAnswers } from './wrong-answers.js'

/** Milliseconds between two questions that make a gateway look at its ring. */
const ASKS_EVERY_MS = 100
/** In milliseconds. */
interface Times {
  /** How long a fault lasts at least: a gateway looks once a second at most. */
  readonly lasts: number
  /** Within which a gateway makes a ring again whose vault is whole. Another fault of a pair may hold it up. */
  readonly madeWithin: number
}

const TIMES: Times = { lasts: 1500, madeWithin: 120_000 }

/** What happens to the links, under what a reader of the verdict wants to know. */
const KINDS: Readonly<Record<string, RegExp>> = {
  gone: /^connections refused/,
  slow: /^(?:black hole|slow|short reads)/,
  cut: /^cut/,
  wrong: /^answers/
}

/**
 * The key vault, and the endpoint of the identity that a gateway needs for it, are gone, slow, cut and wrong for one gateway.
 * A gateway needs them when it starts and when its ring has a key that it does not know, both of which are rare. So each fault
 * brings about one or the other: the ring is removed, as an operator does whose keys have become known, or the gateway is
 * killed and starts without its vault. The target is the gateway: which of its links is broken is part of what happens.
 */
export function keyVaultFaults(
  { vaultLinks, gateways, urls }: Pick<Site, 'vaultLinks' | 'gateways' | 'urls'>,
  vault: RemovableRing,
  times = TIMES
): Fault[] {
  const ofLinks = vaultLinks.flatMap((links, n) => {
    const [gateway, url] = [gateways[n], urls[n]]
    if (gateway === undefined || url === undefined) throw new RangeError(`There is no gateway ${n}`)
    const target = gateway.name
    return waysToBreak(links).flatMap((way): Fault[] => [
      {
        kind: `key vault ${way.kind}`,
        name: `key vault ${way.kind}, ${way.fault.name}`,
        target,
        inject: async (random) => whileAsked(await way.fault.inject(random), { url, vault, times })
      },
      {
        kind: 'start without the key vault',
        name: `start without the key vault, ${way.fault.name}`,
        target,
        async inject(random) {
          await gateway.kill()
          const mend = await way.fault.inject(random)
          try {
            await gateway.startOnce()
          } catch (error) {
            await mend()
            await gateway.start()
            throw error
          }
          return mend
        }
      }
    ])
  })
  return [...ofLinks, rotation(urls, { vault, times })]
}

type RemovableRing = Pick<KeyVault, 'rotate' | 'removeRing' | 'storedRing'>

/** What a gateway is made to use its vault with. */
interface Asking {
  readonly vault: RemovableRing
  readonly times: Times
}

/** Not by RST and FIN on idle connections: the clients have none that stand when nothing is asked. */
function waysToBreak(links: readonly Link[]): { readonly kind: string; readonly fault: Fault }[] {
  const faults = [...linkFaults(links), ...cutFaults(links), ...wrongAnswers(links), ...rejections(links)]
  return Object.entries(KINDS).flatMap(([kind, pattern]) =>
    faults.filter((fault) => pattern.test(fault.kind)).map((fault) => ({ kind, fault }))
  )
}

/** The vault has a new version of its key, by which the next ring is wrapped, and gateways meet rings of both versions. */
function rotation(urls: readonly string[], asking: Asking): Fault {
  const kind = 'key vault rotated'
  return {
    kind,
    name: kind,
    target: 'the key vault',
    async inject(random) {
      asking.vault.rotate()
      const url = urls[Math.floor(random() * urls.length)] ?? ''
      return whileAsked(() => Promise.resolve(1), { url, ...asking })
    }
  }
}

/**
 * Removes the ring, and has the gateway look for it, again and again until the fault is mended. Then the gateway has to make a
 * wrapped ring: the mend rejects where none is stored.
 */
async function whileAsked(mend: Mend, { url, vault, times }: Asking & { readonly url: string }): Promise<Mend> {
  const over = new AbortController()
  const looked = delay(times.lasts)
  const asking = (async () => {
    while (!over.signal.aborted) {
      await vault.removeRing()
      await askWithUnknownKey(url, over.signal)
      await delay(ASKS_EVERY_MS)
    }
  })()
  return async () => {
    await looked
    const hits = await mend()
    over.abort()
    await asking
    const ring = await ringOf({ url, vault, times })
    if (ring.includes('"secret"')) throw new Error('A key lies unwrapped in the ring')
    return hits
  }
}

/** The ring that is stored when the gateway has looked for it. Rejects if there is none for too long. */
async function ringOf({ url, vault, times: { madeWithin } }: Asking & { readonly url: string }): Promise<string> {
  const late = AbortSignal.timeout(madeWithin)
  while (!late.aborted) {
    await askWithUnknownKey(url, late)
    const ring = await vault.storedRing()
    if (ring !== '') return ring
    await delay(ASKS_EVERY_MS)
  }
  throw new Error(`The vault is whole, and no ring was stored within ${madeWithin} ms`)
}

/** Fetches an antiforgery token with a cookie that names a key of nobody, for which a gateway looks at its ring again. */
async function askWithUnknownKey(url: string, signal: AbortSignal): Promise<void> {
  const value = `${randomBytes(12).toString('base64url')}.${randomBytes(64).toString('base64url')}`
  await fetch(`${url}/auth/antiforgery`, { headers: { cookie: `app_antiforgery=${value}` }, signal })
    .then((answer) => answer.arrayBuffer())
    .catch(() => undefined)
}
