import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Where the operating system does not tell what it still holds for a client, a reader has this many times as long: a few
 * megabytes lie in its buffers, and a reader of 10 KB/s takes minutes for them.
 */
export const LENIENCE = 10

/**
 * Within the machine Linux tells it in large steps: a receiver that was full reports room only once up to 330 KB of it is
 * free, which takes a reader of 10 KB/s 33 seconds. Over a network a step is a few packets.
 */
const LOOPBACK_LENIENCE = 4 / 3

const LOOPBACK = /^(?:(?:::ffff:)?127\.|::1$)/

export function lenienceOf({ socket }: { readonly socket: Socket }): number {
  return LOOPBACK.test(`${socket.remoteAddress}`) ? LOOPBACK_LENIENCE : 1
}

/**
 * For how many looks in a row a client made no progress. Looks are counted, not milliseconds: when this process itself
 * stands still for a while, that is no silence of its clients.
 */
export class SilentLooks {
  count = 0
  #seen = ''

  /** `seen` changes with every progress; `isIdle` says that none is to be expected of the client. */
  look(seen: string, isIdle: boolean): number {
    this.count = isIdle || seen !== this.#seen ? 0 : this.count + 1
    this.#seen = seen
    return this.count
  }
}

/** Whether a client goes on sending a body that is not whole. */
export class SendingClient {
  readonly #socket: Socket
  readonly #silent = new SilentLooks()

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Looks for which nothing has come. `latest` is the request whose head came last: no other body can be incomplete. */
  look(latest: IncomingMessage | undefined, isHeldUp: boolean): number {
    const owed = latest !== undefined && !latest.complete && !latest.destroyed
    // What is not read here is not for the client to send.
    const isOurTurn = isHeldUp || this.#socket.isPaused() || (latest?.readableLength ?? 0) > 0
    return this.#silent.look(String(this.#socket.bytesRead), !owed || isOurTurn)
  }
}

/** Whether a client goes on reading what waits for it. */
export class ReadingClient {
  readonly #socket: Socket
  readonly #silent = new SilentLooks()
  #queued: number | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Looks for which bytes have waited in this process and none of them has left it. */
  look(): number {
    const { bytesWritten, writableLength } = this.#socket
    const left = `${bytesWritten - writableLength} ${writeQueueSize(this.#socket)}`
    const looks = this.#silent.look(left, writableLength === 0)
    if (looks === 0) this.#queued = undefined
    return looks
  }

  /** What `look` last answered. */
  get looks(): number {
    return this.#silent.count
  }

  /**
   * The same when what left this process earlier is taken into account: a slow reader takes that from buffers of
   * megabytes, and nothing leaves this process before a third of those is free.
   */
  compare(queues: UnacknowledgedBytes): number {
    const { localPort, remotePort } = this.#socket
    const before = this.#queued
    this.#queued = queues.get(`${localPort} ${remotePort}`)
    if (before !== undefined && this.#queued !== undefined && this.#queued !== before) this.#silent.count = 0
    return this.#silent.count
  }
}

/** Bytes of the write under way that the operating system has not taken yet; Node's own timeouts look at it too. */
export function writeQueueSize(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
}

/** By local and remote port: connections with the same two are counted together. */
export type UnacknowledgedBytes = ReadonlyMap<string, number>

/** Bytes that were sent and not acknowledged, as Linux counts them (proc_pid_net(5)). undefined on other systems. */
export async function unacknowledgedBytes(): Promise<UnacknowledgedBytes | undefined> {
  const queues = new Map<string, number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(file, 'latin1').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const [, local, remote, , queue] = line.trim().split(/ +/)
      if (local === undefined || remote === undefined || queue === undefined) continue
      const key = `${portOf(local)} ${portOf(remote)}`
      queues.set(key, (queues.get(key) ?? 0) + Number.parseInt(queue, 16))
    }
  }
  return queues.size === 0 ? undefined : queues
}

/** `0100007F:0BB8` is port 3000. */
function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
}
