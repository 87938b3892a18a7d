import { LRUCache } from 'lru-cache'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import { type Cancellation, NEVER, throwIfAborted } from '../../shared/transport/cancellation.js'
import { Turns } from '../../shared/turns.js'

/** Views whose bytes are kept, and the bytes of all of them. */
const MAX_VIEWS = 64
const MAX_BYTES = 16 * 1024 * 1024

/** Resources in a turn of the event loop: few milliseconds, and some twenty turns for hundreds. */
const RESOURCES_OF_TURN = 16

/**
 * The answers of Describe as bytes. Encoding hundreds of resources takes some tenths of a second. So they are encoded in turns
 * of the event loop, and the bytes of a view are kept by its digest, which is of all resources and operations in it: two
 * callers share bytes only where every byte is the same. What else an answer has is of its caller, and encoded for each.
 */
export class DescribedViews {
  readonly #encode: (message: DescribeResponse) => Buffer
  readonly #kept: LRUCache<string, Buffer>
  /** Views that are being encoded, by digest: all who ask meanwhile get the same one. */
  readonly #underWay = new Map<string, Promise<Buffer>>()
  /** Of all calls together: a turn of each of them would be one long turn. */
  readonly #turns = new Turns(1)

  /** `encode`: as the definition of the service has it. `maxBytes`: of all that are kept. A larger view is not kept. */
  constructor(encode: (message: DescribeResponse) => Buffer, maxBytes = MAX_BYTES) {
    this.#encode = encode
    this.#kept = new LRUCache({ max: MAX_VIEWS, maxSize: maxBytes, sizeCalculation: ({ length }) => length + 1 })
  }

  /**
   * The bytes of the answer whose steps these are, with these members of its caller in place of those that it has. Rejects with
   * the reason of the cancellation, once there is one.
   */
  async answer(
    steps: Generator<undefined, DescribeResponse, undefined>,
    more: DescribeResponse,
    cancellation: Cancellation = NEVER
  ): Promise<Buffer> {
    await this.#nextTurn()
    let step = steps.next()
    for (let at = 1; step.done !== true; at++) {
      if (at % RESOURCES_OF_TURN === 0) await this.#nextTurn()
      throwIfAborted(cancellation)
      step = steps.next()
    }
    const { resources = [], operations = [], digest = '', ...ofCaller } = step.value
    const view = await this.#view({ resources, operations, digest })
    // A message that follows another one is merged with it: each field is in one of them.
    return Buffer.concat([view, this.#encode({ ...ofCaller, ...more })])
  }

  #nextTurn(): Promise<void> {
    return this.#turns.next('')
  }

  async #view(view: Required<Pick<DescribeResponse, 'resources' | 'operations' | 'digest'>>): Promise<Buffer> {
    const { digest } = view
    const known = this.#kept.get(digest) ?? this.#underWay.get(digest)
    if (known !== undefined) return await known
    const made = this.#inTurns(view).finally(() => this.#underWay.delete(digest))
    this.#underWay.set(digest, made)
    return await made
  }

  async #inTurns({
    resources,
    operations,
    digest
  }: Required<Pick<DescribeResponse, 'resources' | 'operations' | 'digest'>>): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let at = 0; at < resources.length; at += RESOURCES_OF_TURN) {
      parts.push(this.#encode({ resources: resources.slice(at, at + RESOURCES_OF_TURN) }))
      await this.#nextTurn()
    }
    parts.push(this.#encode({ operations, digest }))
    const bytes = Buffer.concat(parts)
    this.#kept.set(digest, bytes)
    return bytes
  }
}
