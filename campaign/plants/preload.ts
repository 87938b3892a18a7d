import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { plantedText } from './plant.js'
import { PLANTS } from './plants.js'

// What a process of the campaign loads first, as `preload.js?plant=<file>`. The file names the fault that the process
// has; an empty one is for none. The process does not start if the code has changed so that the fault cannot be planted.

const output = new URL('../../', import.meta.url)
const file = new URL(import.meta.url).searchParams.get('plant')
if (file === null) throw new Error('The preload of planted faults lacks the file that names one.')
const name = readFileSync(file, 'utf8').trim()
const plant = PLANTS.find((one) => one.name === name)
if (plant === undefined && name !== '') throw new Error(`${file} names a fault that is none: ${name}.`)
if (plant !== undefined && process.argv.includes(plant.process)) {
  const url = new URL(plant.module, output)
  const source = plantedText(readFileSync(url, 'utf8'), plant)
  register(new URL('./load-planted.js', import.meta.url), { data: { url: url.href, source } })
}
