import { once } from 'node:events'
import { request as plainly } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { request as encrypted } from 'node:https'
import { buffer } from 'node:stream/consumers'

export interface TlsRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** An answer with its headers by lower-case name; a header of several lines is joined as JSON. */
export interface TlsAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends a request over HTTP/1.1 on a connection of its own, with TLS to `https:`. `ca` is the PEM of the authority. */
export async function overHttp1(url: string, ca: string, request: TlsRequest & { path: string }): Promise<TlsAnswer> {
  const { hostname, port, protocol } = new URL(url)
  const { method = 'GET', headers = {}, path, body } = request
  // Node would compare the certificate with the header Host.
  const checkServerIdentity = (): undefined => undefined
  const send = protocol === 'https:' ? encrypted : plainly
  const outgoing = send({ hostname, port, path, method, headers, ca, agent: false, checkServerIdentity })
  outgoing.end(body)
  return await new Promise((resolve, reject) => {
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      buffer(response).then((bytes) => {
        resolve({ status: response.statusCode ?? 0, headers: plain(response.headers), body: bytes.toString() })
      }, reject)
    })
  })
}

/** A connection of HTTP/2; its errors are those of its streams. */
export async function openHttp2(url: string, ca: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url, { ca, maxSendHeaderBlockLength: 1024 * 1024 })
  session.on('error', () => {})
  await once(session, 'connect')
  return session
}

/** The head of the answer, its body still to be read. */
export async function openStream(
  session: ClientHttp2Session,
  { method = 'GET', path, headers = {}, body }: TlsRequest & { path: string }
): Promise<{ stream: ClientHttp2Stream; status: number; headers: Readonly<Record<string, string>> }> {
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  // Rejects with the stream's error.
  const [sent] = (await once(stream, 'response')) as [Record<string, unknown>]
  const names = Object.entries(sent).filter(([name]) => !name.startsWith(':'))
  return { stream, status: Number(sent[':status']), headers: plain(Object.fromEntries(names)) }
}

/** Sends a request as a stream of the connection, and reads its answer to the end. */
export async function overHttp2(
  session: ClientHttp2Session,
  request: TlsRequest & { path: string }
): Promise<TlsAnswer> {
  const { stream, status, headers } = await openStream(session, request)
  return { status, headers, body: (await buffer(stream)).toString() }
}

function plain(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : String(value)])
  )
}
