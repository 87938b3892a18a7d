import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { PlantedSite } from '../../campaign/plants/planted-site.js'
import { PLANTS } from '../../campaign/plants/plants.js'
import { tryPlant, whyNotFound } from '../../campaign/plants/try-plant.js'

const SEED = 7
/** Requests within which a fault has to be found. */
const LIMIT = 2000
/** Requests of a workload without any fault. */
const WITHOUT = 200
for (const kind of ['sqlite', 'mariadb'] as const) {
  describe(`A planted fault on ${kind}`, () => {
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

    for (const plant of plants) {
      it(`is found by ${plant.checker}: ${plant.name}`, async () => {
        await planted.plant(plant)
        const tried = await tryPlant(planted, { ...plant, seed: SEED, limit: LIMIT })
        expect(whyNotFound(plant, tried)).to.equal(undefined)
      })
    }
  })
}

describe('npm run campaign -- --plants', () => {
  it('finds a planted fault, and says which checker found it', async () => {
    const main = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))
    const args = ['--enable-source-maps', main, '--plants', '--plant', 'key-without-caller', '--seed', '7']
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    expect(stderr).to.equal('Seed 7\n')
    expect(stdout).to.match(/^key-without-caller was found after \d+ requests by CreatedOnce \(/)
    expect(stdout).to.match(/\n1 of 1 planted faults were found by the checker that has to\.\n$/)
  })
})
