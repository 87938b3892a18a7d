import { expect } from 'chai'
import { type SharedCall, UnsentCalls } from '../../../gateway/data/unsent-calls.js'
import { DomainError } from '../../../shared/errors.js'

interface Call extends SharedCall {
  readonly name: string
}

describe('calls that are not sent yet', () => {
  let unsent: UnsentCalls<Call>
  beforeEach(() => (unsent = new UnsentCalls()))

  /** `name` begins with the address. */
  const add = (name: string, size = 100, tokenSize = 0): Call => {
    const call = { name, size, tokenSize, share: unsent.shareOf(name.split(' ')[0] ?? '') }
    unsent.add(call)
    return call
  }
  const taken = (room = 1000): string[] => unsent.take(room).map(({ name }) => name)
  /** How many calls of this size the address has room for. */
  const fill = (address: string, size: number): number => {
    for (let count = 0; ; count++) {
      try {
        add(`${address} ${count}`, size)
      } catch (error) {
        expect(error).to.be.instanceOf(DomainError).and.include({ code: 'upstream.unavailable', retryAfter: 1 })
        return count
      }
    }
  }

  it('go in their order while one message takes them all', () => {
    for (const name of ['a 1', 'a 2', 'b 1', 'a 3']) add(name)
    expect(taken()).to.deep.equal(['a 1', 'a 2', 'b 1', 'a 3'])
    expect([unsent.size, taken()]).to.deep.equal([0, []])
  })

  it('go in turns of their addresses where there is room for some, and no call is left for good', () => {
    for (let n = 1; n <= 6; n++) add(`a ${n}`)
    add('b 1')
    add('b 2')
    add('c 1')
    expect(taken(5)).to.deep.equal(['a 1', 'b 1', 'c 1', 'a 2'])
    add('d 1')
    expect(taken(3)).to.have.members(['b 2', 'd 1'])
    expect(taken()).to.deep.equal(['a 3', 'a 4', 'a 5', 'a 6'])
  })

  it('fill no message beyond its size', () => {
    for (let n = 0; n < 10; n++) add(`a ${n}`, 30_000)
    expect(taken()).to.have.length(3)
    expect(taken()).to.have.length(3)
  })

  it('fill no message beyond its size with tokens that the data service does not know', () => {
    for (let n = 0; n < 100; n++) add(`a ${n}`, 100, 8 * 1024)
    expect(taken()).to.have.length(8)
  })

  it('are refused beyond the share of an address, and those of others are not', () => {
    const ofOne = fill('a', 60_000)
    expect(ofOne).to.be.within(30, 40)
    for (const address of ['b', 'c', 'd']) expect(fill(address, 60_000), address).to.equal(ofOne)
    expect(fill('e', 60_000), 'beyond all').to.be.below(ofOne)
    // What has been sent, and what was given up, makes room.
    taken()
    expect(fill('a', 60_000)).to.be.above(0)
    expect(fill('', 60_000), "the gateway's own").to.be.above(ofOne)
  })

  it('count by themselves too, however small they are', () => {
    expect(fill('a', 0)).to.be.within(1000, 4000)
  })

  it('make room when they are given up, and are taken by no message', () => {
    const kept = add('a kept')
    const given = Array.from({ length: 1000 }, (_, n) => add(`a ${n}`))
    const before = fill('a', 1000)
    for (const call of given) unsent.delete(call)
    expect(fill('a', 1000)).to.be.above(0)
    expect(before).to.be.above(0)
    expect(taken()).to.include(kept.name).and.not.include('a 999')
  })

  it('leave room on the stream for those of other addresses, however many send', () => {
    const calls = Array.from({ length: 900 }, (_, n) => add(`a ${n}`))
    let underWay = 0
    const send = (): number => {
      const before = underWay
      for (let more = taken(1000 - underWay); more.length > 0; more = taken(1000 - underWay)) underWay += more.length
      return underWay - before
    }
    expect(send()).to.equal(500)
    for (const [address, sent] of [
      ['b', 250],
      ['c', 125],
      ['d', 63]
    ] as const) {
      for (let n = 0; n < 300; n++) add(`${address} ${n}`)
      expect(send(), address).to.equal(sent)
    }
    add('e 1')
    expect(taken(1000 - underWay)).to.deep.equal(['e 1'])
    underWay += 1
    // The others get more once so many have ended that there is room for it.
    for (const call of calls.slice(0, 400)) unsent.ended(call)
    underWay -= 400
    expect(send()).to.be.above(0)
    expect(1000 - underWay).to.be.above(100)
  })

  it('are of one address where that is of one IPv6 network', () => {
    const [one, other] = ['2001:db8:1:2::1', '2001:db8:1:2::2'].map((address) => {
      const call = add(`${address} 1`)
      return call.share
    })
    expect(one).to.equal(other)
  })
})
