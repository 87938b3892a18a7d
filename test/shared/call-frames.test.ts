import { expect } from 'chai'
import fc from 'fast-check'
import {
  AnswerFrame,
  type CallId,
  CallFrame,
  CancellationFrame,
  CredentialFrame,
  type CredentialSlot,
  FailureFrame,
  type Frame,
  type FramedCall,
  MalformedFrames,
  MAX_CREDENTIALS,
  readRequestFrames,
  readResponseFrames,
  type RequestFrames,
  type ResponseFrames,
  TimesFrame,
  UnprocessedFrame,
  MessageWriter
} from '../../shared/transport/call-frames.js'
import { DomainError } from '../../shared/errors.js'
import { fromStatusBytes, toStatusBytes } from '../../shared/transport/rpc-status.js'
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type WireRequestFrame,
  type WireResponseFrame
} from '../harness/call-stream-messages.js'

function messageOf(...frames: readonly Frame[]): Buffer {
  const writer = new MessageWriter(frames.reduce((sum, { size }) => sum + size, 0))
  for (const frame of frames) frame.write(writer)
  return writer.bytes
}

type Seen = readonly [string, ...unknown[]]

function readRequest(message: Buffer): Seen[] {
  const seen: Seen[] = []
  readRequestFrames(message, {
    credential: (...of) => seen.push(['credential', ...of]),
    call: (...of) => seen.push(['call', ...of]),
    cancellation: (...of) => seen.push(['cancellation', ...of])
  } satisfies RequestFrames)
  return seen
}

function readResponse(message: Buffer): Seen[] {
  const seen: Seen[] = []
  readResponseFrames(message, {
    answer: (...of) => seen.push(['answer', ...of]),
    failure: (...of) => seen.push(['failure', ...of]),
    unprocessed: (...of) => seen.push(['unprocessed', ...of]),
    times: (...of) => seen.push(['times', ...of])
  } satisfies ResponseFrames)
  return seen
}

const uint = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
const ascii = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const call = uint.map((id) => id as CallId)
const slot = fc.integer({ min: 1, max: MAX_CREDENTIALS }).map((one) => one as CredentialSlot)
const framedCall: fc.Arbitrary<FramedCall> = fc.record({
  id: call,
  method: ascii,
  timeoutMs: uint,
  credential: fc.option(slot, { nil: undefined }),
  requestId: ascii,
  traceparent: ascii,
  clientAddress: ascii,
  request: bytes,
  timed: fc.boolean()
})
const times = fc.record({ data: uint, sql: uint })

/** Of what was sent: members with the value that protobuf does not send are left out. */
function sent<Members extends object>(members: Members): Partial<Members> {
  const isSent = (value: unknown): boolean => value !== undefined && value !== 0 && value !== '' && value !== false
  // Only members are left out.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isSent(value))) as Partial<Members>
}

const requestFrame = fc.oneof(
  framedCall.map((one) => ({
    frame: new CallFrame(one),
    wire: { call: sent({ ...one, credential: one.credential ?? 0 }) },
    seen: ['call', one] as Seen
  })),
  fc.tuple(slot, ascii).map(([into, authorization]) => ({
    frame: new CredentialFrame(into, authorization),
    wire: { credential: sent({ slot: into, authorization }) },
    seen: ['credential', into, authorization] as Seen
  })),
  call.map((id) => ({
    frame: new CancellationFrame(id),
    wire: { cancellation: sent({ call: id }) },
    seen: ['cancellation', id] as Seen
  }))
)

const responseFrame = fc.oneof(
  fc.tuple(call, bytes, fc.boolean()).map(([id, response, more]) => ({
    frame: new AnswerFrame(id, response, more),
    wire: { answer: { ...sent({ call: id, more }), response } },
    seen: ['answer', id, response, more] as Seen
  })),
  fc.tuple(call, times).map(([id, took]) => ({
    frame: new TimesFrame(id, took),
    wire: { times: sent({ call: id, dataUs: took.data, sqlUs: took.sql }) },
    seen: ['times', id, took] as Seen
  })),
  call.map((id) => ({
    frame: new UnprocessedFrame(id),
    wire: { unprocessed: sent({ call: id }) },
    seen: ['unprocessed', id] as Seen
  }))
)

describe('frames of calls', () => {
  it('are what the proto file says, and are read back', () => {
    fc.assert(
      fc.property(fc.array(requestFrame), (frames) => {
        const message = messageOf(...frames.map(({ frame }) => frame))
        const wire = frames.map((one) => one.wire)
        expect(decodeRequest(message)).to.deep.equal(wire)
        expect(readRequest(message)).to.deep.equal(frames.map(({ seen }) => seen))
        const theirs = encodeRequest(...(wire as readonly WireRequestFrame[]))
        expect(readRequest(theirs)).to.deep.equal(frames.map(({ seen }) => seen))
      })
    )
    fc.assert(
      fc.property(fc.array(responseFrame), (frames) => {
        const message = messageOf(...frames.map(({ frame }) => frame))
        const wire = frames.map((one) => one.wire)
        expect(decodeResponse(message)).to.deep.equal(wire)
        expect(readResponse(message)).to.deep.equal(frames.map(({ seen }) => seen))
        const theirs = encodeResponse(...(wire as readonly WireResponseFrame[]))
        expect(readResponse(theirs)).to.deep.equal(frames.map(({ seen }) => seen))
      })
    )
  })

  it('carry a failure as the status that a call of gRPC has', () => {
    const error = new DomainError('conflict', 'Gone.', { guarded: true, title: 'T', members: { a: 1 } })
    const message = messageOf(new FailureFrame(7 as CallId, toStatusBytes(error)))
    expect(decodeResponse(message)[0]?.failure).to.deep.include({ call: 7 })
    expect(decodeResponse(message)[0]?.failure?.status).to.include({ code: 9, message: 'Gone.' })
    const [[, , status] = []] = readResponse(message)
    expect(Buffer.isBuffer(status) && fromStatusBytes(status)).to.deep.include({
      code: 'conflict',
      message: 'Gone.',
      guarded: true,
      title: 'T',
      members: { a: 1 }
    })
  })

  it('of kinds, and with fields, that a later version adds are passed over', () => {
    // Field 9 of the message; a frame of kind 9; fields 15 of every wire type before the id of a cancellation.
    const unknown = Buffer.from([0x4a, 0x01, 0x00, 0x0a, 0x03, 0x4a, 0x01, 0x07])
    const fields = [0x78, 0x05, 0x7a, 0x01, 0x00, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0x7d, 0, 0, 0, 0, 0x08, 0x2a]
    const cancelling = Buffer.from([0x0a, fields.length + 2, 0x1a, fields.length, ...fields])
    expect(readRequest(Buffer.concat([unknown, cancelling]))).to.deep.equal([['cancellation', 42]])
    expect(readResponse(Buffer.concat([unknown, cancelling]))).to.deep.equal([['unprocessed', 42]])
  })

  it('are rejected where a slot or a token is beyond its limit', () => {
    for (const into of [0, MAX_CREDENTIALS + 1]) {
      const message = encodeRequest({ credential: { slot: into, authorization: 'a' } })
      expect(() => readRequest(message), `slot ${into}`).to.throw(MalformedFrames)
    }
    const message = encodeRequest({ credential: { slot: 1, authorization: 'a'.repeat(8193) } })
    expect(() => readRequest(message)).to.throw(MalformedFrames)
  })

  it('that are no message are rejected, and nothing else happens', () => {
    const read = (message: Buffer): void => {
      for (const one of [readRequest, readResponse]) {
        try {
          one(message)
        } catch (error) {
          expect(error).to.be.instanceOf(MalformedFrames)
        }
      }
    }
    fc.assert(
      fc.property(bytes, (message) => read(message)),
      { numRuns: 2000 }
    )
    const changed = fc.tuple(
      fc.array(requestFrame, { minLength: 1 }),
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      fc.nat()
    )
    fc.assert(
      fc.property(changed, ([frames, at, byte, cut]) => {
        const message = messageOf(...frames.map(({ frame }) => frame))
        message[at % message.length] = byte
        read(message)
        read(message.subarray(0, cut % message.length))
      }),
      { numRuns: 2000 }
    )
    for (const message of [[0x0a], [0x0a, 0x05, 0x12], [0x08, 0x80], [0x0b], [0x00, 0x00], [0x0a, 0x02, 0x10, 0x01]]) {
      expect(() => readRequest(Buffer.from(message)), String(message)).to.throw(MalformedFrames)
    }
  })
})
