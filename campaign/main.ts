import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../data-service/sql/connect.js'
import { QueryTypes } from 'sequelize'
import { checkers } from './checkers/all.js'
import { processFaults } from './faults/processes.js'
import { readOptions, USAGE } from './options.js'
import { run } from './run.js'
import { startSite } from './site.js'
import { workloads } from './workload/all.js'

const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(`${USAGE}\n`)
} else {
  const options = readOptions(args)
  const progress = (line: string): void => void process.stderr.write(`${line}\n`)
  progress(`Seed ${options.seed}`)
  for (const topology of options.topologies) {
    const folder = await mkdtemp(join(tmpdir(), 'campaign-'))
    const url = `sqlite:${join(folder, 'store.sqlite')}`
    const site = await startSite({
      folder,
      gateways: options.gateways,
      services: options.services,
      databaseUrl: () => url,
      reviewsUrl: `sqlite:${join(folder, 'reviews.sqlite')}`
    })
    const database = connect(url)
    const out = join(options.out, topology)
    await mkdir(out, { recursive: true })
    const faults = processFaults([...site.gateways, ...site.services])
    const outcome = await run({
      seed: options.seed,
      seconds: options.seconds,
      site,
      rows: (sql) => database.sequelize.query<Record<string, unknown>>(sql, { type: QueryTypes.SELECT }),
      workloads: workloads(),
      faults,
      checkers: checkers(),
      folder: out,
      progress
    })
    await database.sequelize.close()
    await site.stop()
    await rm(folder, { recursive: true, force: true })
    await writeFile(join(out, 'verdict.json'), `${JSON.stringify(outcome, null, 2)}\n`)
    process.stdout.write(`${topology}: ${JSON.stringify(outcome, null, 2)}\n`)
    // A checker that saw nothing proves nothing.
    if (outcome.verdicts.some(({ tried, violations }) => tried === 0 || violations.length > 0)) process.exitCode = 1
  }
}
