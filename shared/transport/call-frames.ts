// The messages of proto/transport/v1/call_stream.proto, written and read by hand: a generated codec makes several objects
// for each frame, which cost more than the calls that they carry. A test compares both codecs.

declare const id: unique symbol
declare const slot: unique symbol

/** The id of a call under way on a stream, a 32-bit unsigned integer. */
export type CallId = number & { readonly [id]: true }

/** The place of a token on a stream: 1 to MAX_CREDENTIALS. */
export type CredentialSlot = number & { readonly [slot]: true }

/** Tokens that a stream holds at a time. */
export const MAX_CREDENTIALS = 1024

/** Characters of an `Authorization`. No accepted issuer makes tokens of this length. */
export const MAX_AUTHORIZATION = 8 * 1024

/** What metadata, and a credential, can carry as text: visible ASCII and spaces. */
export const METADATA_TEXT = /^[\x20-\x7e]*$/

/** Calls under way on a stream, answers that wait to be sent included. */
export const MAX_CALLS = 1000

/** What time a data service took for a call, in microseconds. */
export interface CallTimes {
  /** From the call to its answer. */
  readonly data: number
  /** The call's statements, added up. */
  readonly sql: number
}

/** Metadata of a unary call that asks for its times, and of its answer that tells them: `1`, and then `<data> <sql>`. */
export const TIMES_METADATA = 'x-call-times'

/** The text of TIMES_METADATA in an answer. undefined for any other text. */
export function parseCallTimes(text: string): CallTimes | undefined {
  const [, data, sql] = /^(\d{1,10}) (\d{1,10})$/.exec(text) ?? []
  return data === undefined ? undefined : { data: Number(data), sql: Number(sql) }
}

/** A call as it is sent. All texts are ASCII. */
export interface FramedCall {
  readonly id: CallId
  /** Full name, `/entity.v1.EntityService/Get`. */
  readonly method: string
  /** 0 for no deadline. */
  readonly timeoutMs: number
  /** undefined for a call without a token. */
  readonly credential: CredentialSlot | undefined
  /** Empty for none, as are the next two. */
  readonly requestId: string
  readonly traceparent: string
  readonly clientAddress: string
  readonly request: Buffer
  /** Whether its times are asked for. */
  readonly timed: boolean
}

/** What arrives of a caller. */
export interface RequestFrames {
  credential(slot: CredentialSlot, authorization: string): void
  call(call: FramedCall): void
  cancellation(call: CallId): void
}

/** What arrives of a data service. */
export interface ResponseFrames {
  /** `more`: further parts follow. The bytes are those of the message that is being read. */
  answer(call: CallId, part: Buffer, more: boolean): void
  /** `status` holds a google.rpc.Status. */
  failure(call: CallId, status: Buffer): void
  unprocessed(call: CallId): void
  times(call: CallId, times: CallTimes): void
}

/** The bytes are not those of a message of the stream. */
export class MalformedFrames extends Error {
  override readonly name = 'MalformedFrames'
}

/** A frame that is ready to be written into a message. */
export interface Frame {
  /** Bytes in the message. */
  readonly size: number
  /** Called once when the peer has taken the frame, or its stream has ended. */
  readonly onTaken?: (() => void) | undefined
  write(to: MessageWriter): void
}

/** Writes the fields of one message, whose size is known, in protobuf's encoding. */
export class MessageWriter {
  readonly bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size)
  }

  varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.bytes[this.#at++] = rest
  }

  uint(field: number, value: number): void {
    if (value === 0) return
    this.varint(field << 3)
    this.varint(value)
  }

  /** ASCII. */
  text(field: number, text: string): void {
    if (text === '') return
    this.length(field, text.length)
    this.#at += this.bytes.write(text, this.#at, text.length, 'latin1')
  }

  data(field: number, data: Buffer): void {
    this.length(field, data.length)
    this.#at += data.copy(this.bytes, this.#at)
  }

  length(field: number, length: number): void {
    this.varint((field << 3) | 2)
    this.varint(length)
  }
}

function varintSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
}

// All numbers of fields are below 16, so a key is one byte.
const uintSize = (value: number): number => (value === 0 ? 0 : 1 + varintSize(value))
const dataSize = (length: number): number => 1 + varintSize(length) + length
const textSize = (text: string): number => (text === '' ? 0 : dataSize(text.length))

/** One member of `oneof frame`, in its frame, in the list `frames`. */
abstract class OneFrame implements Frame {
  readonly size: number
  onTaken: (() => void) | undefined
  readonly #kind: number
  readonly #length: number

  /** `length`: bytes of the member's fields. */
  constructor(kind: number, length: number) {
    this.#kind = kind
    this.#length = length
    this.size = dataSize(dataSize(length))
  }

  write(to: MessageWriter): void {
    to.length(1, dataSize(this.#length))
    to.length(this.#kind, this.#length)
    this.fields(to)
  }

  protected abstract fields(to: MessageWriter): void
}

export class CredentialFrame extends OneFrame {
  readonly #slot: CredentialSlot
  readonly #authorization: string

  /** `authorization` meets METADATA_TEXT. */
  constructor(into: CredentialSlot, authorization: string) {
    super(1, uintSize(into) + textSize(authorization))
    this.#slot = into
    this.#authorization = authorization
  }

  protected override fields(to: MessageWriter): void {
    to.uint(1, this.#slot)
    to.text(2, this.#authorization)
  }
}

export class CallFrame extends OneFrame {
  readonly #call: FramedCall

  constructor(call: FramedCall) {
    super(
      2,
      uintSize(call.id) +
        textSize(call.method) +
        uintSize(call.timeoutMs) +
        uintSize(call.credential ?? 0) +
        textSize(call.requestId) +
        textSize(call.traceparent) +
        textSize(call.clientAddress) +
        dataSize(call.request.length) +
        uintSize(call.timed ? 1 : 0)
    )
    this.#call = call
  }

  protected override fields(to: MessageWriter): void {
    const {
      id: call,
      method,
      timeoutMs,
      credential = 0,
      requestId,
      traceparent,
      clientAddress,
      request,
      timed
    } = this.#call
    to.uint(1, call)
    to.text(2, method)
    to.uint(3, timeoutMs)
    to.uint(4, credential)
    to.text(5, requestId)
    to.text(6, traceparent)
    to.text(7, clientAddress)
    to.data(8, request)
    to.uint(9, timed ? 1 : 0)
  }
}

/** A frame that names a call and nothing else. */
abstract class CallEndFrame extends OneFrame {
  readonly #call: CallId

  constructor(kind: number, call: CallId) {
    super(kind, uintSize(call))
    this.#call = call
  }

  protected override fields(to: MessageWriter): void {
    to.uint(1, this.#call)
  }
}

export class CancellationFrame extends CallEndFrame {
  constructor(call: CallId) {
    super(3, call)
  }
}

export class UnprocessedFrame extends CallEndFrame {
  constructor(call: CallId) {
    super(3, call)
  }
}

export class AnswerFrame extends OneFrame {
  readonly #call: CallId
  readonly #part: Buffer
  readonly #more: boolean

  constructor(call: CallId, part: Buffer, more = false) {
    super(1, uintSize(call) + uintSize(more ? 1 : 0) + dataSize(part.length))
    this.#call = call
    this.#part = part
    this.#more = more
  }

  protected override fields(to: MessageWriter): void {
    to.uint(1, this.#call)
    to.uint(2, this.#more ? 1 : 0)
    to.data(3, this.#part)
  }
}

export class FailureFrame extends OneFrame {
  readonly #call: CallId
  readonly #status: Buffer

  /** `status` is an encoded google.rpc.Status. */
  constructor(call: CallId, status: Buffer) {
    super(2, uintSize(call) + dataSize(status.length))
    this.#call = call
    this.#status = status
  }

  protected override fields(to: MessageWriter): void {
    to.uint(1, this.#call)
    to.data(2, this.#status)
  }
}

export class TimesFrame extends OneFrame {
  readonly #call: CallId
  readonly #times: CallTimes

  constructor(call: CallId, times: CallTimes) {
    super(4, uintSize(call) + uintSize(times.data) + uintSize(times.sql))
    this.#call = call
    this.#times = times
  }

  protected override fields(to: MessageWriter): void {
    to.uint(1, this.#call)
    to.uint(2, this.#times.data)
    to.uint(3, this.#times.sql)
  }
}

/** Reads an OpenRequest and hands each frame on. Throws MalformedFrames; frames before the fault have been handed on. */
export function readRequestFrames(message: Buffer, on: RequestFrames): void {
  const frames = new MessageFields(message, 0, message.length)
  while (frames.next()) {
    if (frames.field !== 1) continue
    const frame = frames.message()
    while (frame.next()) {
      switch (frame.field) {
        case 1:
          readCredential(frame.message(), on)
          break
        case 2:
          readCall(frame.message(), on)
          break
        case 3:
          on.cancellation(readCallId(frame.message()))
          break
      }
    }
  }
}

/** Reads an OpenResponse, as readRequestFrames does an OpenRequest. */
export function readResponseFrames(message: Buffer, on: ResponseFrames): void {
  const frames = new MessageFields(message, 0, message.length)
  while (frames.next()) {
    if (frames.field !== 1) continue
    const frame = frames.message()
    while (frame.next()) {
      switch (frame.field) {
        case 1:
          readAnswer(frame.message(), on)
          break
        case 2:
          readFailure(frame.message(), on)
          break
        case 3:
          on.unprocessed(readCallId(frame.message()))
          break
        case 4:
          readTimes(frame.message(), on)
          break
      }
    }
  }
}

function readCredential(fields: MessageFields, on: RequestFrames): void {
  let into = 0
  let authorization = ''
  while (fields.next()) {
    if (fields.field === 1) into = fields.uint()
    else if (fields.field === 2) authorization = fields.text()
  }
  if (into < 1 || into > MAX_CREDENTIALS) throw new MalformedFrames('There is no such slot for a credential.')
  if (authorization.length > MAX_AUTHORIZATION) throw new MalformedFrames('A credential is too long.')
  on.credential(into as CredentialSlot, authorization)
}

function readCall(fields: MessageFields, on: RequestFrames): void {
  let [call, timeoutMs, credential] = [0, 0, 0]
  let [method, requestId, traceparent, clientAddress] = ['', '', '', '']
  let request: Buffer = NO_BYTES
  let timed = 0
  while (fields.next()) {
    switch (fields.field) {
      case 1:
        call = fields.uint()
        break
      case 2:
        method = fields.text()
        break
      case 3:
        timeoutMs = fields.uint()
        break
      case 4:
        credential = fields.uint()
        break
      case 5:
        requestId = fields.text()
        break
      case 6:
        traceparent = fields.text()
        break
      case 7:
        clientAddress = fields.text()
        break
      case 8:
        request = fields.data()
        break
      case 9:
        timed = fields.uint()
        break
    }
  }
  on.call({
    id: call as CallId,
    method,
    timeoutMs,
    credential: credential === 0 ? undefined : (credential as CredentialSlot),
    requestId,
    traceparent,
    clientAddress,
    request,
    timed: timed !== 0
  })
}

function readAnswer(fields: MessageFields, on: ResponseFrames): void {
  let [call, more] = [0, 0]
  let part: Buffer = NO_BYTES
  while (fields.next()) {
    if (fields.field === 1) call = fields.uint()
    else if (fields.field === 2) more = fields.uint()
    else if (fields.field === 3) part = fields.data()
  }
  on.answer(call as CallId, part, more !== 0)
}

function readFailure(fields: MessageFields, on: ResponseFrames): void {
  let call = 0
  let status: Buffer = NO_BYTES
  while (fields.next()) {
    if (fields.field === 1) call = fields.uint()
    else if (fields.field === 2) status = fields.data()
  }
  on.failure(call as CallId, status)
}

function readTimes(fields: MessageFields, on: ResponseFrames): void {
  let [call, data, sql] = [0, 0, 0]
  while (fields.next()) {
    if (fields.field === 1) call = fields.uint()
    else if (fields.field === 2) data = fields.uint()
    else if (fields.field === 3) sql = fields.uint()
  }
  on.times(call as CallId, { data, sql })
}

function readCallId(fields: MessageFields): CallId {
  let call = 0
  while (fields.next()) if (fields.field === 1) call = fields.uint()
  return call as CallId
}

const NO_BYTES: Buffer = Buffer.alloc(0)

const WIRE = { varint: 0, fixed64: 1, data: 2, fixed32: 5 } as const

/** The fields of a message in protobuf's encoding, one after another. Fields that a reader does not know are skipped. */
class MessageFields {
  /** The number of the field that `next` has found. */
  field = 0
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  #wire = 0
  /** The value of a varint, or the length of data, which begin at #at. */
  #value = 0

  constructor(bytes: Buffer, from: number, end: number) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  /** Goes to the next field. false at the end. */
  next(): boolean {
    // What `data` has not taken is skipped.
    if (this.#wire === WIRE.data) this.#at += this.#value
    if (this.#at >= this.#end) return false
    const key = this.#varint()
    this.field = key >>> 3
    this.#wire = key & 7
    switch (this.#wire) {
      case WIRE.varint:
        this.#value = this.#varint()
        break
      case WIRE.data:
        this.#value = this.#varint()
        if (this.#value > this.#end - this.#at) throw new MalformedFrames('A field is longer than its message.')
        break
      case WIRE.fixed64:
      case WIRE.fixed32:
        this.#at += this.#wire === WIRE.fixed64 ? 8 : 4
        if (this.#at > this.#end) throw new MalformedFrames('A field is longer than its message.')
        break
      default:
        throw new MalformedFrames('A field is of no known wire type.')
    }
    if (this.field === 0) throw new MalformedFrames('A field has no number.')
    return true
  }

  uint(): number {
    this.#mustBe(WIRE.varint)
    return this.#value
  }

  /** Every byte as one character: texts of the stream are ASCII, and what is not is no valid text of any kind. */
  text(): string {
    this.#mustBe(WIRE.data)
    return this.#bytes.toString('latin1', this.#at, this.#at + this.#value)
  }

  data(): Buffer {
    this.#mustBe(WIRE.data)
    return this.#bytes.subarray(this.#at, this.#at + this.#value)
  }

  message(): MessageFields {
    this.#mustBe(WIRE.data)
    return new MessageFields(this.#bytes, this.#at, this.#at + this.#value)
  }

  #mustBe(wire: number): void {
    if (this.#wire !== wire) throw new MalformedFrames('A field is of another wire type.')
  }

  /** The lower 32 bits of a varint, as readers of 32-bit fields take them. */
  #varint(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#at < this.#end ? this.#bytes[this.#at++] : undefined
      if (byte === undefined) throw new MalformedFrames('A message ends within a number.')
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw new MalformedFrames('A number has more than 64 bits.')
  }
}
