import { KeyRing, type Verdict } from '../../../gateway/key-ring/key-ring.js'
import type { KeyEncryption } from '../../../gateway/key-ring/ring-document.js'
import type { RingStore } from '../../../gateway/key-ring/ring-stores.js'
import { RingUpkeep } from '../../../gateway/key-ring/ring-upkeep.js'
import { SharedRing } from '../../../gateway/key-ring/shared-ring.js'
import { ManualClock } from './manual-clock.js'
import { memoryLog } from '../../harness/memory-log.js'

export interface Replica {
  readonly ring: KeyRing
  readonly upkeep: RingUpkeep
  readonly clock: ManualClock
  readonly lines: Record<string, unknown>[]
  /** Whether it accepts what the other one signs now. */
  accepts(other: Replica): Promise<boolean>
}

export const PURPOSE = 'test'
export const MESSAGE = Buffer.from('message')

/** A started replica over a store, with a clock of its own unless one is given. */
export async function startReplica(parts: {
  readonly store: RingStore
  readonly encryption?: KeyEncryption | undefined
  readonly clock?: ManualClock
}): Promise<Replica> {
  const { store, encryption, clock = new ManualClock() } = parts
  const { log, lines } = memoryLog()
  const { now, timer } = clock
  const upkeep = new RingUpkeep({ ring: new SharedRing({ store, encryption, now }), log, now, timer })
  const ring = new KeyRing({ application: 'test', source: upkeep, now })
  await upkeep.start()
  return {
    ring,
    upkeep,
    clock,
    lines,
    accepts: async (other) => (await verdictOn(ring, other.ring)).valid
  }
}

/** What one ring says of what another one signs now. */
export function verdictOn(reader: KeyRing, signer: KeyRing): Promise<Verdict> {
  return reader.verify(PURPOSE, MESSAGE, signer.sign(PURPOSE, MESSAGE))
}
