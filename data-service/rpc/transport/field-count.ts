import protobuf from 'protobufjs'
import { DomainError } from '../../../shared/errors.js'

/** Fields of a request, with those of its messages. A message within counts as several: it takes a hundred bytes and is two. */
const MAX_FIELDS = 50_000
const FIELDS_A_MESSAGE = 4

/** Wire type of what has a length: texts, bytes, messages and packed numbers. */
const LENGTH_DELIMITED = 2
/** That of enums, which have no name in the tables of protobufjs. */
const VARINT = 0

/**
 * Throws `request.malformed` for a request with more fields than any needs, such as two thousand rows of twenty columns. A message of two bytes on
 * the wire is an object, so that a request of a few megabytes would take hundreds of them when it is decoded.
 */
export function requireFewFields(type: protobuf.Type, bytes: Uint8Array): void {
  if (fieldsLeft(type, protobuf.Reader.create(bytes), { end: bytes.length, left: MAX_FIELDS }) < 0) {
    throw new DomainError('request.malformed', `The request has more than ${MAX_FIELDS} fields.`)
  }
}

/** The wire type with which a field is written. */
function wireTypeOf({ type, resolvedType, map }: protobuf.Field): number {
  if (map || resolvedType instanceof protobuf.Type) return LENGTH_DELIMITED
  const basic: Readonly<Record<string, number>> = protobuf.types.basic
  return basic[type] ?? VARINT
}

/** How many fields are left after those up to `end`: a negative number where they are too many. */
function fieldsLeft(
  type: protobuf.Type,
  reader: protobuf.Reader,
  { end, left }: { readonly end: number; readonly left: number }
): number {
  let fields = left
  while (reader.pos < end && fields >= 0) {
    const tag = reader.uint32()
    const wireType = tag & 7
    fields -= 1
    const field = type.fieldsById[tag >>> 3]
    const inner = field?.resolve().resolvedType
    const isPacked = wireType === LENGTH_DELIMITED && field?.repeated === true && wireTypeOf(field) !== LENGTH_DELIMITED
    // protobufjs reads a known field as its type has it, whatever was sent: what stands in one would be counted as none.
    if (field !== undefined && wireType !== wireTypeOf(field) && !isPacked) {
      throw new RangeError(`The field ${field.name} has another wire type.`)
    }
    if (wireType !== LENGTH_DELIMITED) {
      reader.skipType(wireType)
      continue
    }
    const next = reader.uint32() + reader.pos
    if (inner instanceof protobuf.Type) {
      fields = fieldsLeft(inner, reader, { end: Math.min(next, end), left: fields - FIELDS_A_MESSAGE + 1 })
    } else if (isPacked) fields -= next - reader.pos
    if (next > reader.len) throw new RangeError('A field is longer than its message.')
    reader.pos = next
  }
  return fields
}
