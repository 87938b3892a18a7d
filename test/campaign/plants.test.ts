import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { PlantedSite } from '../../campaign/plants/planted-site.js'
import { PLANTS } from '../../campaign/plants/plants.js'
import { tryPlant, whyNotFound } from '../../campaign/plants/try-plant.js'

const SEED = 7
/** Requests within which a fault has to be found. */
const LIMIT = 1000
/** Requests of a workload without any fault. */
const WITHOUT = 200

describe('A planted fault', function () {
  this.timeout(180_000)
  let folder: string
  let planted: PlantedSite
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plants-'))
    planted = await PlantedSite.start(folder)
  })
  after(async () => {
    await planted?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('is found by no checker where there is none', async () => {
    await planted.plant(undefined)
    const workloads = [...new Set(PLANTS.flatMap((plant) => plant.workloads))]
    const { red } = await tryPlant(planted, { workloads, seed: SEED, limit: WITHOUT, inHurry: false })
    expect(red).to.deep.equal([])
  })

  for (const plant of PLANTS) {
    it(`is found by ${plant.checker}: ${plant.name}`, async () => {
      await planted.plant(plant)
      const { checker, workloads } = plant
      const tried = await tryPlant(planted, { checker, workloads, seed: SEED, limit: LIMIT })
      expect(whyNotFound(plant, tried)).to.equal(undefined)
    })
  }

  it('keeps the process from starting when its module does not have the text once', async () => {
    const [plant] = PLANTS
    if (plant === undefined) throw new TypeError('There are faults')
    const rotten = { ...plant, find: 'const ' }
    const error: unknown = await planted.plant(rotten).catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(/The fault [\w-]+ replaces a text that \S+ has \d+ times, not once\./)
  })

  it('has a name of its own', () => {
    const names = PLANTS.map(({ name }) => name)
    expect(new Set(names).size).to.equal(names.length)
  })
})
