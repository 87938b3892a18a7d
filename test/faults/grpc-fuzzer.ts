import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import {
  FLAG,
  frame,
  grpcMessage,
  type Header,
  headersFrames,
  PREFACE,
  settings,
  TYPE,
  uint32
} from './http2-frames.js'

// The definition loaded here is what the generated types describe.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service } = entity.v1.EntityService

/** Whole numbers below a bound and choices, from one source of random numbers. */
class Dice {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0]
  }

  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.below(most) }, () => this.below(256)))
  }

  times<T>(count: number, make: (n: number) => T): T[] {
    return Array.from({ length: count }, (_, n) => make(n))
  }
}

type Kind = (dice: Dice) => readonly Buffer[]

const EXPORT: Call = {
  rpc: 'Export',
  message: service.Export.requestSerialize({ resource: 'products', idleTimeoutMs: 5000 })
}

const MESSAGES: readonly [Call, ...Call[]] = [
  { rpc: 'Get', message: service.Get.requestSerialize({ resource: 'products', id: '1' }) },
  { rpc: 'Page', message: service.Page.requestSerialize({ resource: 'products', pageSize: '5' }) },
  { rpc: 'List', message: service.List.requestSerialize({ resource: 'categories' }) },
  { rpc: 'Describe', message: Buffer.alloc(0) },
  EXPORT,
  { rpc: 'Create', message: service.Create.requestSerialize({ resource: 'orders', body: Buffer.from('{}') }) }
]

interface Call {
  readonly rpc: string
  readonly message: Buffer
}

function head(rpc: string, others: readonly Header[] = []): Header[] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', `/entity.v1.EntityService/${rpc}`],
    [':authority', '127.0.0.1'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ['grpc-timeout', '5S'],
    ...others
  ]
}

function data(stream: number, payload: Buffer, flags: number = FLAG.endStream): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < payload.length; at += 16_384) {
    const last = at + 16_384 >= payload.length
    pieces.push(frame({ type: TYPE.data, flags: last ? flags : 0, stream, payload: payload.subarray(at, at + 16_384) }))
  }
  return Buffer.concat(pieces)
}

function whole(stream: number, { rpc, message }: Call, others: readonly Header[] = []): Buffer {
  return Buffer.concat([headersFrames(stream, head(rpc, others)), data(stream, grpcMessage(message))])
}

const reset = (stream: number, code = 8): Buffer => frame({ type: TYPE.reset, stream, payload: uint32(code) })
const START = Buffer.concat([PREFACE, settings()])
const WATCH: readonly Header[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/grpc.health.v1.Health/Watch'],
  [':authority', 'x'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers']
]

/** What goes over one connection, in the pieces that are written one after the other. */
const KINDS: Readonly<Record<string, Kind>> = {
  'garbage for a preface': (dice) => [
    dice.of([dice.bytes(200), Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), Buffer.alloc(64, 0xff)])
  ],
  'a preface in part': (dice) => [PREFACE.subarray(0, dice.below(PREFACE.length))],
  'frames of any type, flags and length': (dice) => [
    START,
    ...dice.times(1 + dice.below(10), () => {
      const payload = dice.bytes(64)
      const length = dice.of([payload.length, dice.below(100), 16_385, 0xffffff])
      return frame({ type: dice.below(16), flags: dice.below(256), stream: dice.below(8), payload, length })
    })
  ],
  'oversized metadata': (dice) => [
    START,
    headersFrames(
      1,
      head(
        'Get',
        dice.times(1 + dice.below(20), (n) => [`x-${n}`, 'a'.repeat(dice.below(64 * 1024))])
      )
    ),
    data(1, grpcMessage(Buffer.alloc(0)))
  ],
  'continuations without an end': (dice) => [
    START,
    frame({ type: TYPE.headers, stream: 1, payload: Buffer.alloc(10) }),
    ...dice.times(dice.below(200), () => frame({ type: TYPE.continuation, stream: 1, payload: dice.bytes(100) }))
  ],
  'streams reset as soon as they are opened': (dice) => [
    START,
    ...dice.times(100 + dice.below(200), (n) =>
      Buffer.concat([whole(2 * n + 1, dice.of(MESSAGES)), reset(2 * n + 1, dice.below(14))])
    )
  ],
  'wrong compression flags': (dice) => {
    const { rpc, message } = dice.of(MESSAGES)
    const encoding = dice.of<readonly Header[]>([
      [],
      [['grpc-encoding', 'gzip']],
      [['grpc-encoding', 'deflate']],
      [['grpc-encoding', 'zip']]
    ])
    return [START, headersFrames(1, head(rpc, encoding)), data(1, grpcMessage(message, { flag: 1 + dice.below(255) }))]
  },
  'wrong message lengths': (dice) => {
    const { rpc, message } = dice.of(MESSAGES)
    const length = dice.of([0, 1, message.length + 1, 9 * 1024 * 1024, 0x7fffffff, 0xffffffff])
    return [START, headersFrames(1, head(rpc)), data(1, grpcMessage(message, { length }), dice.of([0, FLAG.endStream]))]
  },
  'several messages, or none, where one is due': (dice) => {
    const { rpc, message } = dice.of(MESSAGES)
    const messages = Buffer.concat(dice.times(dice.below(4), () => grpcMessage(message)))
    return [START, headersFrames(1, head(rpc)), data(1, messages)]
  },
  'heads that are no call': (dice) => {
    const headers = head(dice.of(['Get', 'Nothing', 'get', '', '%00', '../x', 'a'.repeat(5000)]))
    const odd = dice.of<readonly Header[]>([
      [['content-type', 'text/plain']],
      [['te', 'gzip']],
      [['grpc-timeout', dice.of(['', '1', '-1S', '1n', '99999999S', '999999999999S', 'S'])]],
      [['authorization', dice.of(['Bearer ', 'Bearer x', 'é', `Bearer ${'a'.repeat(9000)}`])]],
      [['x-request-id', dice.of(['', 'é', 'a'.repeat(1000)])]],
      [['trace-bin', dice.of(['', '!', 'a', 'AAAA====', '=,='])]],
      [
        ['grpc-encoding', 'identity'],
        ['grpc-accept-encoding', 'a,,b']
      ],
      [['connection', 'close']],
      [['Upper', 'x']],
      [['a b', 'x\r\ny: z']],
      [[':status', '200']],
      [['content-length', dice.of(['1', '-1', '0', '99999999999999999999'])]]
    ])
    const names = new Set(odd.map(([name]) => name))
    const kept = headers.filter(([name]) => !names.has(name) && dice.below(8) > 0)
    return [
      START,
      headersFrames(1, [...kept, ...odd], dice.of([0, FLAG.endStream])),
      data(1, grpcMessage(MESSAGES[0].message))
    ]
  },
  'messages sent in half': (dice) => {
    const { rpc, message } = dice.of(MESSAGES)
    const bytes = grpcMessage(message)
    return [START, headersFrames(1, head(rpc)), data(1, bytes.subarray(0, dice.below(bytes.length)), 0)]
  },
  'exports that are cancelled': (dice) => [
    START,
    ...dice.times(1 + dice.below(4), (n) => whole(2 * n + 1, EXPORT)),
    ...dice.times(dice.below(5), (n) => reset(2 * n + 1))
  ],
  'windows that are never opened': (dice) => [
    Buffer.concat([PREFACE, settings([4, dice.of([0, 1, 100])])]),
    ...dice.times(1 + dice.below(20), (n) => whole(2 * n + 1, dice.of(MESSAGES)))
  ],
  'windows out of their range': (dice) => [
    START,
    whole(1, EXPORT),
    frame({
      type: TYPE.windowUpdate,
      stream: dice.of([0, 1, 3]),
      payload: uint32(dice.of([0, 1, 0x7fffffff, 0xffffffff]))
    }),
    frame({ type: TYPE.windowUpdate, stream: dice.of([0, 1]), payload: uint32(0x7fffffff) })
  ],
  'floods of settings and pings': (dice) => [
    START,
    ...dice.times(100 + dice.below(900), () =>
      dice.of([
        settings(),
        settings([dice.below(8), dice.below(2 ** 31)]),
        frame({ type: TYPE.ping, payload: Buffer.alloc(8) }),
        frame({ type: TYPE.priority, stream: 1 + dice.below(100), payload: Buffer.alloc(5) })
      ])
    )
  ],
  'malformed protobuf': (dice) => {
    const { rpc } = dice.of(MESSAGES)
    const message = dice.of([
      dice.bytes(300),
      Buffer.alloc(2000, 0x0b),
      Buffer.from('0affffffff0f', 'hex'),
      Buffer.alloc(500, 0xff)
    ])
    return [START, headersFrames(1, head(rpc)), data(1, grpcMessage(message))]
  },
  'streams that make no sense': (dice) => [
    START,
    whole(5, dice.of(MESSAGES)),
    ...dice.times(5, () => whole(dice.of([0, 1, 2, 3, 5, 7, 0x7fffffff]), dice.of(MESSAGES))),
    frame({ type: TYPE.pushPromise, flags: FLAG.endHeaders, stream: 5, payload: uint32(2) }),
    frame({ type: TYPE.goAway, payload: Buffer.alloc(8) })
  ],
  'watches of the health': (dice) => [
    START,
    ...dice.times(1 + dice.below(50), (n) =>
      Buffer.concat([headersFrames(2 * n + 1, WATCH), data(2 * n + 1, grpcMessage(Buffer.alloc(0)))])
    ),
    ...dice.times(dice.below(50), (n) => reset(2 * n + 1))
  ],
  'calls with bytes flipped, lost and doubled': (dice) => {
    let bytes = Buffer.concat([START, ...dice.times(1 + dice.below(3), (n) => whole(2 * n + 1, dice.of(MESSAGES)))])
    for (let change = 0; change <= dice.below(4); change++) {
      const at = dice.below(bytes.length)
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
      bytes = dice.of([
        Buffer.concat([before, Buffer.from([dice.below(256)]), after.subarray(1)]),
        Buffer.concat([before, after.subarray(1 + dice.below(20))]),
        Buffer.concat([before, after.subarray(0, 20), after]),
        before
      ])
    }
    return [bytes]
  },
  'calls as they should be': (dice) => [
    START,
    ...dice.times(1 + dice.below(5), (n) => whole(2 * n + 1, dice.of(MESSAGES)))
  ]
}

export const KIND_NAMES = Object.keys(KINDS)

/**
 * Sends one sequence of a kind over a connection of its own and leaves it in one of several ways. Which one, and every
 * byte of it, is decided by `random`. Resolves once this side is done with the connection.
 */
export async function sendSequence(port: number, kind: string, random: () => number): Promise<void> {
  const dice = new Dice(random)
  const pieces = KINDS[kind]?.(dice) ?? []
  const [reads, ending, pause] = [dice.below(3) > 0, dice.below(4), dice.below(30)]
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  if (reads) socket.resume()
  for (const piece of pieces) {
    if (socket.destroyed) break
    socket.write(piece)
  }
  await Promise.race([sleep(pause), closed(socket)])
  if (ending === 0) socket.resetAndDestroy()
  else if (ending === 1) {
    // Half-closed: what the other side does with it is waited for, but not for ever.
    socket.end().resume()
    await Promise.race([closed(socket), sleep(100)])
  }
  socket.destroy()
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close').catch(() => undefined)
}
