import { BlockBlobClient, RestError, type StoragePipelineOptions } from '@azure/storage-blob'
import type { RingStore, StoredRing } from './ring-store.js'

/** Milliseconds that a call may take. */
const TIME_OUT = 4000

/** Trying again is up to whoever asks, who knows what to do meanwhile. */
const PIPELINE: StoragePipelineOptions = { retryOptions: { maxTries: 1 } }

/** The ring as one blob, whose entity tag tells its states apart. */
export class BlobStore implements RingStore {
  readonly place: string
  readonly #blob: BlockBlobClient

  constructor(blob: BlockBlobClient) {
    const { origin, pathname } = new URL(blob.url)
    this.place = origin + pathname
    this.#blob = blob
  }

  /** A URL with a shared access signature needs no other credential. */
  static async at(url: URL): Promise<BlobStore> {
    if (url.searchParams.has('sig')) return new BlobStore(new BlockBlobClient(url.href, undefined, PIPELINE))
    const { azureCredential } = await import('./azure-credential.js')
    return new BlobStore(new BlockBlobClient(url.href, azureCredential(), PIPELINE))
  }

  async read(): Promise<StoredRing | undefined> {
    try {
      const abortSignal = AbortSignal.timeout(TIME_OUT)
      const { etag, readableStreamBody } = await this.#blob.download(undefined, undefined, { abortSignal })
      if (etag === undefined || readableStreamBody === undefined) throw new Error('The answer has no entity tag.')
      return { text: await textOf(readableStreamBody), version: etag }
    } catch (error) {
      if (hasCode(error, 'BlobNotFound')) return undefined
      throw error
    }
  }

  async write(text: string, over: string | undefined): Promise<boolean> {
    const body = Buffer.from(text)
    try {
      await this.#blob.upload(body, body.length, {
        abortSignal: AbortSignal.timeout(TIME_OUT),
        conditions: over === undefined ? { ifNoneMatch: '*' } : { ifMatch: over },
        blobHTTPHeaders: { blobContentType: 'application/json' }
      })
      return true
    } catch (error) {
      if (hasCode(error, 'ConditionNotMet', 'BlobAlreadyExists')) return false
      throw error
    }
  }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof RestError && codes.includes(error.code ?? '')
}
