import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { Measurement } from '../../bench/measure-rounds.js'
import { leastSquares } from '../../bench/scaling/cost-model.js'
import { picture } from '../../bench/scaling/picture.js'
import type { MeasuredPoints } from '../../bench/scaling/points.js'
import { CHOSEN, MIX, scale } from '../../bench/scaling/scenarios.js'
import { simulate } from '../../bench/scaling/simulate.js'
import type { Simulated, Simulation, System } from '../../bench/scaling/system.js'
import { errorOf, GROUPS, tablesOf, withTables } from '../../bench/scaling/tables.js'

/** The greatest error of the rate that docs/scaling.md admits, for each group of lines of its table. */
const ADMITTED: Readonly<Record<string, number>> = {
  '1 connection, one pair': 0.2,
  '1 connection, two pairs': 0.6,
  '32 connections, one pair': 0.35,
  '32 connections, two pairs': 0.5,
  '128 connections, one pair': 0.65,
  '128 connections, two pairs': 0.5,
  '512 connections': 0.9
}

describe('the simulation of larger sizes', () => {
  const points = read<MeasuredPoints>('docs/scaling.json')
  const { measurements } = read<{ readonly measurements: readonly Measurement[] }>('docs/performance.json')
  const scaling = scale(points, measurements)

  it('reproduces the published run of the bench within the errors that are admitted', () => {
    for (const { name, holds } of GROUPS) {
      const lines = scaling.reproduced.filter(holds)
      expect(lines, name).not.to.deep.equal([])
      for (const line of lines) {
        expect(Math.abs(errorOf(line)), `${name}, ${line.workload}`).to.be.at.most(ADMITTED[name] ?? 0)
      }
    }
  })

  it('gathers as many reads by id in a statement as was measured, within a factor of two', () => {
    for (const connections of [8, 32, 128]) {
      const measured = points.points.find(
        (point) =>
          point.database === 'mariadb' &&
          point.operation === 'by-id' &&
          point.products === 100_000 &&
          point.pairs === 1 &&
          point.connections === connections
      )
      const { statements } = run(benchSystem, { 'by-id': 1 }, { kind: 'closed', connections })
      const ratio = statements / (measured?.statements ?? 0)
      expect(ratio, `${connections} connections`).to.be.within(0.5, 2)
    }
  })

  it('is the same for the same seed, and another for another seed', () => {
    const once = run(CHOSEN, MIX, { kind: 'open', perSecond: 20_000 })
    expect(run(CHOSEN, MIX, { kind: 'open', perSecond: 20_000 })).to.deep.equal(once)
    expect(run(CHOSEN, MIX, { kind: 'open', perSecond: 20_000 }, 2)).not.to.deep.equal(once)
  })

  it("obeys Little's law: requests under way are the rate times the mean time of one", () => {
    for (const simulated of [
      run(CHOSEN, MIX, { kind: 'open', perSecond: 50_000 }),
      run(benchSystem, MIX, { kind: 'closed', connections: 32 })
    ]) {
      const expected = simulated.requestsPerSecond * (simulated.meanMs / 1000)
      expect(simulated.underWay / expected).to.be.within(0.9, 1.1)
    }
  })

  it('obeys the law of utilisation: a station is busy for the rate times the CPU that a request was given', () => {
    const only = { gateway: 100, gatewayMessage: 0, gatewayUnderWay: 0, dataService: 200, dataServiceMessage: 0 }
    const page = { ...scaling.model.costs.page, ...only, dataServiceStatement: 0, database: 300, databaseStatement: 0 }
    const costs = { ...scaling.model.costs, page }
    const arrivals = { kind: 'open', perSecond: 50_000 } as const
    const simulated = simulate({ system: CHOSEN, costs, shares: { page: 1 }, arrivals, seconds: 0.1, seed: 1 })
    const { pairs, database } = CHOSEN
    const busy = (micros: number, cores: number): number => (simulated.requestsPerSecond * micros) / 1e6 / cores
    expect(simulated.gateway / busy(100, pairs)).to.be.within(0.95, 1.05)
    expect(simulated.dataService / busy(200, pairs)).to.be.within(0.95, 1.05)
    expect(simulated.database / busy(300, database.nodes * database.cores)).to.be.within(0.95, 1.05)
  })

  it('answers as many requests as arrive until it is full, and no more than its cores can', () => {
    const half = run(CHOSEN, MIX, { kind: 'open', perSecond: 50_000 })
    expect(half.requestsPerSecond).to.be.within(47_000, 53_000)
    const full = run({ ...CHOSEN, pairs: 4 }, MIX, { kind: 'open', perSecond: 50_000 })
    expect(full.requestsPerSecond).to.be.below(20_000)
    expect(Math.max(full.gateway, full.dataService)).to.be.within(0.95, 1.01)
  })

  it('is what docs/scaling.md and its picture show', () => {
    const page = readFileSync('docs/scaling.md', 'utf8')
    expect(withTables(page, tablesOf(scaling)), '`npm run scaling -- --write` writes it').to.equal(page)
    expect(picture(scaling.loads)).to.equal(readFileSync('docs/scaling.svg', 'utf8'))
  })

  /** The bench's machine with a database that does not wait for its disk, as the points were measured. */
  const benchSystem: System = {
    ...CHOSEN,
    pairs: 1,
    dataServicesOfGateway: 1,
    machines: { kind: 'one', cores: 2 },
    database: { nodes: 1, cores: 2, flush: 0, replication: 0, applyShare: 0, misses: 0, missTime: 0 },
    network: 10
  }

  function run(system: System, shares: Simulation['shares'], arrivals: Simulation['arrivals'], seed = 1): Simulated {
    return simulate({ system, costs: scaling.model.costs, shares, arrivals, seconds: 0.1, seed })
  }
})

describe('least squares of the relative error', () => {
  it('finds the coefficients that made the values', () => {
    const rows = [1, 2, 3, 5, 8].map((x) => ({ features: [1, x, 0], value: 4 + 3 * x }))
    const [fixed = 0, each = 0, unused] = leastSquares(rows)
    expect(fixed).to.be.closeTo(4, 1e-9)
    expect(each).to.be.closeTo(3, 1e-9)
    expect(unused).to.equal(0)
  })

  it('has 0 in place of a negative coefficient', () => {
    const [fixed = 0, each] = leastSquares([1, 2, 3].map((x) => ({ features: [1, x], value: 10 - x })))
    expect(each).to.equal(0)
    expect(fixed).to.be.within(7, 9)
  })
})

/** A file that `npm run scaling` or `npm run bench` has written. */
function read<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, 'utf8')) as Content
}
