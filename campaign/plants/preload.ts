import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { type Plant, plantedText } from './plant.js'

// What a process of the campaign loads first, as `preload.js?plant=<file>`. The file holds the fault that the process has;
// an empty one is for none. A process that cannot have it does not start: the code has changed since it was written.

const file = new URL(import.meta.url).searchParams.get('plant')
if (file === null) throw new Error('The preload of planted faults lacks the file of the fault.')
const text = readFileSync(file, 'utf8')
// Only planted-site.ts writes it.
const plant = text === '' ? undefined : (JSON.parse(text) as Plant)
if (plant !== undefined && process.argv.includes(plant.process)) {
  const url = new URL(plant.module, new URL('../../', import.meta.url))
  const source = plantedText(readFileSync(url, 'utf8'), plant)
  register(new URL('load-planted.js', import.meta.url), { data: { url: url.href, source } })
}
