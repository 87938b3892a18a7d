import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { FairTurns } from '../../../gateway/server/fair-turns.js'
import { DomainError, TOO_MANY_READS } from '../../../shared/errors.js'
import { startGateway } from '../gateway-fixture.js'

describe('requests of an address of which some are refused', () => {
  it('begin two in a turn of the event loop, in their order, and those of others at once', async () => {
    const turns = new FairTurns()
    const begun: string[] = []
    const enter = (address: string, name: string): void => turns.enter(address, () => begun.push(name))
    turns.refused('a')
    for (const name of ['1', '2', '3', '4', '5']) enter('a', name)
    for (const name of ['x', 'y', 'z']) enter('b', name)
    expect(begun).to.deep.equal(['1', '2', 'x', 'y', 'z'])
    await turn()
    enter('a', '6')
    expect(begun.slice(5)).to.deep.equal(['3', '4'])
    await turn()
    expect(begun.slice(7)).to.deep.equal(['5', '6'])
    await turn()
    enter('a', '7')
    expect(begun.slice(9)).to.deep.equal(['7'])
  })

  it('take turns without a refusal where those of all addresses do', async () => {
    const turns = new FairTurns({ ofAll: 3 })
    let begun = 0
    for (let sent = 0; sent < 7; sent++) turns.enter('a', () => (begun += 1))
    const counts = [begun]
    for (let at = 0; at < 2; at++) {
      await turn()
      counts.push(begun)
    }
    expect(counts).to.deep.equal([3, 6, 7])
  })

  it('begin at once again two seconds later', () => {
    let now = 0
    const turns = new FairTurns({ now: () => now })
    let begun = 0
    turns.refused('a')
    now = 2000
    for (let sent = 0; sent < 5; sent++) turns.enter('a', () => (begun += 1))
    expect(begun).to.equal(5)
  })

  it('are those for which the data service has too much to do', async () => {
    const gateway = await startGateway()
    let asked = 0
    gateway.data.answerGet = () => {
      asked += 1
      throw new DomainError('upstream.unavailable', TOO_MANY_READS, { retryAfter: 1 })
    }
    const ask = async (): Promise<number> => (await gateway.app.inject('/products/1')).statusCode
    expect(await ask()).to.equal(503)
    const before = asked
    const all = Array.from({ length: 40 }, ask)
    while (asked === before) await turn()
    // All of them begin in one turn otherwise.
    expect(asked - before).to.be.below(10)
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set([503]))
    await gateway.close()
  })
})
