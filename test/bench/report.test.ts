import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Measurement, percentile } from '../../bench/measure-rounds.js'
import { cpuSeconds, peakMemoryMiB, residentMiB } from '../../bench/process-figures.js'
import { details, publishedPage, shortAnswer } from '../../bench/report/markdown.js'
import { picture } from '../../bench/report/picture.js'
import { goalsOf, type Report } from '../../bench/report/report.js'
import { platformaticDb } from '../../bench/targets/platformatic-db.js'
import { readWorkloads } from '../../bench/workloads/reads.js'
import type { Answering } from '../../bench/workloads/workload.js'
import { packageRoot } from '../harness/package-root.js'

const MEASUREMENT: Measurement = {
  workload: 'by-id',
  connections: 32,
  target: 'handwritten',
  requests: 1000,
  requestsPerSecond: 1000,
  requestsPerSecondOfRounds: [900, 1100],
  p50Ms: 2,
  p99Ms: 8,
  megabytesPerSecond: 1,
  cpuSeconds: 0.5,
  cpuMsPerRequest: 0.5,
  cpuMsPerRequestOfRounds: [0.5, 0.5],
  replicaCpuSeconds: [],
  databaseCpuSeconds: undefined,
  generatorCpuSeconds: 0.1,
  peakMemoryMiB: 100
}

const FASTER: Measurement = {
  ...MEASUREMENT,
  target: 'uniform-rest',
  requestsPerSecondOfRounds: [1350, 1650],
  cpuMsPerRequestOfRounds: [0.25, 0.25]
}

function reportOf(...measurements: Measurement[]): Report {
  return {
    at: '2026-11-22T21:00:00.000Z',
    machine: { processor: 'A processor & more', cores: 2, memoryGiB: 8, node: '20.0.0', database: 'MariaDB' },
    conditions: [],
    targets: [],
    workloads: [],
    measurements,
    footprint: [{ target: 'uniform-rest', processes: 2, startedMiB: 200, idleMiB: 150 }],
    growth: [{ products: 10_000, measurements: [FASTER] }]
  }
}

describe('report of the bench', () => {
  it('shows every measurement and its ratio to the reference at the same connections', () => {
    const alone = { ...FASTER, connections: 128 }
    const rows = details(reportOf(MEASUREMENT, FASTER, alone))
      .split('\n')
      .filter((line) => line.startsWith('| by-id | '))
    expect(rows).to.have.length(5)
    expect(rows[0]).to.equal('| by-id | 32 | uniform-rest | 1.50 × | 1.00 × | 1.00 × | 0.50 × | 1.00 × |')
    expect(rows[1]).to.contain('| handwritten | 1000 | 900 – 1100 | 2.00 | 8.00 | 0.500 |').and.to.contain('elsewhere')
    expect(rows[4]).to.contain('| 10,000 |')
  })

  it('says of every goal whether it was reached, by the median of paired rounds', () => {
    const reached = (...of: Measurement[]): Record<string, boolean | undefined> =>
      Object.fromEntries(goalsOf(reportOf(...of)).map(({ what, reached: yes }) => [what, yes]))
    const goal = 'by-id at 32, requests/s to handwritten'
    expect(reached(MEASUREMENT, FASTER)[goal]).to.equal(true)
    // One round of three is far better, two are worse.
    const slower = { ...FASTER, requestsPerSecondOfRounds: [500, 9000, 900] }
    const steady = { ...MEASUREMENT, requestsPerSecondOfRounds: [1000, 1000, 1000] }
    expect(reached(steady, slower)[goal]).to.equal(false)
    expect(reached(MEASUREMENT)[goal]).to.equal(undefined)
  })

  it('compares two pairs with one, and the data services of two pairs', () => {
    const two = { ...FASTER, target: 'uniform-rest-2x2', replicaCpuSeconds: [3, 1] }
    const goals = goalsOf(reportOf(FASTER, two)).slice(-2)
    expect(goals.map(({ value }) => value)).to.deep.equal([1, 1 / 3])
    expect(goals.map(({ reached }) => reached)).to.deep.equal([true, false])
  })

  it('answers shortly with the figures of the service and its ratio to the reference', () => {
    const answer = shortAnswer(reportOf(MEASUREMENT, FASTER)).split('\n')
    expect(answer[0]).to.equal(
      '`uniform-rest` beside `handwritten`, a server that was written by hand for these endpoints alone. The last two ' +
        'columns are ratios to it, where more requests/s and less CPU are better:'
    )
    expect(answer.slice(4)).to.deep.equal([
      '| by-id | 32 | 1000 | 8.00 | 0.500 | 1.50 × | 0.50 × |',
      '',
      '4 of 4 goals were reached. Idle, its 2 processes take 150 MiB together.',
      ''
    ])
  })

  it('is the page on performance, whose notes stay', () => {
    const [page, figures] = ['performance.md', 'performance.json'].map((name) =>
      readFileSync(join(packageRoot, 'docs', name), 'utf8')
    )
    expect(publishedPage(JSON.parse(String(figures)) as Report, String(page))).to.equal(page)
  })

  it('draws a bar for each ratio', () => {
    const svg = picture(reportOf(MEASUREMENT, FASTER))
    expect(svg.match(/class="uniform-rest"/g)).to.have.length(2)
    expect(svg)
      .to.contain('>1.50</text>')
      .and.to.contain('A processor &#38; more')
      .and.to.contain('prefers-color-scheme')
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
    expect(residentMiB([process.pid])).to.be.closeTo(process.memoryUsage.rss() / 2 ** 20, 50)
  })
})

describe('reads of the bench', () => {
  const table = { products: 50, categories: [3, 7], orders: [[5], [6, 8]], tokens: ['a', 'b'] }
  const target: Answering = { name: 'any', origin: 'http://localhost:1' }
  const requestsOf = async (name: string, of = target) => {
    const round = await readWorkloads(table)
      .find((one) => one.name === name)
      ?.startRound(of, 1)
    if (round?.requests.kind !== 'read') throw new Error('Not a read.')
    return round.requests
  }

  it('are for the same paths in every run, all of them of rows that are there', async () => {
    const { paths } = await requestsOf('by-id')
    expect((await requestsOf('by-id')).paths).to.deep.equal(paths)
    const ids = new Set(paths.map((path) => Number(path.slice('/products/'.length))))
    expect([...ids].toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 1))
    const categories = new Set(
      (await requestsOf('page')).paths.map((path) => /categoryId%5D.value=(\d+)/.exec(path)?.[1])
    )
    expect([...categories]).to.have.members(['3', '7'])
  })

  it('are of customers who ask for their own orders alone', async () => {
    const { clients } = await requestsOf('by-id-own')
    expect(clients.map(({ headers }) => headers)).to.deep.equal([
      ['Authorization: Bearer a'],
      ['Authorization: Bearer b']
    ])
    expect(clients.map(({ paths = [] }) => [...new Set(paths)].toSorted())).to.deep.equal([
      ['/orders/5'],
      ['/orders/6', '/orders/8']
    ])
  })

  it('say the same in the words of a peer', async () => {
    const { ownForm } = platformaticDb
    if (ownForm === undefined) throw new Error('It has words of its own.')
    const [path = ''] = (await requestsOf('page', { ...target, ownForm })).paths
    expect(path).to.match(
      /^\/products\/\?where\.categoryId\.eq=[37]&orderby\.price=asc&orderby\.id=asc&limit=50&offset=\d+&totalCount=true$/
    )
  })
})
