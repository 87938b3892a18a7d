import { expect } from 'chai'
import { createServer, type ServerResponse } from 'node:http'
import { compareAnswers } from '../../bench/workloads/compare-answers.js'

type Answer = (response: ServerResponse, origin: string) => void

const PATHS = ['/products/1']

async function comparing(left: Answer, right: Answer, parts: 'all' | 'body' = 'all'): Promise<number> {
  const servers = [left, right].map((answer) => {
    const server = createServer((request, response) => answer(response, `http://${request.headers.host}`))
    return { server: server.listen(0, '127.0.0.1') }
  })
  try {
    const [a, b] = await Promise.all(servers.map(({ server }) => originOf(server)))
    if (a === undefined || b === undefined) throw new Error('Two servers have two origins.')
    return await compareAnswers(
      [
        { name: 'left', origin: a },
        { name: 'right', origin: b }
      ],
      [{ headers: ['Authorization: Bearer token'] }],
      { paths: () => Promise.resolve(PATHS), parts }
    )
  } finally {
    for (const { server } of servers) server.close().closeAllConnections()
  }
}

async function originOf(server: ReturnType<typeof createServer>): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Not a TCP server.')
  return `http://127.0.0.1:${address.port}`
}

async function rejection(left: Answer, right: Answer): Promise<string> {
  return comparing(left, right).then(
    () => 'no difference',
    (error: unknown) => String(error)
  )
}

const body =
  (text: string): Answer =>
  (response) =>
    void response.end(text)
const header =
  (name: string, value: string): Answer =>
  (response) =>
    void response.setHeader(name, value).end('same')

describe('comparison of the targets of the bench', () => {
  it('passes answers that are the same', async () => {
    expect(await comparing(body('same'), body('same'))).to.equal(1)
  })

  it('tells bodies apart, and where', async () => {
    expect(await rejection(body('{"id":1}'), body('{"id":2}'))).to.contain('from byte 6')
    expect(await rejection(body('{"id":1}'), body('{"id":1} '))).to.contain('bodies of 8 and 9 bytes')
  })

  it('tells headers apart', async () => {
    expect(await rejection(header('etag', 'W/"a"'), header('etag', 'W/"b"'))).to.contain('etag: W/"b"')
    expect(await rejection(body('same'), header('x-total-count', '7'))).to.contain('headers')
  })

  it('looks at the bodies alone where the headers hold cursors', async () => {
    expect(await comparing(header('link', 'one'), header('link', 'another'), 'body')).to.equal(1)
  })

  it('tells statuses apart, and takes no failure for an answer', async () => {
    const missing: Answer = (response) => void response.writeHead(404).end('same')
    expect(await rejection(body('same'), missing)).to.contain('status 200 and 404')
    expect(await rejection(missing, missing)).to.contain('left answers 404')
  })

  it('overlooks what names the target itself or the moment', async () => {
    const linked: Answer = (response, origin) =>
      void response.setHeader('link', `<${origin}/x>; rel="next"`).end('same')
    expect(await rejection(linked, linked)).to.equal('no difference')
    expect(await rejection(header('x-request-id', 'a'), header('x-request-id', 'b'))).to.equal('no difference')
  })
})
