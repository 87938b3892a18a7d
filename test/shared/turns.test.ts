import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { Turns } from '../../shared/turns.js'

describe('large requests', () => {
  it('begin one of each peer in a turn of the event loop, in their order', async () => {
    const turns = new Turns(1)
    const begun: string[] = []
    for (const name of ['a1', 'a2', 'a3', 'b1']) turns.enter(name[0] ?? '', () => begun.push(name))
    expect(begun).to.deep.equal([])
    await turn()
    expect(begun).to.deep.equal(['a1', 'b1'])
    turns.enter('b', () => begun.push('b2'))
    await turn()
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2'])
    await turn()
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  it('are let go when they are taken back before their turn', async () => {
    const turns = new Turns(1)
    const begun: string[] = []
    const [first, second] = ['1', '2'].map((name) => turns.enter('a', () => begun.push(name)))
    expect(first?.()).to.equal(true)
    await turn()
    expect(begun).to.deep.equal(['2'])
    expect(second?.()).to.equal(false)
  })
})

describe('small requests', () => {
  it('begin as many in a turn as is said at the time', async () => {
    let most = 3
    const turns = new Turns(() => most)
    let begun = 0
    for (let sent = 0; sent < 7; sent++) turns.begin('a', () => (begun += 1))
    const counts = [begun]
    most = 1
    for (let at = 0; at < 4; at++) {
      await turn()
      counts.push(begun)
    }
    expect(counts).to.deep.equal([3, 4, 5, 6, 7])
  })

  it('begin at once, four of each peer in a turn, and then four in each later turn', async () => {
    const turns = new Turns(4)
    const begun: string[] = []
    const send = (name: string): void => {
      if (turns.beginsNow('a')) begun.push(name)
      else turns.enter('a', () => begun.push(name))
    }
    for (let at = 1; at <= 10; at += 1) send(`a${at}`)
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'a4'])
    expect(turns.beginsNow('b'), 'another peer').to.equal(true)
    await turn()
    expect(begun).to.have.lengthOf(8)
    expect(turns.beginsNow('a'), 'before those that wait').to.equal(false)
    await turn()
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'a10'])
    await turn()
    expect(turns.beginsNow('a'), 'when all have begun').to.equal(true)
  })
})
