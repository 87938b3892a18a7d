import { createServer } from 'node:http'
import { RestError } from '@azure/storage-blob'
import { closeLocally, listenLocally } from '../test/harness/local-server.js'
import { startBlobServer } from '../test/gateway/key-ring/blob-server.js'
import { FakeIdentity, FakeVault } from '../test/gateway/key-ring/fake-vault.js'
import type { KeyVaultAddress } from './site.js'
import { PAGE } from './visitors.js'
import { WebhookReceiver } from './webhook-receiver.js'

/** What gateways need besides data services, and where data services send events. */
export interface Neighbours {
  /** The blob of their key ring. */
  readonly ringUrl: string
  /** A renderer of one page. */
  readonly rendererUrl: string
  readonly vault: KeyVault
  readonly receiver: WebhookReceiver
  stop(): Promise<void>
}

/** A stand-in for Azure Key Vault, with real keys, and for the identity that its callers have. */
export interface KeyVault extends KeyVaultAddress {
  /** Adds a version of the key, which wraps from then on; earlier ones unwrap. */
  rotate(): void
  /** Removes the ring that its key has wrapped, so that gateways have to make another one. */
  removeRing(): Promise<void>
  /** The ring as it is stored; empty while there is none. */
  storedRing(): Promise<string>
}

const RING = 'ring.json'

export async function startNeighbours(): Promise<Neighbours> {
  const blobs = await startBlobServer()
  const renderer = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'text/html').end(PAGE)
  })
  const port = await listenLocally(renderer)
  const receiver = await WebhookReceiver.start()
  const vault = await FakeVault.start()
  const identity = await FakeIdentity.start()
  const ring = blobs.container.getBlockBlobClient(RING)
  return {
    ringUrl: (await blobs.blobUrl(RING)).href,
    rendererUrl: `http://127.0.0.1:${port}`,
    vault: {
      // Another name than that of the other neighbours, so that gateways call it alone through a proxy.
      keyUrl: `http://localhost:${new URL(vault.url).port}/keys/ring`,
      identityUrl: identity.url,
      identityHeader: identity.header,
      rotate: () => vault.rotate(),
      async removeRing() {
        await ring.deleteIfExists()
      },
      async storedRing() {
        try {
          return (await ring.downloadToBuffer()).toString('utf8')
        } catch (error) {
          if (error instanceof RestError && error.statusCode === 404) return ''
          throw error
        }
      }
    },
    receiver,
    async stop() {
      await receiver.stop()
      await closeLocally(renderer)
      await vault.stop()
      await identity.stop()
      await blobs.dispose()
    }
  }
}
