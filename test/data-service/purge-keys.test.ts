import { expect } from 'chai'
import { pino } from 'pino'
import { purgeKeys } from '../../data-service/purge-keys.js'

describe('purgeKeys', () => {
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
      purge: (now: number, most: number): Promise<number> => {
        asked.push([now, most])
        const answer = answers.shift()
        if (answers.length === 0) stopping.abort()
        return new Promise((resolve) => resolve(answer?.() ?? 0))
      }
    }
    const log = pino({ level: 'debug' }, { write: (line) => void logs.push(line) })
    await purgeKeys(expiring, { now: () => 7, log, stopping: stopping.signal, every: 1 })
    expect(asked).to.deep.equal(Array.from({ length: 4 }, () => [7, 200]))
    expect(logs.filter((line) => line.includes('no database'))).to.have.length(1)
  })

  it('does not begin before the first round, and stops while it waits', async () => {
    const stopping = new AbortController()
    const purging = purgeKeys(
      { what: 'things', purge: () => Promise.reject(new Error('asked')) },
      { now: Date.now, log: pino({ level: 'silent' }), stopping: stopping.signal }
    )
    stopping.abort()
    await purging
  })
})
