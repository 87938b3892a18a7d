import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Measurement } from '../measure-rounds.js'
import { measurePoints } from './measure.js'
import { picture } from './picture.js'
import { leastOf, type MeasuredDatabase, type MeasuredPoints } from './points.js'
import { scale } from './scenarios.js'
import { printed, tablesOf, withTables } from './tables.js'

const USAGE = `npm run scaling -- [options]
  --write               writes the tables of docs/scaling.md and its picture, instead of printing them
  --measure             measures points, and keeps in docs/scaling.json the one of least CPU of each
  --databases <names>   mariadb, sqlite or both with a comma between them (mariadb,sqlite)
  --rows <numbers>      of the products table, ascending (1000,10000,100000,1000000)
  --seconds <n>         length of a round (2)`

const POINTS = 'docs/scaling.json'
const PAGE = 'docs/scaling.md'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    databases: { type: 'string', default: 'mariadb,sqlite' },
    rows: { type: 'string', default: '1000,10000,100000,1000000' },
    seconds: { type: 'string', default: '2' }
  }
})

if (values.help) process.stdout.write(`${USAGE}\n`)
else if (values.measure) await measure()
else show()

async function measure(): Promise<void> {
  const earlier = existsSync(POINTS) ? read<MeasuredPoints>(POINTS).points : []
  await measurePoints(
    {
      databases: values.databases.split(',').map(databaseOf),
      sizes: values.rows.split(',').map((each) => numberOf('rows', each)),
      seconds: numberOf('seconds', values.seconds),
      folder: '.data/scaling'
    },
    {
      say: (line) => process.stderr.write(`${line}\n`),
      keep: (measured) =>
        writeFileSync(
          POINTS,
          `${JSON.stringify({ ...measured, points: leastOf([...earlier, ...measured.points]) }, null, 2)}\n`
        )
    }
  )
}

function show(): void {
  const { measurements } = read<{ readonly measurements: readonly Measurement[] }>('docs/performance.json')
  const scaling = scale(read<MeasuredPoints>(POINTS), measurements)
  if (!values.write) {
    process.stdout.write(`${printed(scaling)}\n`)
    return
  }
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tablesOf(scaling)))
  writeFileSync('docs/scaling.svg', picture(scaling.loads))
}

/** A file that this command or the bench has written. */
function read<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, 'utf8')) as Content
}

function databaseOf(name: string): MeasuredDatabase {
  if (name !== 'mariadb' && name !== 'sqlite') throw new Error(`--databases must be mariadb or sqlite, not ${name}.`)
  return name
}

function numberOf(name: string, text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new Error(`--${name} must be whole numbers from 1, not ${text}.`)
  return Number(text)
}
