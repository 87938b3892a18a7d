import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkers } from '../../campaign/checkers/all.js'
import { plantedText } from '../../campaign/plants/plant.js'
import { PLANTS } from '../../campaign/plants/plants.js'
import { outputRoot } from '../harness/package-root.js'

// plants.test.ts runs each of them, in the soak; campaign.test.ts one.
describe('Planted faults', () => {
  it('have names of their own', () => {
    const names = PLANTS.map(({ name }) => name)
    expect(new Set(names).size).to.equal(names.length)
  })

  it('are there for each checker', () => {
    const all = checkers().map((checker) => checker.constructor.name)
    expect(new Set(PLANTS.map(({ checker }) => checker))).to.deep.equal(new Set(all))
  })

  for (const plant of PLANTS) {
    it(`replace a text that the module has once: ${plant.name}`, async () => {
      const text = await readFile(join(outputRoot, plant.module), 'utf8')
      expect(plantedText(text, plant)).to.include(plant.replace)
    })
  }

  it('reject a text that the module has not once', () => {
    const [plant] = PLANTS
    if (plant === undefined) throw new TypeError('There are faults')
    for (const [find, times] of [
      ['nowhere', 0],
      ['const ', 2]
    ] as const) {
      expect(() => plantedText('const a = 1; const b = 2', { ...plant, find })).to.throw(
        `The fault ${plant.name} replaces a text that ${plant.module} has ${times} times, not once.`
      )
    }
  })
})
