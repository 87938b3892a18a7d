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
  /** The text, or the bytes of its parts. */
  readonly write: () => string | Promise<string | readonly Buffer[]>
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
  /** What is being made, by key: all who ask for it meanwhile get the same one, however large it is. */
  readonly #underWay = new Map<string, Promise<KeptText>>()

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
      const whole = documentKey(seen, key)
      const known = this.#texts.known(whole, coding)
      if (known !== undefined) return known
      // Who waits for the same document needs no turn: a large one takes longer than a turn is waited for.
      const made = this.#begun(whole, coding)
      if (made !== undefined) return await made
    }
    const release = await this.#turns.enter(call)
    try {
      const seen = await this.#catalogue.seenBy(call)
      const { key, coding, write } = want(seen)
      const whole = documentKey(seen, key)
      const known = this.#texts.known(whole, coding)
      if (known !== undefined) return known
      const begun = this.#texts.known(whole) === undefined ? this.#begun(whole, coding) : undefined
      if (begun !== undefined) return await begun
      const text = this.#texts.known(whole) ?? this.#once(whole, () => this.#make(whole, write))
      return await this.#inCoding(coding, whole, text)
    } finally {
      // Were the next one let in at once, one after another would be made before anything else that has arrived is looked at.
      setImmediate(release)
    }
  }

  /** What is being made, or brought into the coding; undefined if neither is. */
  #begun(key: string, coding: Coding | undefined): Promise<KeptText> | undefined {
    const coded = coding === undefined ? undefined : this.#underWay.get(`${coding} ${key}`)
    const plain = this.#underWay.get(key)
    return coded ?? (plain === undefined ? undefined : this.#inCoding(coding, key, plain))
  }

  async #inCoding(coding: Coding | undefined, key: string, made: KeptText | Promise<KeptText>): Promise<KeptText> {
    const text = await made
    if (coding === undefined) return text
    return await this.#once(`${coding} ${key}`, () => this.#texts.in(coding, key, text))
  }

  /** Makes it, unless it is being made already. */
  #once(key: string, make: () => Promise<KeptText>): Promise<KeptText> {
    const begun = this.#underWay.get(key)
    if (begun !== undefined) return begun
    const made = make().finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, made)
    return made
  }

  #make(key: string, write: WantedDocument['write']): Promise<KeptText> {
    const made = this.#making.then(async () => {
      const text = await write()
      return typeof text === 'string' ? this.#texts.keep(key, text) : await withRests(this.#texts.keepParts(key, text))
    })
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
