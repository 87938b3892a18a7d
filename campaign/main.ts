import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkers } from './checkers/all.js'
import { type Options, readOptions, USAGE } from './options.js'
import { tryAllPlants } from './plants/try-all.js'
import { markdownOf } from './report.js'
import { judge } from './run.js'
import { TOPOLOGIES } from './topologies.js'
import { tryTopology } from './try-topology.js'
import { isKept, KeptRows, readVerdict, type Report, writeVerdict } from './verdict.js'

const PAGE = join('docs', 'reliability.md')

const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(`${USAGE}\n`)
} else if (args.includes('--plants')) {
  const { seed } = readOptions(args)
  progress(`Seed ${seed}`)
  if (!(await tryAllPlants(seed, (line) => void process.stdout.write(`${line}\n`)))) process.exitCode = 1
} else {
  const options = readOptions(args)
  const reports = options.check === undefined ? await tryAll(options) : [await checkAgain(options.check)]
  process.stdout.write(`${markdownOf(reports)}\n`)
  if (options.publish) writeFileSync(PAGE, published(markdownOf(await newest(options.out))))
  if (reports.some((one) => !('notTried' in one) && !one.isKept)) process.exitCode = 1
}

async function tryAll({ topologies, out, ...options }: Options): Promise<Report[]> {
  const { seconds, seed, pace, pairs, eachFault, gateways, services, faults, plant } = options
  const planted = plant === undefined ? {} : { plant }
  const ofRun = { seconds, seed, pace, pairs, eachFault, gateways, services, faults, ...planted }
  progress(`Seed ${seed}`)
  const reports: Report[] = []
  for (const topology of topologies) {
    reports.push(await tryTopology(topology, ofRun, { out: join(out, topology.name), progress }))
  }
  return reports
}

/** Judges the history of an earlier run, as checkers that have changed since then see it. */
async function checkAgain(folder: string): Promise<Report> {
  const before = await readVerdict(folder)
  if (before === undefined || 'notTried' in before) throw new Error(`There is no verdict of a run in ${folder}.`)
  const judged = await judge(join(folder, 'history.jsonl'), checkers(), await KeptRows.read(folder))
  const outcome = { ...before.outcome, ...judged }
  const report = { ...before, outcome, isKept: isKept(outcome) }
  await writeVerdict(folder, report)
  return report
}

async function newest(out: string): Promise<Report[]> {
  return Promise.all(
    TOPOLOGIES.map(
      async ({ name }) => (await readVerdict(join(out, name))) ?? { topology: name, notTried: 'it was not asked for.' }
    )
  )
}

/** The page of the docs: the verdicts, and below them the notes that somebody wrote there, which stay. */
function published(markdown: string): string {
  const before = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  const notes = /^## Notes$[^]*/m.exec(before)?.[0] ?? '## Notes\n'
  return [
    '# Reliability',
    'This page is written by `npm run campaign -- --publish`, all but the [notes](#notes) at its end.',
    '',
    'The campaign runs several gateways and data services of the example store over one database. Clients of many kinds send ' +
      'requests without a pause, all of which are written down, while parts of the system are broken at random moments, one or ' +
      'two at a time, and mended. In the end everything is mended; every gateway must then be ready and answer a read and a ' +
      'write within 30 seconds, and no process may have ended by itself. Checkers hold the history of all requests, and the ' +
      'rows that are left, to what the [contract](spec/contract.md) promises. They know nothing of the code. A checker that ' +
      'saw nothing fails the run.',
    '',
    '```sh',
    'npm run campaign -- --topology sqlite --seconds 60',
    '```',
    '',
    'runs it; `--help` lists the options. The requests and the plan of faults depend on the seed alone, which is printed: ' +
      '`--replay <folder>` runs the plan of an earlier run again, and `--check <folder>` judges its history again. How a fault ' +
      'meets a request depends on the machine, so two runs of one seed differ. The reasons are in ' +
      '[decision 050](decisions/050-how-the-campaign-breaks-things.md).',
    '',
    markdown,
    notes
  ].join('\n')
}
