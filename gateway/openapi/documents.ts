import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LiveCatalogue, CatalogueSnapshot } from '../data/catalogue.js'
import { HeavyWork } from '../entity-routes/large-writes.js'
import { readContext } from '../entity-routes/requests.js'
import { addVary, type Coding } from '../http/header-fields.js'
import type { KeptText, KeptTexts } from '../http/kept-texts.js'

/** Documents that may wait. */
const WAITING_DOCUMENTS = 256

/** A document of what its caller sees of the catalogue. */
interface WantedDocument {
  /** What it is made of beside the names, properties and operations that the caller sees: those have a digest. */
  readonly key: string
  readonly write: () => string | Promise<string>
  readonly coding?: Coding | undefined
}

/**
 * Documents that the gateway makes of the catalogue, for people and for programs. Each holds the event loop while it is
 * made. So they are kept, and made one after the other. Where one has to be made, or a data service asked what its caller
 * sees, those of one caller have turns: what others ask comes between them.
 */
export class Documents {
  readonly #catalogue: LiveCatalogue
  readonly #texts: KeptTexts
  readonly #turns = new HeavyWork({
    what: 'documents',
    waiting: WAITING_DOCUMENTS,
    detail: 'Too many documents are being made. Try again.'
  })
  /** Resolves when the document that is being made is done, and those that wait for it. */
  #making: Promise<unknown> = Promise.resolve()

  constructor(catalogue: LiveCatalogue, texts: KeptTexts) {
    this.#catalogue = catalogue
    this.#texts = texts
  }

  /**
   * The document for the caller of a request. Sets `Vary`, since it depends on the access token. `want` may throw. Rejects with
   * what LiveCatalogue.seenBy rejects with, and with `upstream.unavailable` if too many of this caller wait already.
   */
  async for(
    request: FastifyRequest,
    reply: FastifyReply,
    want: (seen: CatalogueSnapshot) => WantedDocument
  ): Promise<KeptText> {
    reply.header('vary', addVary(String(reply.getHeader('vary') ?? ''), ['Authorization']))
    const call = readContext(request, reply)
    if (call.authorization === undefined) {
      const seen = await this.#catalogue.seenBy(call)
      const { key, coding } = want(seen)
      const known = this.#texts.known(documentKey(seen, key), coding)
      if (known !== undefined) return known
    }
    const release = await this.#turns.enter(call)
    try {
      const seen = await this.#catalogue.seenBy(call)
      const { key, coding, write } = want(seen)
      const whole = documentKey(seen, key)
      const text = this.#texts.known(whole) ?? (await this.#make(whole, write))
      return coding === undefined ? text : await this.#texts.in(coding, whole, text)
    } finally {
      // Were the next one let in at once, one after another would be made before anything else that has arrived is looked at.
      setImmediate(release)
    }
  }

  #make(key: string, write: WantedDocument['write']): Promise<KeptText> {
    // Another caller may have waited for the same text.
    const made = this.#making.then(async () => this.#texts.known(key) ?? this.#texts.keep(key, await write()))
    this.#making = made.then(
      () => nextTurn(),
      () => nextTurn()
    )
    return made
  }
}

/**
 * Makes a large document. After each part it rests for as long as that took, which leaves half of the event loop to what others
 * ask.
 */
export async function withRests<Made>(parts: Generator<undefined, Made, undefined>): Promise<Made> {
  for (;;) {
    const began = performance.now()
    const { done, value } = parts.next()
    if (done === true) return value
    await rest(performance.now() - began)
  }
}

function documentKey({ digest }: CatalogueSnapshot, key: string): string {
  return `${digest} ${key}`
}
