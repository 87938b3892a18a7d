import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, USAGE } from './options.js'
import { markdownReport } from './report/markdown-report.js'
import { runBench } from './run-bench.js'
import { handwritten } from './targets/handwritten.js'
import { plainSequelize } from './targets/plain-sequelize.js'
import type { Target } from './targets/target.js'
import { uniformRest } from './targets/uniform-rest.js'

/** Every target: a new one is one line here. */
const TARGETS: readonly Target[] = [uniformRest, handwritten, plainSequelize]

const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(`${USAGE}\n`)
} else {
  const options = readOptions(args)
  mkdirSync(options.out, { recursive: true })
  const report = await runBench(options, TARGETS, (line) => process.stderr.write(`${line}\n`))
  const markdown = markdownReport(report, handwritten.name)
  const named = { ...report, workloads: report.workloads.map(({ name, description }) => ({ name, description })) }
  writeFileSync(join(options.out, 'results.json'), `${JSON.stringify(named, null, 2)}\n`)
  writeFileSync(join(options.out, 'results.md'), markdown)
  process.stdout.write(`${markdown}\nWritten to ${join(options.out, 'results.md')} and results.json beside it.\n`)
}
