import { createHash, type Hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { memoryLimit } from '../../shared/memory-guard.js'
import type { Coding } from './header-fields.js'

/** A text as it is sent. */
export interface KeptText {
  readonly body: Buffer
  /** A weak entity tag: the codings of one text share it. */
  readonly etag: string
}

/** Bytes of all texts that are kept where there is memory: some dozens of views of a large catalogue. */
const MAX_BYTES = 64 * 1024 * 1024

/** The share of the memory that they may have: with 256 MiB the exact document of some 400 resources. */
const SHARE_OF_MEMORY = 1 / 6

/** Bytes of a text that are copied and digested in one step. */
const BYTES_OF_STEP = 1024 * 1024

/** Of brotli's 11 levels of quality: the higher ones take seconds for a document of a megabyte, and save little. */
const BROTLI_QUALITY = 5
const COMPRESS: Readonly<Record<Coding, (text: Buffer) => Promise<Buffer>>> = {
  br: (text) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => promisify(gzip)(text)
}

/** Texts that the gateway makes, by keys that tell everything that they are made of. The least recently used go first. */
export class KeptTexts {
  readonly #texts: LRUCache<string, KeptText>

  /** `maxBytes`: of all that are kept. A larger text is not kept. */
  constructor(maxBytes = Math.min(MAX_BYTES, Math.floor(memoryLimit() * SHARE_OF_MEMORY))) {
    this.#texts = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ body }, key) => body.length + key.length
    })
  }

  /** Bytes of all that are kept, with their keys. */
  get bytes(): number {
    return this.#texts.calculatedSize
  }

  /** The text, in this coding if one is named; undefined if it is not kept. */
  known(key: string, coding?: Coding): KeptText | undefined {
    return this.#texts.get(inCoding(key, coding))
  }

  /** The text, which is written if it is not kept. */
  of(key: string, write: () => string): KeptText {
    return this.known(key) ?? this.keep(key, write())
  }

  keep(key: string, text: string): KeptText {
    const body = Buffer.from(text)
    return this.#keep(key, { body, etag: etagOf(createHash('sha256').update(body)) })
  }

  /** The same for the parts of a large text, with so much work in a step that others can be served between. */
  *keepParts(key: string, parts: readonly Buffer[]): Generator<undefined, KeptText, undefined> {
    const body = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
    const hash = createHash('sha256')
    let [at, step] = [0, 0]
    for (const part of parts) {
      part.copy(body, at)
      hash.update(part)
      at += part.length
      step += part.length
      if (step < BYTES_OF_STEP) continue
      step = 0
      yield
    }
    return this.#keep(key, { body, etag: etagOf(hash) })
  }

  /** The text of this key in a coding, which is made if it is not kept. */
  async in(coding: Coding, key: string, { body, etag }: KeptText): Promise<KeptText> {
    const known = this.known(key, coding)
    return known ?? this.#keep(inCoding(key, coding), { body: await COMPRESS[coding](body), etag })
  }

  #keep(key: string, text: KeptText): KeptText {
    this.#texts.set(key, text)
    return text
  }
}

function etagOf(hash: Hash): string {
  return `W/"${hash.digest('base64')}"`
}

function inCoding(key: string, coding: Coding | undefined): string {
  return coding === undefined ? key : `${coding} ${key}`
}
