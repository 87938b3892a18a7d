import { AnswerFrame, type CallId, type Frame, MessageWriter } from './call-frames.js'

/** The method of CallStreamService (proto/transport/v1/call_stream.proto). Its messages are read and written by call-frames.ts. */
export const CALL_STREAM = {
  path: '/transport.v1.CallStreamService/Open',
  requestStream: true,
  responseStream: true,
  requestSerialize: (message: Buffer) => message,
  requestDeserialize: (message: Buffer) => message,
  responseSerialize: (message: Buffer) => message,
  responseDeserialize: (message: Buffer) => message
} as const

/** Bytes. A longer answer goes in parts of this size, which the gateway has to join. A page of 50 rows seldom has as many. */
const PART_BYTES = 32 * 1024

/** Bytes of a message after which no further part of a large answer is put into it. */
const PART_MESSAGE_BYTES = 64 * 1024

/** Bytes of a message after which no further frame is put into it. The receiver's limit is far above. */
const CLOSED_MESSAGE_BYTES = 512 * 1024

/** Bytes that the objects of a frame take, of which a small one has more than bytes of its own. */
const FRAME_OBJECT_BYTES = 200

interface AnswerEnds {
  /** Called when the last part has been put into a message. */
  readonly onSent: () => void
  /** Called when the peer has taken that message, or its stream has ended. */
  readonly onTaken?: (() => void) | undefined
}

/** Hands a message to the transport, and calls back when the peer has taken it. */
type SendMessage = (message: Buffer, sent: () => void) => void

interface SenderListener {
  /** Gets the bytes of what is to be sent and, as negative numbers, of what has been taken. */
  readonly onCount?: (bytes: number) => void
  /** Called when the next message is made, to send the frames that were kept back until then. */
  readonly onRoom?: () => void
}

/**
 * Sends frames, many in one message: those of a tick, and those that come while the message before is on its way. Frames
 * go in the order in which they came. Large answers go in parts, each in its turn and in each message at least one, so
 * that neither kind keeps the other waiting. Each frame is counted until the peer has taken it.
 */
export class FrameSender {
  readonly #send: SendMessage
  readonly #listener: SenderListener
  #frames: Frame[] = []
  readonly #large: LargeAnswer[] = []
  #isScheduled = false
  #isSending = false
  #closed = false
  #onIdle: (() => void) | undefined
  #untaken = 0
  /** What waits until the message that is on its way has been taken. */
  #onTaken: (() => void)[] = []

  constructor(send: SendMessage, listener: SenderListener = {}) {
    this.#send = send
    this.#listener = listener
  }

  send(frame: Frame): void {
    if (this.#closed) return frame.onTaken?.()
    this.#frames.push(frame)
    this.schedule()
    this.#count(frameCost(frame))
  }

  sendAnswer(call: CallId, answer: Buffer, { onSent, onTaken }: AnswerEnds): void {
    if (this.#closed) return onTaken?.()
    if (answer.length > PART_BYTES) {
      this.#large.push(new LargeAnswer(call, answer, { onSent, onTaken }))
      this.schedule()
      this.#count(answer.length)
    } else {
      this.send(answerFrame(call, answer, { onTaken }))
      onSent()
    }
  }

  /** Takes out an answer of which parts are not sent yet. Its `onSent` and `onTaken` are called then. */
  dropAnswer(call: CallId): void {
    const at = this.#large.findIndex((one) => one.call === call)
    const [dropped] = at === -1 ? [] : this.#large.splice(at, 1)
    if (dropped === undefined) return
    this.#count(-dropped.left)
    dropped.onSent()
    dropped.onTaken?.()
  }

  /** Calls back once everything has been handed to the transport. */
  end(done: () => void): void {
    this.#onIdle = done
    this.#endIfIdle()
  }

  /** Sends nothing more. What has not been taken will not be. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#onIdle = undefined
    const waiting = [...this.#frames, ...this.#large].map(({ onTaken }) => onTaken)
    this.#frames = []
    this.#large.length = 0
    this.#count(-this.#untaken)
    for (const taken of [...this.#onTaken.splice(0), ...waiting]) taken?.()
  }

  #count(bytes: number): void {
    this.#untaken += bytes
    this.#listener.onCount?.(bytes)
  }

  #endIfIdle(): void {
    if (this.#isSending || this.#frames.length > 0 || this.#large.length > 0) return
    const done = this.#onIdle
    this.#onIdle = undefined
    done?.()
  }

  /** Makes a message at the end of the tick, unless one is on its way. */
  schedule(): void {
    if (this.#isScheduled || this.#isSending) return
    this.#isScheduled = true
    // At the end of the tick, when everything that arrived with it has had its turn.
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#closed || this.#isSending) return
    // The last part of an answer ends its call, and with the last call of a stream that drains `end` is called: there is
    // something to be sent still.
    this.#isSending = true
    this.#listener.onRoom?.()
    const frames = this.#nextFrames()
    if (frames.length === 0) {
      this.#isSending = false
      return
    }
    const writer = new MessageWriter(frames.reduce((sum, { size }) => sum + size, 0))
    for (const frame of frames) frame.write(writer)
    const cost = frames.reduce((sum, frame) => sum + frameCost(frame), 0)
    // Without the frames, which hold what has been copied into the message.
    this.#onTaken = frames.flatMap(({ onTaken }) => onTaken ?? [])
    this.#send(writer.bytes, () => {
      if (this.#closed) return
      this.#isSending = false
      this.#count(-cost)
      for (const taken of this.#onTaken.splice(0)) taken()
      if (this.#frames.length > 0 || this.#large.length > 0) this.schedule()
      else this.#endIfIdle()
    })
  }

  #nextFrames(): Frame[] {
    const waiting = this.#frames
    let size = 0
    let count = 0
    for (; count < waiting.length && size < CLOSED_MESSAGE_BYTES; count++) size += waiting[count]?.size ?? 0
    const frames = count === waiting.length ? waiting : waiting.slice(0, count)
    this.#frames = count === waiting.length ? [] : waiting.slice(count)
    for (let turns = 0; turns === 0 || size < PART_MESSAGE_BYTES; turns++) {
      const large = this.#large.shift()
      if (large === undefined) break
      const { left } = large
      const part = large.next()
      frames.push(part)
      size += part.size
      this.#count(frameCost(part) - (left - large.left))
      if (!large.isSent) this.#large.push(large)
    }
    return frames
  }
}

function frameCost({ size }: Frame): number {
  return size + FRAME_OBJECT_BYTES
}

function answerFrame(
  call: CallId,
  part: Buffer,
  { more = false, onTaken }: { readonly more?: boolean; readonly onTaken: (() => void) | undefined }
): AnswerFrame {
  const frame = new AnswerFrame(call, part, more)
  frame.onTaken = onTaken
  return frame
}

class LargeAnswer {
  readonly call: CallId
  readonly onSent: () => void
  readonly onTaken: (() => void) | undefined
  readonly #answer: Buffer
  #at = 0

  constructor(call: CallId, answer: Buffer, { onSent, onTaken }: AnswerEnds) {
    this.call = call
    this.onSent = onSent
    this.onTaken = onTaken
    this.#answer = answer
  }

  /** Bytes that no message has yet. */
  get left(): number {
    return this.#answer.length - this.#at
  }

  get isSent(): boolean {
    return this.left === 0
  }

  next(): AnswerFrame {
    const part = this.#answer.subarray(this.#at, this.#at + PART_BYTES)
    this.#at += part.length
    if (this.isSent) this.onSent()
    return answerFrame(this.call, part, { more: !this.isSent, onTaken: this.isSent ? this.onTaken : undefined })
  }
}

/** The places of a CallTable, a power of two. More than there are calls under way on a stream. */
const CALL_PLACES = 2048

/**
 * The calls under way on a stream. A Map would do, but for its memory: a Map whose entries come and go makes itself a new
 * table each time it is full, and V8 links the old one to the new one. When one of these tables has got into the old
 * generation, it keeps all that follow it, with the calls in them, from every collection of the young generation. Under load
 * this moved most of what a call had made into the old generation.
 */
export class CallTable<Call extends { readonly id: CallId | undefined }> {
  /** A call whose id ends in these bits. */
  readonly #places: (Call | undefined)[] = Array.from({ length: CALL_PLACES }, () => undefined)
  /** Calls whose place was taken when they came, by one that takes long. */
  readonly #others = new Map<CallId, Call>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: CallId): Call | undefined {
    const call = this.#places[id & (CALL_PLACES - 1)]
    return call?.id === id ? call : this.#others.get(id)
  }

  /** The id is that of the call, and of no other in the table. */
  set(id: CallId, call: Call): void {
    const place = id & (CALL_PLACES - 1)
    if (this.#places[place] === undefined) this.#places[place] = call
    else this.#others.set(id, call)
    this.#size += 1
  }

  delete(id: CallId): void {
    const place = id & (CALL_PLACES - 1)
    if (this.#places[place]?.id === id) this.#places[place] = undefined
    else if (!this.#others.delete(id)) return
    this.#size -= 1
  }

  values(): Call[] {
    return [...this.#places.filter((call) => call !== undefined), ...this.#others.values()]
  }

  clear(): void {
    this.#places.fill(undefined)
    this.#others.clear()
    this.#size = 0
  }
}

/** Something that has to end by a time. */
export interface Timed {
  /** Milliseconds since the epoch; Infinity for never. */
  readonly deadline: number
}

/**
 * Ends what has not ended by its deadline. It has one timer for all calls of a stream, set to the earliest deadline that
 * it has seen, since nearly all calls end long before theirs.
 */
export class Deadlines<Call extends Timed> {
  readonly #running: () => Iterable<Call>
  readonly #expire: (call: Call) => void
  #next = Infinity
  #timer: NodeJS.Timeout | undefined

  /** `running`: what has not ended. `expire` may be called again for a call that has not ended since. */
  constructor(running: () => Iterable<Call>, expire: (call: Call) => void) {
    this.#running = running
    this.#expire = expire
  }

  add({ deadline }: Call): void {
    if (deadline < this.#next) this.#setTimer(deadline)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#next = Infinity
  }

  #setTimer(deadline: number): void {
    clearTimeout(this.#timer)
    this.#next = deadline
    // A longer time overflows the timer of Node. The timer then finds nothing to end and is set again. It keeps no process
    // alive: the connection of the stream does.
    this.#timer = setTimeout(() => this.#sweep(), Math.min(deadline - Date.now(), 2 ** 31 - 1)).unref()
  }

  #sweep(): void {
    this.#next = Infinity
    const now = Date.now()
    let next = Infinity
    for (const call of this.#running()) {
      if (call.deadline <= now) this.#expire(call)
      else next = Math.min(next, call.deadline)
    }
    if (next < this.#next) this.#setTimer(next)
  }
}
