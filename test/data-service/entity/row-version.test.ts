import { expect } from 'chai'
import { pooledBytes } from '../../../data-service/entity/fields/row-version.js'

describe('random bytes from a supply', () => {
  /** Each call of the source answers the numbers that follow those of the call before. */
  const counting = () => {
    let next = 0
    const calls: number[] = []
    const source = (size: number): Buffer => {
      calls.push(size)
      const bytes = Buffer.alloc(size)
      for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32BE(next++, at)
      return bytes
    }
    return { calls, take: pooledBytes(source) }
  }

  it('are given out once, from one supply after another', () => {
    const { calls, take } = counting()
    const taken = Array.from({ length: 3000 }, () => take(4).readUInt32BE())
    expect(new Set(taken)).to.have.property('size', 3000)
    expect(calls).to.have.length(3)
  })

  it('are of the length that was asked for, beyond a supply too', () => {
    const { take } = counting()
    expect([1, 8, 4095, 4097, 10_000].map((size) => take(size).length)).to.deep.equal([1, 8, 4095, 4097, 10_000])
  })

  it('are changed in the copy of one caller alone', () => {
    const { take } = counting()
    const [one, other] = [take(4), take(4)]
    one.fill(255)
    expect(other.readUInt32BE()).to.equal(1)
    expect(take(4).readUInt32BE()).to.equal(2)
  })
})
