import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'

const SEED = { seed: 7 }

describe('properties that fail', () => {
  it('by an assertion', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0 }), (number) => {
        expect({ number, double: number * 2 }).to.deep.equal({ number, double: Math.min(number * 2, 1000) })
      }),
      SEED
    )
  })

  it('by an assertion after a while', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        await nextTurn()
        expect(text.replace('a', 'b'), 'the replaced text').to.equal(text)
      }),
      { ...SEED, numRuns: 2000 }
    )
  })

  it('by returning false', () => {
    fc.assert(
      fc.property(fc.integer(), (number) => number < 100),
      SEED
    )
  })
})
