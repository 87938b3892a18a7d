import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Counts the checks in a row in which a client made no progress. It counts checks and not milliseconds: while this
 * process itself stands still, no check happens, and the pause does not count against its clients.
 */
export class StallCounter {
  count = 0
  #previous = ''

  /** `progress` is a text that changes with every progress; `isIdle` says that the client has nothing to do. */
  check(progress: string, isIdle: boolean): number {
    this.count = isIdle || progress !== this.#previous ? 0 : this.count + 1
    this.#previous = progress
    return this.count
  }
}

/** Bytes a second that a client reads at least of what waits for it. */
export const LOWEST_RATE = 2 * 1024

/**
 * Counts the checks by which a client is behind the lowest rate. Bytes beyond it make up for earlier checks, and are no credit
 * for later ones.
 */
export class RateCounter {
  count = 0
  readonly #bytesOfCheck: number
  #taken: number | undefined

  /** `interval`: milliseconds between two checks. */
  constructor(interval: number) {
    this.#bytesOfCheck = (LOWEST_RATE * interval) / 1000
  }

  /**
   * `taken`: what the client has taken since its connection began, in bytes. `sharers`: how many answers have to go at this rate
   * together. `isIdle` says that nothing waits for the client.
   */
  check(taken: number, isIdle: boolean, sharers = 1): number {
    const before = this.#taken
    this.#taken = Math.max(taken, before ?? taken)
    if (isIdle || before === undefined) this.count = 0
    else this.count = Math.max(0, this.count + 1 - ((this.#taken - before) * sharers) / this.#bytesOfCheck)
    return this.count
  }
}

/** Whether a client continues to send a request body that is not complete. */
export class UploadProgress {
  readonly #socket: Socket
  readonly #stalled = new StallCounter()

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /**
   * Checks in a row without a new byte. `latest` is the request whose head came last: only its body can be incomplete.
   * `hasQueue` says that requests of the connection wait for their turn.
   */
  check(latest: IncomingMessage | undefined, hasQueue: boolean): number {
    const isIncomplete = latest !== undefined && !latest.complete && !latest.destroyed
    // While the gateway itself does not read, the client cannot send.
    const gatewayIsBehind = hasQueue || this.#socket.isPaused() || (latest?.readableLength ?? 0) > 0
    return this.#stalled.check(String(this.#socket.bytesRead), !isIncomplete || gatewayIsBehind)
  }
}

/** Whether a client reads the response bytes that wait for it as fast as the lowest rate. */
export class DownloadProgress {
  readonly #socket: Socket
  /** By what the operating system has accepted. */
  readonly #behind: RateCounter
  /** By what the client has acknowledged of it. */
  readonly #acknowledging: RateCounter
  #accepted = 0
  #hasQueue = false

  constructor(socket: Socket, interval: number) {
    this.#socket = socket
    this.#behind = new RateCounter(interval)
    this.#acknowledging = new RateCounter(interval)
  }

  /** Checks by which the bytes that wait in this process leave it too slowly. */
  check(): number {
    this.#accepted = acceptedBytes(this.#socket)
    const count = this.#behind.check(this.#accepted, this.#socket.writableLength === 0)
    if (count === 0) this.#acknowledging.count = 0
    return count
  }

  /** The latest result of `check`. */
  get checksBehind(): number {
    return this.#behind.count
  }

  /**
   * The same, corrected by what the operating system still holds for the client: a slow client reads from the system's
   * buffers, which hold megabytes, and nothing more leaves this process until a third of them is free.
   */
  correct(unacknowledged: UnacknowledgedBytes): number {
    const queued = unacknowledged.get(connectionKey(this.#socket))
    // The system's list may lack a connection while others come and go.
    if (queued === undefined) return this.#hasQueue ? this.#acknowledging.count : this.#behind.count
    this.#hasQueue = true
    // What was accepted since the check may be in the queue: that makes it less, and the next check makes up for it.
    return this.#acknowledging.check(this.#accepted - queued, false)
  }
}

interface Handle {
  readonly bytesWritten?: number
  readonly writeQueueSize?: number
  /** Of TLS: the connection that carries it. */
  readonly _parent?: Handle
}

/** The connection itself. That of TLS above it tells only when a whole write has left. */
function carrier(socket: Socket): Handle {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null }
  return handle?._parent ?? handle ?? {}
}

/** Bytes of the current write that the operating system has not accepted yet. Node's own timeouts use them as well. */
export function writeQueueSize(socket: Socket): number {
  return carrier(socket).writeQueueSize ?? 0
}

/** Bytes that the operating system has accepted. */
export function acceptedBytes(socket: Socket): number {
  const { bytesWritten = socket.bytesWritten, writeQueueSize: waiting = 0 } = carrier(socket)
  return bytesWritten - waiting
}

/** Bytes that were sent and not acknowledged, by `connectionKey`. */
export type UnacknowledgedBytes = ReadonlyMap<string, number>

/** Local and remote port. Connections with the same two ports are counted together. */
export function connectionKey({ localPort, remotePort }: Socket): string {
  return `${localPort} ${remotePort}`
}

/** What Linux reports of its send queues (proc_pid_net(5)). undefined on other systems. */
export async function unacknowledgedBytes(): Promise<UnacknowledgedBytes | undefined> {
  const queues = new Map<string, number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    addQueues(queues, await readFile(file, 'latin1').catch(() => ''))
  }
  return queues.size === 0 ? undefined : queues
}

/**
 * Adds the send queues of a table of Linux, whose lines begin `  12: 0100007F:0BB8 0100007F:D1F2 01 00001000:00000000`: the two
 * addresses with their ports, the state and the queue. Connections that are only remembered (TIME_WAIT, 06) are skipped: one
 * client leaves tens of thousands of them.
 */
export function addQueues(queues: Map<string, number>, table: string): void {
  const hex = (at: number, digits: number): number => Number(`0x${table.slice(at, at + digits)}`)
  for (let at = table.indexOf(': '); at !== -1; at = table.indexOf(': ', at + 1)) {
    const local = table.indexOf(':', at + 2) + 1
    // The addresses are as long as each other.
    const remote = local + (local - at) + 3
    if (table.startsWith('06', remote + 5)) continue
    const key = `${hex(local, 4)} ${hex(remote, 4)}`
    queues.set(key, (queues.get(key) ?? 0) + hex(remote + 8, 8))
  }
}
