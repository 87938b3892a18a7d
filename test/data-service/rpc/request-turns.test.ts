import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { RequestTurns } from '../../../data-service/rpc/transport/request-turns.js'

describe('large requests', () => {
  it('begin one of each peer in a turn of the event loop, in their order', async () => {
    const turns = new RequestTurns()
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
    const turns = new RequestTurns()
    const begun: string[] = []
    const [first, second] = ['1', '2'].map((name) => turns.enter('a', () => begun.push(name)))
    expect(first?.()).to.equal(true)
    await turn()
    expect(begun).to.deep.equal(['2'])
    expect(second?.()).to.equal(false)
  })
})
