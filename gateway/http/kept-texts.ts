import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Coding } from './header-fields.js'

/** A text as it is sent. */
export interface KeptText {
  readonly body: Buffer
  /** A weak entity tag: the codings of one text share it. */
  readonly etag: string
}

/** Bytes of all texts that are kept, some twenty views of a large catalogue. */
const MAX_BYTES = 16 * 1024 * 1024

/** Of brotli's 11 levels of quality: the higher ones take seconds for a document of a megabyte, and save little. */
const BROTLI_QUALITY = 5
const COMPRESS: Readonly<Record<Coding, (text: Buffer) => Promise<Buffer>>> = {
  br: (text) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => promisify(gzip)(text)
}

/** Texts that the gateway makes, by keys that tell everything that they are made of. The least recently used go first. */
export class KeptTexts {
  readonly #texts = new LRUCache<string, KeptText>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }, key) => body.length + key.length
  })

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
    return this.#keep(key, { body, etag: `W/"${createHash('sha256').update(body).digest('base64')}"` })
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

function inCoding(key: string, coding: Coding | undefined): string {
  return coding === undefined ? key : `${coding} ${key}`
}
