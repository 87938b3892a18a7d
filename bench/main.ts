import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, USAGE } from './options.js'
import { details, publishedPage, shortAnswer } from './report/markdown.js'
import { picture } from './report/picture.js'
import { goalsOf, type Report } from './report/report.js'
import { runBench } from './run-bench.js'
import { handwritten, plainSequelize } from './targets/baselines.js'
import { platformaticDb } from './targets/platformatic-db.js'
import type { Target } from './targets/target.js'
import { twoPairs, uniformRest, withRenderer } from './targets/uniform-rest.js'

/** Every target: a new one is one line here. */
const TARGETS: readonly Target[] = [uniformRest, handwritten, plainSequelize, platformaticDb, twoPairs, withRenderer]

const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(`${USAGE}\n`)
} else {
  const options = readOptions(
    args,
    TARGETS.map(({ name }) => name)
  )
  mkdirSync(options.out, { recursive: true })
  const report = await runBench(options, TARGETS, (line) => process.stderr.write(`${line}\n`))
  const markdown = `${shortAnswer(report)}\n${details(report)}`
  write(join(options.out, 'results'), markdown, report)
  if (options.publish) {
    const path = join('docs', 'performance.md')
    write(
      join('docs', 'performance'),
      publishedPage(report, existsSync(path) ? readFileSync(path, 'utf8') : ''),
      report
    )
  }
  process.stdout.write(`${markdown}\nWritten to ${join(options.out, 'results.md')}, results.json and results.svg.\n`)
}

/** Three files of one name. */
function write(path: string, markdown: string, report: Report): void {
  writeFileSync(`${path}.json`, `${JSON.stringify({ ...report, goals: goalsOf(report) }, null, 2)}\n`)
  writeFileSync(`${path}.md`, markdown)
  writeFileSync(`${path}.svg`, picture(report))
}
