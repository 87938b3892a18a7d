import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
const SIZES = ['--products', '400', '--seconds', '0.1', '--rounds', '1', '--idle', '0', '--connections', '2']
const TARGETS = ['uniform-rest', 'handwritten']
const WORKLOADS = ['page', 'update']

// test/soak/bench.test.ts has every workload and target, and the table as it grows.
describe('the bench with two workloads of two targets', () => {
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'bench-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  it('finds both targets doing the same, loses no write and has a row for every workload of each', async () => {
    const chosen = [
      ...TARGETS.flatMap((name) => ['--target', name]),
      ...WORKLOADS.flatMap((name) => ['--workload', name])
    ]
    const args = ['--enable-source-maps', MAIN, ...SIZES, ...chosen, '--out', out]
    // The server that the tests use, whatever a developer measures on.
    const env = { ...process.env, BENCH_MYSQL_URL: '' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
    expect(stderr).to.match(/[1-9]\d* answers of uniform-rest, handwritten are the same/)
    const rows = stdout.split('\n').filter((line) => line.startsWith('| ') && !line.includes('×'))
    for (const start of WORKLOADS.flatMap((name) => TARGETS.map((target) => `| ${name} | 2 | ${target} | `))) {
      expect(
        rows.filter((row) => row.startsWith(start)),
        start
      ).to.have.length(1)
    }
    expect(await readFile(join(out, 'results.md'), 'utf8')).to.equal(stdout.slice(0, stdout.indexOf('\nWritten to')))
    expect(JSON.parse(await readFile(join(out, 'results.json'), 'utf8'))).to.have.property('measurements')
    expect(await readFile(join(out, 'results.svg'), 'utf8')).to.match(/^<svg /)
  })
})
