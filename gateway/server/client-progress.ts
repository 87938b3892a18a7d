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

/** Whether a client continues to read the response bytes that wait for it. */
export class DownloadProgress {
  readonly #socket: Socket
  readonly #stalled = new StallCounter()
  #unacknowledged: number | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Checks in a row in which bytes waited in this process and none of them left it. */
  check(): number {
    const { bytesWritten, writableLength } = this.#socket
    const left = `${bytesWritten - writableLength} ${writeQueueSize(this.#socket)}`
    const count = this.#stalled.check(left, writableLength === 0)
    if (count === 0) this.#unacknowledged = undefined
    return count
  }

  /** The latest result of `check`. */
  get stalledChecks(): number {
    return this.#stalled.count
  }

  /**
   * The same, corrected by what the operating system still holds for the client: a slow client reads from the system's
   * buffers, which hold megabytes, and nothing more leaves this process until a third of them is free.
   */
  correct(unacknowledged: UnacknowledgedBytes): number {
    const before = this.#unacknowledged
    this.#unacknowledged = unacknowledged.get(connectionKey(this.#socket))
    if (before !== undefined && this.#unacknowledged !== undefined && this.#unacknowledged !== before) {
      this.#stalled.count = 0
    }
    return this.#stalled.count
  }
}

/** Bytes of the current write that the operating system has not accepted yet. Node's own timeouts use them as well. */
export function writeQueueSize(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
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
