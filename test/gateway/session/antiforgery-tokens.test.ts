import { expect } from 'chai'
import { AntiforgeryTokens } from '../../../gateway/session/antiforgery.js'
import { DAYS, ManualClock } from '../key-ring/manual-clock.js'
import { MemoryStore } from '../key-ring/memory-store.js'
import { type Replica, startReplica } from '../key-ring/replica.js'

/** No session. */
const NOBODY = Buffer.alloc(0)

describe('antiforgery tokens', () => {
  let clock: ManualClock
  let replicas: Replica[]

  beforeEach(() => {
    clock = new ManualClock()
    replicas = []
  })

  afterEach(() => {
    for (const { upkeep } of replicas) upkeep.close()
  })

  const start = async (store = new MemoryStore()): Promise<AntiforgeryTokens> => {
    const replica = await startReplica({ store, clock })
    replicas.push(replica)
    return new AntiforgeryTokens(replica.ring)
  }
  const valid = { valid: true }

  it('are accepted with the cookie that they came with, by any replica of the ring', async () => {
    const store = new MemoryStore()
    const [one, other] = [await start(store), await start(store)]
    const { cookie, token } = await one.issue(undefined, NOBODY)
    expect(await one.verify(cookie, token, NOBODY)).to.deep.equal(valid)
    expect(await other.verify(cookie, token, NOBODY)).to.deep.equal(valid)
  })

  it('are rejected by a replica with another ring, which can say why', async () => {
    const [one, other] = [await start(), await start()]
    const { cookie, token } = await one.issue(undefined, NOBODY)
    expect(await other.verify(cookie, token, NOBODY)).to.deep.equal({
      valid: false,
      why: 'cookie: its key is not in this ring: there is no such key in memory'
    })
  })

  it('differ each time and never show the signature', async () => {
    const tokens = await start()
    const { cookie, token } = await tokens.issue(undefined, NOBODY)
    const again = await tokens.issue(cookie, NOBODY)
    expect(again.token).to.not.equal(token)
    expect(again.token.slice(-43)).to.not.equal(token.slice(-43))
    expect(await tokens.verify(cookie, again.token, NOBODY)).to.deep.equal(valid)
  })

  it('stay valid when another one is fetched with the same cookie', async () => {
    const tokens = await start()
    const { cookie, token } = await tokens.issue(undefined, NOBODY)
    const again = await tokens.issue(cookie, NOBODY)
    expect(await tokens.verify(again.cookie, token, NOBODY)).to.deep.equal(valid)
  })

  it("are rejected with another's cookie, as each other and as cookies", async () => {
    const tokens = await start()
    const [mine, theirs] = [await tokens.issue(undefined, NOBODY), await tokens.issue(undefined, NOBODY)]
    expect(mine.cookie).to.not.equal(theirs.cookie)
    for (const [cookie, token] of [
      [mine.cookie, theirs.token],
      [mine.cookie, mine.cookie],
      [mine.token, mine.token],
      [mine.token, mine.cookie]
    ] as const) {
      expect((await tokens.verify(cookie, token, NOBODY)).valid, `${cookie}, ${token}`).to.equal(false)
    }
  })

  it('are rejected with any character changed, cut or added', async () => {
    const tokens = await start()
    const { cookie, token } = await tokens.issue(undefined, NOBODY)
    for (const [text, verify] of [
      [cookie, (changed: string) => tokens.verify(changed, token, NOBODY)],
      [token, (changed: string) => tokens.verify(cookie, changed, NOBODY)]
    ] as const) {
      const changes = Array.from(
        text,
        (_, at) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
      )
      // The last character has bits that mean nothing.
      const spare = text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1)
      for (const changed of [...changes, spare, text.slice(1), text.slice(0, -1), `${text}A`, `${text}\n`, '', '.']) {
        expect((await verify(changed)).valid, changed).to.equal(false)
      }
    }
  })

  it('ignore a cookie that is none of theirs and make another', async () => {
    const tokens = await start()
    const { cookie } = await (await start()).issue(undefined, NOBODY)
    for (const earlier of [cookie, 'nonsense', '']) {
      const issued = await tokens.issue(earlier, NOBODY)
      expect(issued.cookie, JSON.stringify(earlier)).to.not.equal(earlier)
      expect(await tokens.verify(issued.cookie, issued.token, NOBODY), JSON.stringify(earlier)).to.deep.equal(valid)
    }
  })

  it('outlive the key that made them by 90 days, and longer where the cookie is renewed', async () => {
    const tokens = await start()
    const { cookie, token } = await tokens.issue(undefined, NOBODY)
    await clock.pass(77 * DAYS)
    await clock.pass(100 * DAYS)
    expect(await tokens.verify(cookie, token, NOBODY)).to.deep.equal(valid)
    const renewed = await tokens.issue(cookie, NOBODY)
    expect(renewed.cookie.slice(0, 16)).to.not.equal(cookie.slice(0, 16))
    expect(await tokens.verify(renewed.cookie, token, NOBODY)).to.deep.equal(valid)
    await clock.pass(3 * DAYS)
    expect((await tokens.verify(renewed.cookie, token, NOBODY)).valid).to.equal(false)
    expect(await tokens.verify(renewed.cookie, renewed.token, NOBODY)).to.deep.equal(valid)
  })
})
