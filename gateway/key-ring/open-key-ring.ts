import type { Logger } from '../../shared/logger.js'
import { loadOptional } from '../../shared/optional-package.js'
import { KeyRing, processRing } from './key-ring.js'
import type { KeyEncryption } from './ring-document.js'
import type { KeyRingSettings, RingLocation, VaultKey } from './ring-settings.js'
import { FileStore, type RingStore } from './ring-stores.js'
import { RingUpkeep } from './ring-upkeep.js'
import { SharedRing } from './shared-ring.js'

interface OpenKeyRing {
  readonly ring: KeyRing
  /** Stops reading the shared ring. */
  close(): void
}

/** Opens the ring that the settings ask for. It opens even if the store or the vault cannot be reached. */
export async function openKeyRing(
  { location, vaultKey, application }: KeyRingSettings,
  { log, now }: { readonly log: Logger; readonly now: () => Date }
): Promise<OpenKeyRing> {
  if (location === undefined) {
    log.warn(
      'DATA_PROTECTION_BLOB_STORAGE_URI is not set: the key ring is of this process alone, and other replicas do not accept its antiforgery tokens'
    )
    return { ring: processRing(now), close: () => undefined }
  }
  const store = await storeAt(location)
  const encryption = vaultKey === undefined ? undefined : await encryptionBy(vaultKey)
  const upkeep = new RingUpkeep({ ring: new SharedRing({ store, encryption, now }), log, now })
  await upkeep.start()
  log.info({ keyRing: store.place, wrappedBy: encryption?.place, keys: upkeep.keys().length }, 'key ring open')
  return { ring: new KeyRing({ application, source: upkeep, now }), close: () => upkeep.close() }
}

/** The clients of Azure are loaded only if a setting needs them. */
function loadAzure(setting: string) {
  const packages = ['@azure/core-rest-pipeline', '@azure/identity', '@azure/keyvault-keys', '@azure/storage-blob']
  return loadOptional({ neededBy: setting, packages }, () => import('./azure.js'))
}

async function storeAt(location: RingLocation): Promise<RingStore> {
  if ('file' in location) return new FileStore(location.file)
  const { BlobStore } = await loadAzure('DATA_PROTECTION_BLOB_STORAGE_URI')
  return BlobStore.at(location.blob)
}

async function encryptionBy(key: VaultKey): Promise<KeyEncryption> {
  const { VaultEncryption } = await loadAzure('DATA_PROTECTION_KEY_VAULT_KEY_URI')
  return VaultEncryption.by(key)
}
