import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { checkers } from '../../campaign/checkers/all.js'
import { plantedText } from '../../campaign/plants/plant.js'
import { PLANTS } from '../../campaign/plants/plants.js'
import { outputRoot } from '../harness/package-root.js'

// plants.test.ts runs each of them, in the soak.
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

  it('are in the process whose preload names them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'planted-'))
    try {
      const file = join(folder, 'plant')
      const plant = {
        module: 'campaign/visitors.js',
        process: 'gateway',
        find: '<p>page</p>',
        replace: '<p>planted</p>'
      }
      await writeFile(file, JSON.stringify(plant))
      const preload = new URL('../../campaign/plants/preload.js', import.meta.url)
      preload.searchParams.set('plant', file)
      const module = pathToFileURL(join(outputRoot, plant.module)).href
      const script = `import(${JSON.stringify(module)}).then(({ PAGE }) => console.log(PAGE))`
      const args = ['--import', preload.href, '--input-type=module', '--eval', script]
      const of = async (role: string): Promise<string> =>
        (await promisify(execFile)(process.execPath, [...args, role])).stdout
      expect(await of('gateway')).to.equal('<p>planted</p>\n')
      expect(await of('data-service')).to.equal('<p>page</p>\n')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

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
