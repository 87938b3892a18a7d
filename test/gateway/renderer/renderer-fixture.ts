import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

interface SeenRequest {
  readonly method: string
  readonly url: string
  /** Names and values in the order of the wire. */
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A renderer that does what the test says, and remembers what it was asked. */
export interface FakeRenderer extends AsyncDisposable {
  readonly url: string
  readonly host: string
  readonly seen: SeenRequest[]
  /** What it answers the next requests with. */
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
}

export async function startRenderer(): Promise<FakeRenderer> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    void buffer(request).then(
      (bytes) => {
        const body = bytes.toString('utf8')
        seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
        renderer.answer(request, response, body)
      },
      () => response.destroy()
    )
  })
  const port = await listenLocally(server)
  const renderer: FakeRenderer = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    seen,
    answer: (_request, response) => response.setHeader('content-type', 'text/html').end('<p>page</p>'),
    [Symbol.asyncDispose]: () => closeLocally(server)
  }
  return renderer
}
