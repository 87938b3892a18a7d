import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { WORKLOADS } from '../../bench/targets/target.js'

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
const SERVERS = ['uniform-rest', 'handwritten', 'plain-sequelize']
const TWO_PAIRS = ['by-id', 'page', 'update', 'mix']

// test/bench/smoke.test.ts measures two workloads of two targets. In each run of the tests: the other files of test/bench/.
describe('the bench with all that it has, at its smallest', () => {
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'bench-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  it('finds all targets doing the same, loses no write and has a row for every workload of each', async function () {
    // A dozen processes start for it.
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--enable-source-maps', MAIN, '--quick', '--out', out],
      {
        // The server that the tests use, whatever a developer measures on.
        env: { ...process.env, BENCH_MYSQL_URL: '' }
      }
    )
    expect(stderr).to.match(/\d{3} answers of uniform-rest, handwritten, plain-sequelize, .* are the same/)
    const expected = [
      ...WORKLOADS.filter((name) => name !== 'html').flatMap((name) => SERVERS.map((target) => [name, target])),
      ...TWO_PAIRS.map((name) => [name, 'uniform-rest-2x2']),
      ['html', 'uniform-rest-html']
    ].map(([workload, target]) => `| ${workload} | 2 | ${target} | `)
    const rows = stdout.split('\n').filter((line) => line.startsWith('| ') && !line.includes('×'))
    for (const start of expected)
      expect(
        rows.filter((row) => row.startsWith(start)),
        start
      ).to.have.length(1)
    // The table as it grows: 400 and 1,200 products.
    expect(rows.filter((row) => row.startsWith('| by-id | uniform-rest | '))).to.have.length(2)
    expect(await readFile(join(out, 'results.md'), 'utf8')).to.equal(stdout.slice(0, stdout.indexOf('\nWritten to')))
    expect(JSON.parse(await readFile(join(out, 'results.json'), 'utf8'))).to.have.property('measurements')
    expect(await readFile(join(out, 'results.svg'), 'utf8')).to.match(/^<svg /)
  })
})
