import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'

const LOOK_EVERY_MS = 5000

/**
 * Ends sockets whose HTTP/2 session has ended and left them open. If a connection is reset right at the end of its TLS
 * handshake, Node does not report the reset. The session ends when a ping gets no answer, but then its socket never closes.
 */
export class BrokenSockets {
  readonly #lookEvery: number
  readonly #open = new Map<Socket, ServerHttp2Session>()
  readonly #ending = new Set<Socket>()
  #looking: NodeJS.Timeout | undefined

  constructor(lookEvery = LOOK_EVERY_MS) {
    this.#lookEvery = lookEvery
  }

  watch(session: ServerHttp2Session, socket: Socket): void {
    this.#open.set(socket, session)
    this.#looking ??= setInterval(() => this.#look(), this.#lookEvery).unref()
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#ending.delete(socket)
      if (this.#open.size > 0) return
      clearInterval(this.#looking)
      this.#looking = undefined
    })
  }

  /** What is sent last has from one look to the next to be taken. */
  #look(): void {
    for (const [socket, session] of this.#open) {
      if (!session.destroyed) continue
      if (this.#ending.has(socket)) socket.destroy()
      else this.#ending.add(socket)
    }
  }
}
