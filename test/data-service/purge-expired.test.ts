import { expect } from 'chai'
import { pino } from 'pino'
import { purgeExpired } from '../../data-service/purge-expired.js'

describe('purgeExpired', () => {
  it('deletes in small batches, goes on after a failure, and ends with the process', async () => {
    const stopping = new AbortController()
    const logs: string[] = []
    const answers: (() => number)[] = [
      () => 200,
      () => 3,
      () => {
        throw new Error('no database')
      },
      () => 0
    ]
    const asked: (readonly [number, number])[] = []
    const expiring = {
      what: 'things',
      purge: (now: number, limit: number): Promise<number> => {
        asked.push([now, limit])
        const answer = answers.shift()
        if (answers.length === 0) stopping.abort()
        return new Promise((resolve) => resolve(answer?.() ?? 0))
      }
    }
    const log = pino({ level: 'debug' }, { write: (line) => void logs.push(line) })
    await purgeExpired(expiring, { now: () => 7, log, stopping: stopping.signal, every: 1 })
    expect(asked).to.deep.equal(Array.from({ length: 4 }, () => [7, 200]))
    expect(logs.filter((line) => line.includes('no database'))).to.have.length(1)
  })

  it('deletes nothing before the time between two rounds has passed once', async () => {
    const stopping = new AbortController()
    const started = performance.now()
    let first: number | undefined
    const purge = (): Promise<number> => {
      first ??= performance.now() - started
      stopping.abort()
      return Promise.resolve(0)
    }
    await purgeExpired({ what: 'things', purge }, { ...silent(stopping.signal), every: 100 })
    // A timer may be a millisecond early by this clock.
    expect(first, 'milliseconds until the first round').to.be.at.least(99)
  })

  it('deletes nothing any more once the process stops, and ends at once', async () => {
    const stopping = new AbortController()
    let rounds = 0
    const purge = (): Promise<number> => {
      rounds += 1
      return Promise.resolve(0)
    }
    const started = performance.now()
    const purging = purgeExpired({ what: 'things', purge }, { ...silent(stopping.signal), every: 20_000 })
    stopping.abort()
    await purging
    expect(rounds).to.equal(0)
    expect(performance.now() - started, 'milliseconds until it ended').to.be.below(10_000)
  })
})

function silent(stopping: AbortSignal) {
  return { now: Date.now, log: pino({ level: 'silent' }), stopping }
}
