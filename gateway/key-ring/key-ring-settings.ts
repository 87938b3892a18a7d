import type { RingLocation } from './ring-location.js'
import type { VaultKey } from './vault-key.js'

/** The two settings of the key ring, each of which may be left out whatever the other one is. */
export interface KeyRingSettings {
  /** undefined: a ring of this process alone. */
  readonly location: RingLocation | undefined
  /** undefined: keys are stored as they are. */
  readonly vaultKey: VaultKey | undefined
}
