import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

/** How many requests began in each turn of the event loop, by the client that they came from. */
class BegunInTurns {
  readonly #turns: Set<string>[] = []
  #isOver = false

  constructor() {
    const next = (): void => {
      this.#turns.push(new Set())
      if (!this.#isOver) setImmediate(next)
    }
    next()
  }

  begin(id: string): void {
    this.#turns.at(-1)?.add(id)
  }

  end(): number[] {
    this.#isOver = true
    return this.#turns.map(({ size }) => size).filter((size) => size > 0)
  }
}

describe('large requests', () => {
  let gateway: GatewayFixture
  afterEach(() => gateway.close())

  const most = async (requests: readonly InjectOptions[], status = 200) => {
    gateway = await startGateway()
    const turns = new BegunInTurns()
    let begun = 0
    const { data } = gateway
    const { answerGet, answerCreate } = data
    data.answerGet = () => {
      turns.begin(String((begun += 1)))
      return answerGet()
    }
    data.answerCreate = (request) => {
      turns.begin(String((begun += 1)))
      return answerCreate(request)
    }
    const answers = await Promise.all(requests.map((request) => gateway.app.inject(request)))
    expect(answers.map(({ statusCode }) => statusCode)).to.deep.equal(requests.map(() => status))
    return Math.max(...turns.end())
  }

  it('Those of a client begin one in a turn of the event loop.', async () => {
    const target = `/products/1?${'a&'.repeat(8 * 1024)}`
    expect(await most(Array.from({ length: 8 }, () => ({ url: target })))).to.equal(1)
    await gateway.close()
    const query = `/products/1?${'a&'.repeat(1024)}`
    expect(await most(Array.from({ length: 8 }, () => ({ url: query })))).to.equal(1)
    await gateway.close()
    const headers = { prefer: 'a, '.repeat(4 * 1024) }
    expect(await most(Array.from({ length: 8 }, () => ({ url: '/products/1', headers })))).to.equal(1)
  })

  const created = (name: string): InjectOptions[] =>
    Array.from({ length: 8 }, () => ({ method: 'POST', url: '/products', payload: { name } }))

  it('Those of a client with large bodies begin one in a turn.', async () => {
    expect(await most(created('x'.repeat(8 * 1024)), 201)).to.equal(1)
  })

  it('Small ones begin together.', async () => {
    expect(await most(Array.from({ length: 8 }, () => ({ url: '/products/1' })))).to.be.above(1)
    await gateway.close()
    expect(await most(created('x'), 201)).to.be.above(1)
  })
})
