import { expect } from 'chai'
import { percentile } from '../../bench/measure/percentile.js'
import { cpuSeconds } from '../../bench/measure/process-cpu.js'
import { peakMemoryMiB } from '../../bench/measure/peak-memory.js'
import type { Measurement } from '../../bench/measurement.js'
import { markdownReport } from '../../bench/report/markdown-report.js'
import { readWorkloads } from '../../bench/read-workloads.js'

const MEASUREMENT: Measurement = {
  workload: 'by-id',
  connections: 32,
  target: 'by-hand',
  requests: 1000,
  requestsPerSecond: 1000,
  requestsPerSecondOfRounds: [900, 1100],
  p50Ms: 2,
  p99Ms: 8,
  megabytesPerSecond: 1,
  cpuSeconds: 0.5,
  cpuMsPerRequest: 0.5,
  databaseCpuSeconds: undefined,
  generatorCpuSeconds: 0.1,
  peakMemoryMiB: 100
}

describe('report of the bench', () => {
  it('shows every measurement and its ratio to the reference at the same connections', () => {
    const faster = { ...MEASUREMENT, target: 'other', requestsPerSecond: 1500, cpuMsPerRequest: 0.25 }
    const alone = { ...faster, connections: 128 }
    const report = markdownReport(
      { at: 'now', conditions: [], targets: [], workloads: [], measurements: [MEASUREMENT, faster, alone] },
      'by-hand'
    )
    const rows = report.split('\n').filter((line) => line.startsWith('| by-id'))
    expect(rows).to.have.length(4)
    expect(rows[0]).to.contain('| by-hand | 1000 | 900 – 1100 | 2.00 | 8.00 | 0.50 |').and.to.contain('elsewhere')
    expect(rows[3]).to.equal('| by-id | 32 | other | 1.50 × | 1.00 × | 1.00 × | 0.50 × | 1.00 × |')
  })

  it('takes percentiles by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(percentile(hundred, 0.5)).to.equal(50)
    expect(percentile(hundred, 0.99)).to.equal(99)
    expect(percentile([7], 0.99)).to.equal(7)
    expect(percentile([], 0.5)).to.equal(0)
  })

  it('reads CPU and memory of a process off the kernel', () => {
    const before = cpuSeconds([process.pid])
    const own = process.cpuUsage()
    expect(before).to.be.closeTo((own.user + own.system) / 1e6, 0.5)
    expect(cpuSeconds([process.pid, process.pid])).to.be.at.least(2 * before)
    expect(peakMemoryMiB([process.pid])).to.be.at.least(process.memoryUsage.rss() / 2 ** 21)
  })

  it('asks for the same paths in every run, all of them of rows that are there', () => {
    const table = { products: 50, categories: [3, 7] }
    const [byId, paged] = readWorkloads(table)
    expect(readWorkloads(table)[0]?.paths).to.deep.equal(byId?.paths)
    const ids = new Set(byId?.paths.map((path) => Number(path.slice('/products/'.length))))
    expect([...ids].toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 1))
    const categories = new Set(paged?.paths.map((path) => /categoryId%5D.value=(\d+)/.exec(path)?.[1]))
    expect([...categories]).to.have.members(['3', '7'])
  })
})
