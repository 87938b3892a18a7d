import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../test/runner/programs.js'
import { checkers } from './checkers/all.js'
import { type Options, otherFolders, readOptions, USAGE } from './options.js'
import { pageOf } from './report/page.js'
import { summaryOf } from './report/summary.js'
import { isKept, isTried, KeptRows, newestVerdicts, readVerdict, type Report, writeVerdict } from './report/verdict.js'
import { TOPOLOGIES } from './topologies.js'

const PAGE = join('docs', 'reliability.md')

// `--publish` and judging again load nothing of the service, which saves two thirds of the time.
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(`${USAGE}\n`)
} else if (args.includes('--plants')) {
  const { seed, plant } = readOptions(args)
  const { plantNamed, PLANTS } = await import('./plants/plants.js')
  const { tryPlants } = await import('./plants/try-all.js')
  progress(`Seed ${seed}`)
  const plants = plant === undefined ? PLANTS : [plantNamed(plant)]
  if (!(await tryPlants(plants, seed, (line) => void process.stdout.write(`${line}\n`)))) process.exitCode = 1
} else {
  const options = readOptions(args)
  if (options.publish) await publish(options.out)
  else {
    const reports =
      options.check === undefined ? await tryAll(options, interruption()) : [await checkAgain(options.check)]
    const folderOf = (topology: string): string => options.check ?? join(options.out, topology)
    process.stdout.write(`${summaryOf(reports, folderOf)}\n`)
    if (!reports.some(isTried) || reports.some((one) => isTried(one) && !one.isKept)) process.exitCode = 1
  }
}

async function tryAll({ topologies, out, ...options }: Options, interrupted: AbortSignal): Promise<Report[]> {
  const { seconds, seed, pace, pairs, eachFault, gateways, services, faults, plant } = options
  const planted = plant === undefined ? {} : { plant }
  const ofRun = { seconds, seed, pace, pairs, eachFault, gateways, services, faults, ...planted }
  progress(`Seed ${seed}`)
  const { tryTopology } = await import('./try-topology.js')
  const reports: Report[] = []
  for (const topology of topologies) {
    reports.push(await tryTopology(topology, ofRun, { out: join(out, topology.name), interrupted, progress }))
  }
  return reports
}

/** Ctrl-C, and SIGTERM, end the run and remove what it has started and made. A second one ends the process at once. */
function interruption(): AbortSignal {
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (interrupted.signal.aborted) process.exit(1)
      progress('Interrupted: what was started is ended, and its folders are removed …')
      interrupted.abort(
        new Failure(`The campaign was interrupted by ${name}, and gives no verdict. Its history is kept.`)
      )
    })
  }
  return interrupted.signal
}

/** Judges the history of an earlier run, as checkers that have changed since then see it. */
async function checkAgain(folder: string): Promise<Report> {
  const before = await readVerdict(folder)
  if (before === undefined || !isTried(before)) {
    const hint = otherFolders(folder)
    throw new Failure(
      hint === ''
        ? `There is no verdict of a run in ${folder}. The history of a run that was interrupted cannot be judged: nobody has read the rows that it left.`
        : `There is no verdict of a run in ${folder}.${hint}`
    )
  }
  const { judge } = await import('./run.js')
  const judged = await judge(join(folder, 'history.jsonl'), checkers(), await KeptRows.read(folder))
  const outcome = { ...before.outcome, ...judged }
  const report = { ...before, outcome, isKept: isKept(outcome) }
  await writeVerdict(folder, report)
  return report
}

/** Writes the page of the docs. Notes that somebody wrote at its end stay. Throws if there is no verdict of a run. */
async function publish(out: string): Promise<void> {
  const names = TOPOLOGIES.map(({ name }) => name)
  const reports = await newestVerdicts(out, names)
  if (!reports.some(isTried))
    throw new Failure(`There is no verdict of a run below ${out}: --out names another folder.`)
  const before = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  const notes = /^## Notes$[^]*/m.exec(before)?.[0] ?? '## Notes\n'
  writeFileSync(PAGE, pageOf(reports, notes))
  progress(`${PAGE} is written.`)
}
