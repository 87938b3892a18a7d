import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { closeLocally, listenLocally } from './local-server.js'

/** A secret of the Standard Webhooks' own tests, and another one. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const NEXT_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** What a receiver got, in the order of its requests. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly id: string
}

/** An HTTP server on this machine that takes deliveries. */
export class WebhookReceiver {
  readonly received: Received[] = []
  /** Connections, also those over which nothing was sent. */
  connections = 0
  /** What it answers; nothing at all where that is undefined. */
  answer: (request: Received) => number | Parameters<ServerResponse['writeHead']> | undefined = () => 204
  readonly #server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = '', headers } = request
      const received = { path, headers, body, id: String(headers['webhook-id']) }
      this.received.push(received)
      const answer = this.answer(received)
      if (typeof answer === 'number') response.writeHead(answer).end('a body that is nobody’s business')
      else if (answer !== undefined) response.writeHead(...answer).end()
    }, ignored)
  }).on('connection', () => (this.connections += 1))
  #port = 0

  static async start(): Promise<WebhookReceiver> {
    const made = new WebhookReceiver()
    made.#port = await listenLocally(made.#server)
    return made
  }

  url(host = '127.0.0.1'): string {
    return `http://${host}:${this.#port}/hook?key=hidden`
  }

  /** The ids in the order of the requests, of rows of this id. */
  idsOf(rowId: string): string[] {
    return this.received.filter(({ body }) => dataOf(body).rowId === rowId).map(({ id }) => id)
  }

  stop(): Promise<void> {
    return closeLocally(this.#server)
  }
}

const ignored = (): void => undefined

/** `data` of a body. */
export function dataOf(body: string): { readonly resource: string; readonly rowId: string; readonly payload: object } {
  const { data } = JSON.parse(body) as { readonly data: ReturnType<typeof dataOf> } // what the service sends
  return data
}

/** Whether a request is from whoever knows the secret, as the text of Standard Webhooks has it checked. */
export function isSigned({ headers, body }: Pick<Received, 'headers' | 'body'>, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(timestamp)}.${body}`)
    .digest()
  return String(signatures)
    .split(' ')
    .some((one) => {
      const [version, signature = ''] = one.split(',')
      const bytes = Buffer.from(signature, 'base64')
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
    })
}
