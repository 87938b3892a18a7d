import { request as send, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'

export interface HttpRequest {
  readonly method?: string
  /** Pairs in the order of the wire; a name may come twice. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  readonly signal?: AbortSignal
}

/** An answer as it came over the wire. */
export interface HttpAnswer {
  readonly status: number
  /** Names and values as sent, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The value of a header; undefined when absent. Throws when it came more than once. */
  header(name: string): string | undefined
  readonly bytes: Buffer
  readonly text: string
  /** The body parsed as JSON. */
  json(): unknown
}

/** Sends a request on a connection of its own, the path exactly as given, and reads the answer to its end. */
export async function request(url: string, options: HttpRequest = {}): Promise<HttpAnswer> {
  return answerOf(await open(url, options))
}

/** As `request`, but resolves with the answer's head, the body still to be read. */
export async function open(url: string, options: HttpRequest = {}): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, signal } = options
  const { origin, target } = split(url)
  const { hostname, port } = new URL(origin)
  const outgoing = send({
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    path: target,
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()])),
    agent: false,
    ...(signal === undefined ? {} : { signal })
  })
  outgoing.end(body)
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
  })
  return response
}

/** Writes the bytes on a socket as they are and reads what comes back until the other side closes. */
export async function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  socket.write(bytes)
  return (await buffer(socket)).toString('latin1')
}

async function answerOf(response: IncomingMessage): Promise<HttpAnswer> {
  const bytes = await buffer(response)
  const text = bytes.toString('utf8')
  const { rawHeaders } = response
  const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []))
  return {
    status: response.statusCode ?? 0,
    headers,
    header(name) {
      const [first, ...others] = headers.filter(([one]) => one.toLowerCase() === name.toLowerCase())
      if (others.length > 0) throw new Error(`${name} came ${others.length + 1} times`)
      return first?.[1]
    },
    bytes,
    text,
    json: (): unknown => JSON.parse(text)
  }
}

/** Apart without normalizing, which `new URL` would do to the path. */
function split(url: string): { origin: string; target: string } {
  const [, origin, target] = /^(https?:\/\/[^/?]+)(.*)$/s.exec(url) ?? []
  if (origin === undefined || target === undefined) throw new TypeError(`${url} is no http URL`)
  return { origin, target: target.startsWith('/') ? target : `/${target}` }
}
