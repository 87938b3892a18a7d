import protobuf from 'protobufjs'
import { DomainError } from '../../../shared/errors.js'

/** Parts of a field: its tag, and its length or its number. */
const PARTS_OF_FIELD = 2

/**
 * Reads a request, and throws `request.malformed` if it has more fields than any request needs. A message of two bytes on
 * the wire becomes an object, so a request of a few megabytes could take hundreds of megabytes. The bound is in the reader,
 * because a count before the decoding would have to read each odd encoding exactly as protobufjs does.
 */
export class BoundedReader extends protobuf.BufferReader {
  readonly #maxFields: number
  #left: number

  constructor(bytes: Buffer, maxFields: number) {
    super(bytes)
    this.#maxFields = maxFields
    this.#left = maxFields * PARTS_OF_FIELD
  }

  // Tags, lengths, bool, int32, sint32 and enums are read with it too.
  override uint32(): number {
    this.#count()
    return super.uint32()
  }

  override uint64(): protobuf.Long {
    this.#count()
    return super.uint64()
  }

  override int64(): protobuf.Long {
    this.#count()
    return super.int64()
  }

  override sint64(): protobuf.Long {
    this.#count()
    return super.sint64()
  }

  override fixed32(): number {
    this.#count()
    return super.fixed32()
  }

  override sfixed32(): number {
    this.#count()
    return super.sfixed32()
  }

  override fixed64(): protobuf.Long {
    this.#count()
    return super.fixed64()
  }

  override sfixed64(): protobuf.Long {
    this.#count()
    return super.sfixed64()
  }

  override float(): number {
    this.#count()
    return super.float()
  }

  override double(): number {
    this.#count()
    return super.double()
  }

  override bytes(): Buffer {
    return super.bytes() as Buffer // slices of the bytes, which are a Buffer
  }

  // That of protobufjs takes a text that is longer than its message as if it ended with it.
  override string(): string {
    return this.bytes().toString()
  }

  #count(): void {
    if (--this.#left >= 0) return
    throw new DomainError('request.malformed', `The request has more than ${this.#maxFields} fields.`)
  }
}
