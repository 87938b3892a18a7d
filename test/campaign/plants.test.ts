import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkers } from '../../campaign/checkers/all.js'
import { type Plant, plantedText } from '../../campaign/plants/plant.js'
import { PlantedSite } from '../../campaign/plants/planted-site.js'
import { PLANTS } from '../../campaign/plants/plants.js'
import { tryPlant, whyNotFound } from '../../campaign/plants/try-plant.js'
import { outputRoot } from '../harness/package-root.js'

const SEED = 7
/** Requests within which a fault has to be found. */
const LIMIT = 2000
/** Requests of a workload without any fault. */
const WITHOUT = 200
const IS_SHORT = process.env['SOAK_ROUNDS'] === undefined

/** At least one for each checker, of those that are found soon. `npm run soak` tries all faults. */
const OF_EACH_RUN: ReadonlySet<string> = new Set([
  'read-kept-by-a-gateway',
  'export-without-scope',
  'cursor-of-the-row-in-excess',
  'export-ends-with-a-full-batch',
  'logout-of-the-cookie-alone',
  'rejection-keeps-cookies',
  'cause-in-a-conflict',
  'rejections-break-the-circuit',
  'key-without-caller',
  'write-sent-again-by-the-gateway',
  'create-without-entry',
  'delete-without-entry',
  'version-as-a-number',
  'version-of-the-clock',
  'version-compared-before',
  'price-of-the-product',
  'checked-out-again'
])

function hasTurn({ name }: Plant): boolean {
  return !IS_SHORT || OF_EACH_RUN.has(name)
}

for (const kind of ['sqlite', 'mariadb'] as const) {
  describe(`A planted fault on ${kind}`, function () {
    this.timeout(300_000)
    const plants = PLANTS.filter(({ database = 'sqlite' }) => database === kind)
    let folder: string
    let planted: PlantedSite
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'plants-'))
      planted = await PlantedSite.start(folder, kind)
    })
    after(async () => {
      await planted?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    })

    it('is found by no checker where there is none', async () => {
      await planted.plant(undefined)
      const workloads = [...new Set(plants.flatMap((plant) => plant.workloads))]
      const { red } = await tryPlant(planted, { workloads, seed: SEED, limit: WITHOUT, inHurry: false })
      expect(red).to.deep.equal([])
    })

    for (const plant of plants.filter(hasTurn)) {
      it(`is found by ${plant.checker}: ${plant.name}`, async () => {
        await planted.plant(plant)
        const tried = await tryPlant(planted, { ...plant, seed: SEED, limit: LIMIT })
        expect(whyNotFound(plant, tried)).to.equal(undefined)
      })
    }

    if (kind === 'sqlite') {
      it('keeps the process from starting when its module does not have the text once', async () => {
        const [plant] = PLANTS
        if (plant === undefined) throw new TypeError('There are faults')
        const rotten = { ...plant, find: 'const ' }
        const error: unknown = await planted.plant(rotten).catch((thrown: unknown) => thrown)
        expect(String(error)).to.match(/The fault [\w-]+ replaces a text that \S+ has \d+ times, not once\./)
      })
    }
  })
}

describe('Planted faults', () => {
  it('have names of their own', () => {
    const names = PLANTS.map(({ name }) => name)
    expect(new Set(names).size).to.equal(names.length)
  })

  it('of each checker have one that each run tries', () => {
    const tried = PLANTS.filter(({ name }) => OF_EACH_RUN.has(name))
    expect(tried).to.have.length(OF_EACH_RUN.size)
    const all = checkers().map((checker) => checker.constructor.name)
    expect(new Set(tried.map(({ checker }) => checker))).to.deep.equal(new Set(all))
  })

  it('find their texts in the modules', async () => {
    for (const plant of PLANTS) {
      const text = await readFile(join(outputRoot, plant.module), 'utf8')
      expect(plantedText(text, plant)).to.include(plant.replace)
    }
  })
})
