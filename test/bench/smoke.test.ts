import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
const SIZE = ['--products', '60', '--seconds', '0.1', '--rounds', '1', '--connections', '2']
const WORKLOADS = ['by-id', 'paged', 'export', 'create', 'update']
const TARGETS = ['uniform-rest', 'handwritten', 'plain-sequelize']

describe('the bench at its smallest', () => {
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'bench-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  it('finds all targets doing the same, loses no write and has a row for every workload of each', async function () {
    // Seven processes start for it, on machines that are busy with other tests.
    this.timeout(120_000)
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--enable-source-maps', MAIN, ...SIZE, '--out', out],
      {
        // The server that the tests use, whatever a developer measures on.
        env: { ...process.env, BENCH_MYSQL_URL: '' }
      }
    )
    expect(stderr).to.match(/\d+ answers of uniform-rest, handwritten, plain-sequelize are the same/)
    const expected = WORKLOADS.flatMap((workload) => TARGETS.map((target) => `| ${workload} | 2 | ${target} | `))
    const rows = stdout.split('\n').filter((line) => line.startsWith('| ') && !line.includes('×'))
    for (const start of expected)
      expect(
        rows.filter((row) => row.startsWith(start)),
        start
      ).to.have.length(1)
    expect(await readFile(join(out, 'results.md'), 'utf8')).to.equal(stdout.slice(0, stdout.indexOf('\nWritten to')))
    expect(JSON.parse(await readFile(join(out, 'results.json'), 'utf8'))).to.have.property('measurements')
  })
})
