import { expect } from 'chai'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  type ApplicationTypes,
  type Client,
  type Clock,
  ConnectionError,
  createClient,
  ExportIncompleteError,
  isProblem,
  type ResourceTypes
} from '../../clients/typescript/src/client.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'

interface Things extends ResourceTypes {
  readonly id: number
  readonly row: { readonly id: number; readonly name: string | null }
  readonly sort: 'id'
  readonly fields: 'id' | 'name'
  readonly create: { readonly name: string }
  readonly patch: { readonly name: string }
  readonly by: { readonly name: string }
}

interface Application extends ApplicationTypes {
  readonly resources: { readonly things: Things }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const NOW = Date.parse('2026-01-31T12:00:00Z')

describe('what the typed client sends again, and when', () => {
  let server: Server
  let url: string
  /** What the server does with one request after the other; the last is repeated. */
  let answers: Answer[] = []
  const seen: string[] = []
  const keys: unknown[] = []
  const slept: number[] = []
  const authorizations: (string | undefined)[] = []
  const types: string[] = []
  const bodies: string[] = []
  /** Half of every wait that chance decides about. */
  const clock: Clock = {
    now: () => NOW,
    random: () => 0.5,
    sleep: (milliseconds) => {
      slept.push(milliseconds)
      return Promise.resolve()
    }
  }
  const client = (token?: () => Promise<string | undefined>): Client<Application> =>
    createClient({ baseUrl: `${url}/`, clock, ...(token === undefined ? {} : { token }) })

  before(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      keys.push(request.headers['idempotency-key'])
      authorizations.push(request.headers.authorization)
      types.push(request.headers['content-type'] ?? '')
      const body: Buffer[] = []
      request.on('data', (piece: Buffer) => body.push(piece))
      request.on('end', () => {
        bodies.push(Buffer.concat(body).toString())
        const answer = answers.length > 1 ? answers.shift() : answers[0]
        answer?.(request, response)
      })
    })
    url = `http://127.0.0.1:${await listenLocally(server)}`
  })
  beforeEach(() => {
    for (const list of [seen, keys, slept, authorizations, types, bodies]) list.length = 0
  })
  after(() => closeLocally(server))

  const json =
    (body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
    (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  const problem =
    (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer =>
    (_request, response) =>
      void response
        .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
        .end(JSON.stringify({ code, status, title: 'A title', detail: 'A detail.' }))
  const reset: Answer = (request) => void request.socket.destroy()
  const thing = { id: 1, name: null }

  describe('with a machine account', () => {
    let now = NOW
    const machine = (): Client<Application> =>
      createClient({
        baseUrl: url,
        clock: { ...clock, now: () => now },
        machine: { id: 'robot', secret: 'a+b' },
        headers: { accept: 'application/json' }
      })
    const token = (name: string): Answer => json({ access_token: name, token_type: 'Bearer', expires_in: 900 })
    const asked = 'POST /auth/token'
    const read = 'GET /things/1'

    it('asks for one token for all calls, and for the next 30 seconds before its end', async () => {
      const things = machine().resource('things')
      answers = [token('one'), json(thing)]
      await Promise.all([things.get(1), things.get(1), things.get(1)])
      now += 869_999
      await things.get(1)
      expect(seen).to.deep.equal([asked, read, read, read, read])
      now += 1
      answers = [token('two'), json(thing)]
      await Promise.all([things.get(1), things.get(1)])
      expect(seen.slice(5)).to.deep.equal([asked, read, read])
      expect(authorizations).to.deep.equal([
        undefined,
        ...Array<string>(4).fill('Bearer one'),
        undefined,
        'Bearer two',
        'Bearer two'
      ])
    })

    it('asks for another token after a 401, and sends the call once more', async () => {
      answers = [token('one'), problem(401, 'auth.invalid-token'), token('two'), json(thing)]
      expect(await machine().resource('things').get(1)).to.deep.equal(thing)
      expect(seen).to.deep.equal([asked, read, asked, read])
      seen.length = 0
      answers = [token('one'), problem(401, 'auth.invalid-token'), token('two'), problem(401, 'auth.invalid-token')]
      const error = await rejected(machine().resource('things').get(1))
      if (!isProblem(error, 'auth.invalid-token')) throw error
      expect(seen).to.deep.equal([asked, read, asked, read])
    })

    it('asks again for a token after a failure that may pass, and at the next call after one that stays', async () => {
      const things = machine().resource('things')
      const wrong: Answer = (_request, response) =>
        void response
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"error":"invalid_client","error_description":"Wrong."}')
      answers = [problem(503, 'upstream.unavailable'), wrong]
      const error = await rejected(things.get(1))
      if (!isProblem(error)) throw error
      expect([error.problem.status, error.problem.detail]).to.deep.equal([401, 'Wrong.'])
      expect(seen).to.deep.equal([asked, asked])
      answers = [token('one'), json(thing)]
      expect(await things.get(1)).to.deep.equal(thing)
    })

    it('sends client id and secret as a form', async () => {
      answers = [token('one'), json(thing)]
      await machine().resource('things').get(1)
      expect(bodies[0]).to.equal('grant_type=client_credentials&client_id=robot&client_secret=a%2Bb')
      expect(types[0]).to.match(/^application\/x-www-form-urlencoded(?:;charset=UTF-8)?$/)
    })
  })

  it('waits as long as Retry-After says in seconds, and a little more', async () => {
    answers = [problem(503, 'upstream.unavailable', { 'retry-after': '7' }), json(thing)]
    expect(await client().resource('things').get(1)).to.deep.equal(thing)
    expect(slept).to.deep.equal([7100])
  })

  it('waits until the date of Retry-After', async () => {
    const date = new Date(NOW + 12_000).toUTCString()
    const past = new Date(NOW - 12_000).toUTCString()
    answers = [
      problem(429, 'quota-exceeded', { 'retry-after': date }),
      problem(429, 'quota-exceeded', { 'retry-after': past }),
      json(thing)
    ]
    await client().resource('things').patch(1, { name: 'a' })
    expect(slept).to.deep.equal([12_100, 100])
  })

  it('waits no longer than it may, and gives the problem to the caller', async () => {
    answers = [problem(503, 'upstream.unavailable', { 'retry-after': '3600' })]
    const error = await rejected(client().resource('things').get(1))
    if (!isProblem(error, 'upstream.unavailable')) throw error
    expect([error.retryAfter, seen.length, slept]).to.deep.equal([3_600_000, 1, []])
  })

  it('doubles its waits, half of each by chance, and gives up after four attempts', async () => {
    answers = [reset]
    expect(await rejected(client().resource('things').get(1))).to.be.instanceOf(ConnectionError)
    expect([seen.length, slept]).to.deep.equal([4, [100, 200, 400]])
  })

  it('keeps the key of a create, the caller’s own too, and waits while the first attempt still runs', async () => {
    answers = [
      reset,
      problem(409, 'idempotency.in-flight', { 'retry-after': '1' }),
      problem(504, 'upstream.timeout'),
      json(thing)
    ]
    expect(await client().resource('things').create({ name: 'a' })).to.deep.equal(thing)
    expect([seen.length, new Set(keys).size]).to.deep.equal([4, 1])
    keys.length = 0
    answers = [reset, json([thing])]
    await client()
      .resource('things')
      .createBatch([{ name: 'a' }], { idempotencyKey: 'mine' })
    expect(keys).to.deep.equal(['mine', 'mine'])
  })

  it('sends a file to import again with the same key and from its beginning', async () => {
    const counts = { rows: 2, created: 1, failed: 0, replayed: 1, errors: [] }
    const text = 'name\na\nb\n'
    const sent: number[] = []
    const open = () => new Blob([text]).stream()
    for (const [file, format] of [
      [text, 'csv'],
      [new Blob([text]), 'csv'],
      [open, 'ndjson']
    ] as const) {
      answers = [problem(503, 'upstream.unavailable'), reset, json(counts)]
      const onProgress = (bytes: number) => sent.push(bytes)
      const options = { format, by: 'name', onError: 'skip', onProgress } as const
      expect(await client().resource('things').import(file, options)).to.deep.equal(counts)
    }
    expect(new Set(seen)).to.deep.equal(new Set(['POST /things/import?by=name&onError=skip']))
    expect(bodies).to.deep.equal(Array.from({ length: 9 }, () => text))
    expect(types).to.deep.equal(['text/csv', 'text/csv', 'application/x-ndjson'].flatMap((one) => [one, one, one]))
    expect([keys.length, new Set(keys).size]).to.deep.equal([9, 3])
    expect(sent).to.deep.equal([0, 9, 0, 9, 0, 9])
  })

  it('sends no PUT, PATCH or DELETE again that may have been carried out', async () => {
    const things = client().resource('things')
    for (const answer of [reset, problem(503, 'upstream.unavailable'), problem(504, 'upstream.timeout')]) {
      answers = [answer]
      await rejected(things.patch(1, { name: 'a' }))
    }
    expect(seen).to.deep.equal(['PATCH /things/1', 'PATCH /things/1', 'PATCH /things/1'])
  })

  it('sends nothing again that the service rejects, a conflict without a precondition included', async () => {
    for (const [status, code] of [
      [400, 'body.invalid'],
      [403, 'capability.denied'],
      [409, 'conflict'],
      [500, 'internal']
    ] as const) {
      answers = [problem(status, code)]
      const error = await rejected(client().resource('things').create({ name: 'a' }))
      expect(isProblem(error, code), code).to.equal(true)
    }
    expect(seen.length).to.equal(4)
  })

  it('takes a code that it does not know as unknown, and an answer that is no problem document too', async () => {
    answers = [problem(418, 'teapot')]
    const unknown = await rejected(client().resource('things').get(1))
    if (!isProblem(unknown)) throw unknown
    const { code, givenCode, status } = unknown.problem
    expect([code, givenCode, status]).to.deep.equal(['unknown', 'teapot', 418])
    answers = [(_request, response) => void response.writeHead(404, { 'x-request-id': 'r-1' }).end('<h1>Gone</h1>')]
    const page = await rejected(client().resource('things').get(2))
    if (!isProblem(page)) throw page
    expect(page.problem).to.deep.equal({
      code: 'unknown',
      givenCode: '',
      status: 404,
      type: 'about:blank',
      title: 'Not Found',
      detail: 'The answer 404 is no problem document.',
      instance: '/things/2',
      requestId: 'r-1',
      errors: [],
      members: {}
    })
  })

  it('repeats a call once with a new token, and asks again where asking failed', async () => {
    let asked = 0
    const tokens = [Promise.resolve('one'), Promise.reject(new Error('No token.')), Promise.resolve('three')]
    void tokens[1]?.catch(() => undefined)
    const things = client(() => tokens[asked++] ?? Promise.resolve(undefined)).resource('things')
    answers = [problem(401, 'auth.invalid-token')]
    expect(String(await rejected(things.get(1)))).to.equal('Error: No token.')
    expect([asked, seen.length]).to.deep.equal([2, 1])
    const error = await rejected(things.get(1))
    expect(isProblem(error, 'auth.invalid-token')).to.equal(true)
    expect([asked, seen.length]).to.deep.equal([4, 2])
    const same = client(() => Promise.resolve('the same')).resource('things')
    expect(isProblem(await rejected(same.get(1)), 'auth.invalid-token')).to.equal(true)
    expect(seen.length).to.equal(3)
    answers = [problem(401, 'auth.invalid-token'), json(thing)]
    expect(
      await client(() => Promise.resolve(`token ${asked++}`))
        .resource('things')
        .get(1)
    ).to.deep.equal(thing)
    expect([asked, seen.length]).to.deep.equal([6, 5])
  })

  it('does not multiply the attempts for a token by those of the call', async () => {
    answers = [problem(503, 'upstream.unavailable')]
    const inPage = createClient<Application>({ baseUrl: url, clock, token: 'session' })
    const error = await rejected(inPage.resource('things').get(1))
    expect(isProblem(error, 'upstream.unavailable')).to.equal(true)
    expect(seen).to.deep.equal(Array.from({ length: 4 }, () => 'POST /auth/session/token'))
  })

  it('sends nothing to a path that an id would lead out of', async () => {
    const things = client().resource('things')
    for (const id of ['', '.', '..', undefined]) {
      expect(await rejected(things.get(id as unknown as number))).to.be.instanceOf(TypeError)
    }
    answers = [json(thing)]
    await things.get('a/../b?c' as unknown as number)
    expect(seen).to.deep.equal(['GET /things/a%2F..%2Fb%3Fc'])
  })

  it('reads an export in chunks that end anywhere, and counts no mark of a broken one', async () => {
    const head = { 'content-type': 'text/csv', 'x-export-row-limit': '100' }
    const text = 'id,name\r\n1,"a\r\nb, ""c"" é"\r\n,""\r\n3,\r\n'
    const inPieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of Buffer.from(text)) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      }
    })
    const paths: string[] = []
    const inBytes = createClient<Application>({
      fetch: (input) => {
        paths.push(typeof input === 'string' ? input : '')
        return Promise.resolve(new Response(inPieces, { headers: head }))
      }
    })
    const whole = await inBytes.resource('things').export()
    const rows: unknown[] = []
    for await (const row of whole) rows.push(row)
    expect(rows).to.deep.equal([
      { id: '1', name: 'a\r\nb, "c" é' },
      { id: null, name: '' },
      { id: '3', name: null }
    ])
    expect([whole.rows, whole.isTruncated]).to.deep.equal([3, false])
    expect(paths).to.deep.equal(['/things/export?bom=false&escapeFormulas=false'])

    answers = [
      (request, response) => {
        response.writeHead(200, head)
        response.write(`${text}# export incomplete after 3 rows,\r\n`, () =>
          setImmediate(() => request.socket.destroy())
        )
      }
    ]
    for (const read of ['rows', 'file']) {
      const broken = await client().resource('things').export()
      const error = await rejected(read === 'file' ? new Response(broken.file()).text() : drained(broken))
      expect(error, read).to.be.instanceOf(ExportIncompleteError)
      expect((error as ExportIncompleteError).rows, read).to.equal(3)
    }
  })

  it('takes the mark of values that are not shown for no row, of an export that is cut and of one that is whole', async () => {
    const mark = '# export without values: 1=name b%2Cc=name more=5,\r\n'
    const cut = '# export truncated at 2 rows,\r\n'
    const head = { 'content-type': 'text/csv', 'x-export-row-limit': '2' }
    const bodies: readonly (readonly [rows: string, end: string, found: readonly [number, boolean]])[] = [
      ['1,\r\n', mark, [1, false]],
      ['1,\r\n2,"# export without values: 1=name"\r\n', mark, [2, false]],
      ['1,\r\n2,\r\n', mark + cut, [2, true]]
    ]
    for (const [rows, end, found] of bodies) {
      for (const read of ['rows', 'file']) {
        const body = `id,name\r\n${rows}${end}`
        const answered = createClient<Application>({
          fetch: () => Promise.resolve(new Response(body, { headers: head }))
        })
        const exported = await answered.resource('things').export()
        expect(exported.unshownValues).to.equal(undefined)
        let yielded = 0
        if (read === 'file') expect(await new Response(exported.file()).text()).to.equal(body)
        else for await (const row of exported) yielded += Number(row.id) > 0 ? 1 : 100
        expect([exported.rows, exported.isTruncated], `${read} of ${body}`).to.deep.equal(found)
        if (read === 'rows') expect(yielded).to.equal(found[0])
        expect(exported.unshownValues).to.deep.equal(['1=name', 'b%2Cc=name', 'more=5'])
      }
    }
  })

  it('takes an export for incomplete where its body ends in the mark, or within a row, as one that is whole', async () => {
    const head = { 'content-type': 'text/csv', 'x-export-row-limit': '10' }
    const bodies: readonly (readonly [body: string, rows: number | 'whole'])[] = [
      ['id,name\r\n1,a\r\n# export incomplete after 1 rows,\r\n', 1],
      ['id\r\n1\r\n# export incomplete after 1 rows\r\n', 1],
      ['id,name\r\n# export incomplete after 0 rows,\r\n', 0],
      ['id,name\r\n1,a\r\n2,"b, and', 1],
      ['id,name\r\n1,a\r\n2,b', 1],
      ['id,na', 0],
      ['id,name\r\n"# export incomplete after 0 rows",\r\n', 'whole'],
      ['id,name\r\n', 'whole']
    ]
    for (const [body, rows] of bodies) {
      for (const read of ['rows', 'file']) {
        const answered = createClient<Application>({
          fetch: () => Promise.resolve(new Response(body, { headers: head }))
        })
        const found = await answered.resource('things').export()
        const reading = read === 'file' ? new Response(found.file()).text() : drained(found)
        if (rows === 'whole') {
          await reading
          continue
        }
        const error = await rejected(Promise.resolve(reading))
        expect(error, `${read} of ${body}`).to.be.instanceOf(ExportIncompleteError)
        expect((error as ExportIncompleteError).rows, `${read} of ${body}`).to.equal(rows)
      }
    }
  })
})

async function drained(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const row of rows) void row
}

/** What a promise is rejected with. */
async function rejected(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('It was not rejected.')
}
