import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, USAGE } from './options.js'
import { markdownReport } from './report/markdown.js'
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
  const markdown = markdownReport(report)
  write(join(options.out, 'results'), markdown, report)
  if (options.publish) write(join('docs', 'performance'), published(markdown), report)
  process.stdout.write(`${markdown}\nWritten to ${join(options.out, 'results.md')}, results.json and results.svg.\n`)
}

/** Three files of one name. */
function write(path: string, markdown: string, report: Report): void {
  writeFileSync(`${path}.json`, `${JSON.stringify({ ...report, goals: goalsOf(report) }, null, 2)}\n`)
  writeFileSync(`${path}.md`, markdown)
  writeFileSync(`${path}.svg`, picture(report))
}

/** The page of the docs: what was measured, and below it the notes that somebody wrote there, which stay. */
function published(markdown: string): string {
  const path = join('docs', 'performance.md')
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const notes = /^## Notes$[^]*/m.exec(before)?.[0] ?? '## Notes\n'
  return [
    '# Performance',
    'This page is written by `npm run bench -- --publish`, all but the [notes](#notes) at its end. How it is measured, and ' +
      'what the numbers mean, is in [benchmarks.md](benchmarks.md); the same figures are in [performance.json](performance.json).',
    '',
    '![Requests per second in units of the hand-written server](performance.svg)',
    '',
    markdown,
    notes
  ].join('\n')
}
