import { Agent, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Each header line as it came, names included. */
  readonly rawHeaders: readonly string[]
  readonly bytes: Buffer
  readonly text: string
  /** The request path without its query. */
  readonly path: string
}

export interface CallOptions {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly token?: string | undefined
  readonly body?: string | Buffer
  /** On a connection of its own, so that any number run at the same time. */
  readonly alone?: boolean
  /** Whose connections it uses. Default: one that all calls of the process share, with few connections. */
  readonly agent?: Agent
}

const shared = new Agent({ keepAlive: true, maxSockets: 8 })

/** One HTTP exchange with the target sent as it stands: no URL is parsed or normalised on the way. */
export function call(base: string, target: string, options: CallOptions = {}): Promise<Answer> {
  const { hostname, port } = new URL(base)
  const { method = 'GET', headers = {}, token, body, alone = false, agent = shared } = options
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent: alone ? false : agent,
        hostname,
        port,
        method,
        path: target,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers }
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            rawHeaders: incoming.rawHeaders,
            bytes,
            text: bytes.toString('utf8'),
            path: target.split('?')[0] ?? target
          })
        })
      }
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** `filters[property].operator=…&filters[property].value=…`, percent-encoded. */
export function filter(property: string, operator: string, value: string): string {
  const key = encodeURIComponent(`filters[${property}]`)
  return `${key}.operator=${encodeURIComponent(operator)}&${key}.value=${encodeURIComponent(value)}`
}
