import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

/** What the key ring asks of a blob server, answered as azurite answers it, with which the soak repeats the tests. */
export async function startStandIn(): Promise<{ readonly port: number; end(): Promise<void> }> {
  const blobs = new Map<string, { readonly body: Buffer; readonly tag: string }>()
  let written = 0
  const server = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: signature } = new URL(request.url ?? '/', 'http://stand-in')
    const { method = '', headers } = request
    const body = await buffer(request)
    const fail = (status: number, code: string): void => {
      const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}: no.</Message></Error>`
      response.writeHead(status, { 'x-ms-error-code': code, 'content-type': 'application/xml' }).end(text)
    }
    const stored = blobs.get(pathname)
    // Whoever has the key of the account may do all.
    const isSigned = headers.authorization === undefined
    const permitted = signature.get('sp') ?? ''
    if (isSigned && new Date(signature.get('se') ?? 0) < new Date()) fail(403, 'AuthorizationFailure')
    else if (isSigned && !(method === 'PUT' ? /[cw]/ : /r/).test(permitted))
      fail(403, 'AuthorizationPermissionMismatch')
    else if (method !== 'PUT' && stored === undefined) fail(404, 'BlobNotFound')
    else if (method === 'GET' || method === 'HEAD') {
      response.writeHead(200, { etag: stored?.tag, 'content-length': stored?.body.length }).end(stored?.body)
    } else if (method === 'DELETE') response.writeHead(blobs.delete(pathname) ? 202 : 404).end()
    else if (headers['if-none-match'] === '*' && stored !== undefined) fail(409, 'BlobAlreadyExists')
    else if (headers['if-match'] !== undefined && headers['if-match'] !== stored?.tag) fail(412, 'ConditionNotMet')
    else {
      const tag = `"${++written}"`
      blobs.set(pathname, { body, tag })
      response.writeHead(201, { etag: tag }).end()
    }
  }
  return { port: await listenLocally(server), end: () => closeLocally(server) }
}
