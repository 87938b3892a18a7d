import { setMaxListeners } from 'node:events'
import { expect } from 'chai'
import { DomainError } from '../../shared/errors.js'
import { type FairLimits, FairSemaphore, type Share } from '../../shared/fair-semaphore.js'

const never = new AbortController().signal
setMaxListeners(0, never)
const of = (name: string, limit = 2): readonly [Share] => [{ key: name, limit }]
const crowd = (name: string): readonly [Share, Share] => [
  { key: 'crowd', limit: 3 },
  { key: name, limit: 2 }
]

describe('a fair semaphore', () => {
  const semaphore = (limits: Partial<FairLimits> = {}): FairSemaphore =>
    new FairSemaphore({ places: 4, waiting: 10, timeout: 60_000, detail: 'Full.', ...limits })

  const rejection = async (entering: Promise<unknown>): Promise<unknown> =>
    entering.then(
      () => 'admitted',
      (error: unknown) => error
    )

  /** `waiting`, or what became of it; every turn that could settle it has passed. */
  const stateOf = async (entering: Promise<unknown>): Promise<unknown> => {
    const settled = rejection(entering)
    await new Promise((resolve) => setImmediate(resolve))
    return Promise.race([settled, Promise.resolve('waiting')])
  }

  it('admits up to its places, and the next one when one leaves', async () => {
    const places = semaphore()
    const leaves = []
    for (const name of ['a', 'b', 'c', 'd']) leaves.push(await places.enter({ shares: of(name), signal: never }))
    const fifth = places.enter({ shares: of('e'), signal: never })
    expect(await stateOf(fifth)).to.equal('waiting')
    leaves[0]?.()
    leaves[0]?.()
    expect(await stateOf(fifth)).to.equal('admitted')
    // Leaving twice gave one place, not two.
    const sixth = places.enter({ shares: of('f'), signal: never })
    expect(await stateOf(sixth)).to.equal('waiting')
    leaves[1]?.()
    await sixth
  })

  it('keeps nobody out for a caller who takes all it can', async () => {
    const places = semaphore()
    const greedy = Array.from({ length: 5 }, () => places.enter({ shares: of('greedy'), signal: never }))
    expect(await Promise.all(greedy.map(stateOf))).to.deep.equal([
      'admitted',
      'admitted',
      'waiting',
      'waiting',
      'waiting'
    ])
    expect(await stateOf(places.enter({ shares: of('other'), signal: never }))).to.equal('admitted')
  })

  it('counts a place for every share of its holder', async () => {
    const places = semaphore()
    for (const name of ['a', 'b', 'c']) await places.enter({ shares: crowd(name), signal: never })
    expect(await stateOf(places.enter({ shares: crowd('d'), signal: never }))).to.equal('waiting')
    expect(await stateOf(places.enter({ shares: of('e'), signal: never }))).to.equal('admitted')
  })

  it('admits whoever holds the fewest first, then whoever came first', async () => {
    const places = semaphore({ places: 3 })
    const first = await places.enter({ shares: of('a'), signal: never })
    const second = await places.enter({ shares: of('a'), signal: never })
    await places.enter({ shares: of('b'), signal: never })
    const waiting = ['b', 'c', 'd'].map((name) => places.enter({ shares: of(name), signal: never }))
    first()
    expect(await Promise.all(waiting.map(stateOf))).to.deep.equal(['waiting', 'admitted', 'waiting'])
    second()
    expect(await Promise.all(waiting.map(stateOf))).to.deep.equal(['waiting', 'admitted', 'admitted'])
  })

  it('gives a heavy caller its places all at once, and lets lighter ones in beside those who wait for more', async () => {
    const places = semaphore()
    const enter = (name: string, weight: number): Promise<() => void> =>
      places.enter({ shares: of(name, 4), weight, signal: never })
    const first = await enter('a', 3)
    const heavy = enter('b', 2)
    expect(await stateOf(heavy)).to.equal('waiting')
    const light = await enter('c', 1)
    first()
    expect(await stateOf(heavy)).to.equal('admitted')
    expect(await stateOf(enter('d', 2))).to.equal('waiting')
    light()
  })

  it('rejects with a time to come back when no place comes free', async () => {
    const places = semaphore({ places: 1, timeout: 1 })
    await places.enter({ shares: of('a'), signal: never })
    const error = await rejection(places.enter({ shares: of('b'), signal: never }))
    expect(error).to.be.instanceOf(DomainError)
    expect(error).to.include({ code: 'upstream.unavailable', message: 'Full.', retryAfter: 5 })
  })

  it('lets no caller and no crowd fill the line', async () => {
    const places = semaphore({ places: 1, waiting: 10 })
    await places.enter({ shares: of('a'), signal: never })
    const states = []
    for (let n = 0; n < 10; n++) states.push(await stateOf(places.enter({ shares: of('b'), signal: never })))
    expect(states.filter((state) => state === 'waiting')).to.have.lengthOf(8)
    expect(await stateOf(places.enter({ shares: of('c'), signal: never }))).to.equal('waiting')
    expect(await stateOf(places.enter({ shares: of('d'), signal: never }))).to.equal('waiting')
    expect(await stateOf(places.enter({ shares: of('e'), signal: never }))).to.be.instanceOf(DomainError)
  })

  it('lets as many wait as a share says', async () => {
    const places = semaphore({ places: 1 })
    const shares = [{ key: 'a', limit: 1, waiting: 2 }] as const
    const states = []
    for (let n = 0; n < 4; n++) states.push(await stateOf(places.enter({ shares, signal: never })))
    expect(states.slice(0, 3)).to.deep.equal(['admitted', 'waiting', 'waiting'])
    expect(states[3]).to.be.instanceOf(DomainError)
    expect(() => places.check({ shares, signal: never })).to.throw(DomainError, 'Full.')
    places.check({ shares: of('b'), signal: never })
  })

  it('forgets who went away while waiting', async () => {
    const places = semaphore({ places: 1 })
    const leave = await places.enter({ shares: of('a'), signal: never })
    const going = new AbortController()
    const gone = places.enter({ shares: of('b'), signal: going.signal })
    const behind = places.enter({ shares: of('c'), signal: never })
    const reason = new Error('gone')
    going.abort(reason)
    expect(await rejection(gone)).to.equal(reason)
    leave()
    expect(await stateOf(behind)).to.equal('admitted')
    expect(await rejection(places.enter({ shares: of('d'), signal: going.signal }))).to.equal(reason)
  })

  it('recalls the oldest place after `recallAfter`, for others alone and when they would wait', async () => {
    const recalled: string[] = []
    const filled = async (recallAfter: number): Promise<FairSemaphore> => {
      const places = semaphore({ recallAfter })
      for (const name of ['a', 'a', 'b', 'b']) {
        const leave = await places.enter({
          shares: of(name),
          signal: never,
          recall: () => {
            recalled.push(name)
            leave()
          }
        })
      }
      return places
    }
    const young = await filled(60_000)
    expect(await stateOf(young.enter({ shares: of('c'), signal: never }))).to.equal('waiting')
    expect(recalled).to.deep.equal([])

    const places = await filled(0)
    expect(await stateOf(places.enter({ shares: of('a'), signal: never }))).to.equal('waiting')
    expect(recalled, 'who holds all it may waits for itself').to.deep.equal([])
    expect(await stateOf(places.enter({ shares: of('c'), signal: never }))).to.equal('admitted')
    expect(recalled).to.deep.equal(['a'])
  })

  describe('recalls by its clock', () => {
    let time = 0
    let recalled: string[] = []
    const taken = async (places: FairSemaphore, name: string, movedAt = () => time): Promise<void> => {
      const recall = (): void => {
        recalled.push(name)
        leave()
      }
      const leave = await places.enter({ shares: of(name, 3), signal: never, recall, movedAt })
    }
    const filled = async (limits: Partial<FairLimits>, movedAt = () => time): Promise<FairSemaphore> => {
      time = 0
      recalled = []
      const places = semaphore({ now: () => time, ...limits })
      await taken(places, 'one', movedAt)
      for (let n = 0; n < 3; n++) await taken(places, 'three', () => time)
      return places
    }

    it('the oldest place of the caller with the most, and the only one of a caller where no other has more', async () => {
      const places = await filled({ recallAfter: 60 })
      time = 59
      expect(await stateOf(places.enter({ shares: of('early'), signal: never }))).to.equal('waiting')
      expect(recalled).to.deep.equal([])
      time = 60
      // The first of them makes room for the one that waits already.
      for (const name of ['a', 'b', 'c']) await stateOf(places.enter({ shares: of(name), signal: never }))
      expect(recalled).to.deep.equal(['three', 'three', 'one'])
    })

    it('no only place while another caller has several that are not due', async () => {
      const places = semaphore({ now: () => time, recallAfter: 60 })
      time = 0
      recalled = []
      await taken(places, 'one')
      time = 30
      for (let n = 0; n < 3; n++) await taken(places, 'three')
      time = 60
      expect(await stateOf(places.enter({ shares: of('a'), signal: never }))).to.equal('waiting')
      expect(recalled).to.deep.equal([])
    })

    it('a place that does not get on after a shorter time', async () => {
      const places = await filled({ recallAfter: 60, recallIdleAfter: 5 }, () => 1)
      time = 5
      expect(await stateOf(places.enter({ shares: of('a'), signal: never }))).to.equal('waiting')
      time = 6
      expect(await stateOf(places.enter({ shares: of('b'), signal: never }))).to.equal('waiting')
      expect(recalled, 'whoever waited longer got it').to.deep.equal(['one'])
    })
  })
})
