import { createServer } from 'node:http'
import { closeLocally, listenLocally } from '../test/harness/local-server.js'
import { startAzurite } from '../test/gateway/key-ring/azurite.js'
import { PAGE } from './visitors.js'

/** What gateways need besides data services: a real blob server for their key ring, and a renderer of one page. */
export interface Neighbours {
  readonly ringUrl: string
  readonly rendererUrl: string
  stop(): Promise<void>
}

export async function startNeighbours(): Promise<Neighbours> {
  const azurite = await startAzurite()
  const renderer = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'text/html').end(PAGE)
  })
  const port = await listenLocally(renderer)
  return {
    ringUrl: (await azurite.blobUrl('ring.json')).href,
    rendererUrl: `http://127.0.0.1:${port}`,
    async stop() {
      await closeLocally(renderer)
      await azurite.dispose()
    }
  }
}
