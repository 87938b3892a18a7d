import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { type LightMyRequestResponse, fastify } from 'fastify'
import type { Resource } from '../../../gateway/data/data-client.js'
import { KeptTexts } from '../../../gateway/http/kept-texts.js'
import { writtenDocument } from '../../../gateway/openapi/document.js'
import { described, products } from '../fake-data-client.js'
import { Documents } from '../../../gateway/openapi/documents.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}

/** What a generator returns, and how many steps it takes. */
function driven<Made>(parts: Generator<undefined, Made, undefined>): { readonly made: Made; readonly steps: number } {
  for (let steps = 1; ; steps++) {
    const { done, value } = parts.next()
    if (done === true) return { made: value, steps }
  }
}

describe('the bytes of an OpenAPI document', () => {
  const names = Array.from({ length: 40 }, (_, at) => `r${at}`)
  const resources = names.map((name) =>
    products({ name, description: `Größe – ${name}.`, operations: [...products().operations, 'batch', 'import'] })
  )
  for (const exact of [true, false]) {
    for (const only of [undefined, ['r7', 'r3'], []]) {
      it(`are those of its objects${exact ? ', exact' : ''}${only === undefined ? '' : `, of ${only.length} resources`}`, () => {
        const described = { resources, exact, only, keyRequired: exact }
        const { made, steps } = driven(writtenDocument(described, 'https://x.example'))
        const text = Buffer.concat(made).toString()
        const { paths, tags } = JSON.parse(text) as Record<'paths' | 'tags', object>
        expect(text).to.equal(JSON.stringify(JSON.parse(text)))
        // One after the other, as the catalogue has them.
        const named = (key: string): string | undefined => /^\/(r\d+)/.exec(key)?.[1]
        const inPaths = new Set(Object.keys(paths).flatMap((path) => named(path) ?? []))
        const wanted = names.filter((name) => only?.includes(name) ?? true)
        expect([...inPaths], JSON.stringify(tags)).to.deep.equal(wanted)
        // Each resource has a step of its own, in which nothing but its bytes is made.
        const shown = only?.length ?? resources.length
        expect(steps).to.be.greaterThan(shown)
        const whole = made.reduce((sum, { length }) => sum + length, 0)
        if (only === undefined) expect(Math.max(...made.map(({ length }) => length))).to.be.lessThan(whole / 3)
      })
    }
  }

  it('are digested in steps, and kept within a bound of all bytes', () => {
    const texts = new KeptTexts(5_000_000)
    const text = 'ä'.repeat(1_000_000)
    const parts = Array.from({ length: 20 }, () => Buffer.from(text.slice(0, 50_000)))
    const { made, steps } = driven(texts.keepParts('a', parts))
    expect(made).to.deep.equal(new KeptTexts().keep('a', text))
    expect(steps).to.be.greaterThan(1)
    expect(texts.known('a')).to.equal(made)
    for (const key of ['b', 'c']) driven(texts.keepParts(key, parts))
    expect(['a', 'b', 'c'].map((key) => texts.known(key) === undefined)).to.deep.equal([true, false, false])
    expect(texts.bytes).to.be.within(4_000_000, 5_000_000)
    // A larger one than all that may be kept takes the place of none.
    driven(texts.keepParts('d', [...parts, ...parts, ...parts]))
    expect([texts.known('d'), texts.known('c')?.body.length]).to.deep.equal([undefined, 2_000_000])
  })
})

describe('the documents that the gateway makes', () => {
  let gateway: GatewayFixture
  afterEach(() => gateway.close())

  /** `token` and `address` are those of the caller. */
  const get = (
    url: string,
    { token, address = '192.0.2.1', coding }: { token?: string; address?: string; coding?: string } = {}
  ): Promise<LightMyRequestResponse> =>
    gateway.app.inject({
      url,
      headers: {
        'x-forwarded-for': address,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(coding === undefined ? {} : { 'accept-encoding': coding })
      }
    })

  it('are made once for all who see the same', async () => {
    let looked = 0
    const counted = {
      ...products(),
      get description(): string {
        looked += 1
        return 'Something.'
      }
    } satisfies Resource
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1', DOCS_PUBLIC: 'true', ADMIN_UI: 'true' }, [counted])
    for (const url of ['/docs', '/docs/resources/products', '/openapi.json', '/admin/catalogue.json']) {
      const before = looked
      const first = await get(url)
      expect(first.statusCode, url).to.equal(200)
      const once = looked
      expect(once, url).to.be.greaterThan(before)
      for (const more of [
        {},
        { token: 'a' },
        { token: 'b', address: '192.0.2.2' },
        { coding: 'br' },
        { coding: 'br' }
      ]) {
        const { statusCode, body, headers } = await get(url, more)
        expect(statusCode, url).to.equal(200)
        if (headers['content-encoding'] === undefined) expect(body, url).to.equal(first.body)
      }
      expect(looked, url).to.equal(once)
    }
  })

  it('are made once for all who ask at one moment, even where they are too large to be kept', async () => {
    gateway = await startGateway()
    const asked = { count: 0, written: 0, compressed: 0 }
    let compress: () => void = () => undefined
    const compressing = new Promise<void>((resolve) => (compress = resolve))
    class SlowlyCompressed extends KeptTexts {
      override async in(...of: Parameters<KeptTexts['in']>): ReturnType<KeptTexts['in']> {
        asked.compressed += 1
        await compressing
        return await super.in(...of)
      }
    }
    const documents = new Documents(gateway.catalogue, new SlowlyCompressed(1))
    const app = fastify()
    let end: (text: readonly Buffer[]) => void = () => undefined
    app.get('/', async (request, reply) => {
      const { body, etag } = await documents.for(request, reply, () => {
        asked.count += 1
        const write = (): Promise<readonly Buffer[]> => {
          asked.written += 1
          return new Promise((resolve) => (end = resolve))
        }
        return { key: 'large', write, coding: request.headers['accept-encoding'] === 'br' ? 'br' : undefined }
      })
      return reply.header('etag', etag).send(body)
    })
    const ask = (at: number, coding: string): Promise<LightMyRequestResponse> =>
      app.inject({ url: '/', remoteAddress: `192.0.2.${at}`, headers: { 'accept-encoding': coding } })
    const first = [1, 2, 3, 4].map((at) => ask(at, at % 2 === 0 ? 'br' : 'identity'))
    // Each of them has looked whether it is known, and once more in its turn.
    await until(() => asked.count === 8 && asked.written > 0)
    // Those who come while it is made wait for it, and not for a turn, which an address has once at a time.
    const later = Array.from({ length: 40 }, (_, at) => ask(5, at % 2 === 0 ? 'br' : 'identity'))
    await until(() => asked.count === 48)
    end([Buffer.from('a'), Buffer.from('b')])
    await until(() => asked.compressed === 1)
    const last = Array.from({ length: 40 }, () => ask(6, 'br'))
    await until(() => asked.count === 88)
    compress()
    const [plain, coded, ...others] = await Promise.all([...first, ...later, ...last])
    expect([asked.written, asked.compressed]).to.deep.equal([1, 1])
    expect([plain?.body, coded && brotliDecompressSync(coded.rawPayload).toString()]).to.deep.equal(['ab', 'ab'])
    expect(new Set([plain, coded, ...others].map((one) => one?.headers['etag']))).to.have.property('size', 1)
    expect(others.filter(({ statusCode }) => statusCode !== 200)).to.deep.equal([])
    // It was not kept.
    const again = ask(7, 'identity')
    await until(() => asked.written === 2)
    end([Buffer.from('c')])
    expect((await again).body).to.equal('c')
    await app.close()
  })

  it('are not begun where they would take more memory than there is', async () => {
    const memory = { read: () => ({ used: 0, limit: 800_000 }), collect: () => undefined, now: () => 0 }
    const others = ['a', 'b', 'c', 'd'].map((name) => products({ name }))
    gateway = await startGateway({ DOCS_PUBLIC: 'true' }, others, { load: { memory } })
    const refused = await get('/openapi.json?exact=true')
    expect([refused.statusCode, refused.headers['retry-after']]).to.deep.equal([503, '1'])
    expect(refused.json())
      .to.include({ code: 'upstream.unavailable' })
      .and.have.property('detail')
      .that.contains('?resources=')
    expect((await get('/openapi.json?exact=true&resources=a')).statusCode).to.equal(200)
    expect((await get('/openapi.json')).statusCode).to.equal(200)
  })

  it('are made one after the other for one caller, and two at a time for an address, while others are served', async () => {
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' })
    /** Each answers a document's question what its caller sees, the oldest first. */
    const asked: { readonly token: string | undefined; readonly answer: () => void }[] = []
    gateway.data.answerDescribeTo = ({ authorization: token }) =>
      new Promise((resolve) => {
        asked.push({ token, answer: () => resolve(described([products()], { digest: String(token) })) })
      })
    const ofOneCaller = Array.from({ length: 18 }, () => get('/docs/resources/products', { token: 'a' }))
    const refused = await Promise.race(ofOneCaller)
    expect([refused.statusCode, refused.headers['retry-after']]).to.deep.equal([503, '1'])
    expect(refused.json()).to.include({ code: 'upstream.unavailable' })
    const views = Array.from({ length: 60 }, (_, at) => get('/docs', { token: `b${at}`, address: '192.0.2.2' }))
    expect((await Promise.race(views)).statusCode).to.equal(503)
    await until(() => asked.length === 3)
    for (const url of ['/health/ready', '/products/1', '/docs', '/docs/resources/products', '/openapi.json']) {
      expect((await get(url, { address: '192.0.2.3' })).statusCode, url).to.equal(200)
    }
    const ofOther = get('/docs', { token: 'c', address: '192.0.2.3' })
    await until(() => asked.length === 4)
    expect(asked.map(({ token }) => token)).to.deep.equal(['Bearer a', 'Bearer b0', 'Bearer b1', 'Bearer c'])
    asked.pop()?.answer()
    expect((await ofOther).statusCode).to.equal(200)

    const codes = Promise.all([...ofOneCaller, ...views].map(async (one) => (await one).statusCode))
    for (let left = 17 + 34; left > 0; left--) {
      await until(() => asked.length > 0)
      expect(asked.filter(({ token }) => token === 'Bearer a').length, `${left} left`).to.be.lessThan(2)
      expect(asked.length, `${left} left`).to.be.lessThan(4)
      asked.shift()?.answer()
    }
    expect((await codes).filter((code) => code === 200)).to.have.length(17 + 34)
    expect((await codes).filter((code) => code === 503)).to.have.length(1 + 26)
    // A flood does not fill the log.
    expect(gateway.lines.filter(({ level }) => level === 'warn')).to.deep.equal([])
  })

  it('that one caller asks for are not all made before what somebody else asks for is looked at', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `r${at}`)
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' }, [
      products(),
      ...names.map((name) => products({ name }))
    ])
    const order: string[] = []
    const asked = async (url: string, address: string): Promise<void> => {
      expect((await get(url, { address })).statusCode).to.equal(200)
      order.push(url)
    }
    await Promise.all([
      ...names.map((name) => asked(`/docs/resources/${name}`, '192.0.2.1')),
      asked('/products/1', '192.0.2.2')
    ])
    expect(order).to.have.length(13)
    expect(order.indexOf('/products/1')).to.be.lessThan(11)
    // A large one is made in parts.
    await Promise.all([asked('/openapi.json', '192.0.2.1'), asked('/products/1', '192.0.2.2')])
    expect(order.slice(13)).to.deep.equal(['/products/1', '/openapi.json'])
  })
})
