import { expect } from 'chai'
import type { UnitOfWork } from '../../../data-service/plan/model/stores.js'
import {
  rowsOf,
  type Writing,
  type WriteSize,
  WriteShares
} from '../../../data-service/operations/writes/write-shares.js'
import { DomainError } from '../../../shared/errors.js'
import { NEVER } from '../../../shared/transport/cancellation.js'
import { account, ENOUGH_MEMORY } from '../rpc/account.js'

const by = (subject: string, more: Partial<Writing> = {}): Writing => ({
  caller: account(subject),
  peerIsGateway: true,
  clientAddress: '192.0.2.1',
  cancellation: NEVER,
  ...more
})

const BATCH = 500

/** Transactions that go on until the test ends them. */
class TestWrites {
  readonly shares: WriteShares
  readonly #running: (() => void)[] = []
  isMemoryFull = false
  /** Pauses that the test ends. */
  readonly pauses: (() => void)[] = []

  constructor(connections: number) {
    const transaction = async <Result>(_signal: unknown, work: (unit: UnitOfWork) => Promise<Result>) => {
      await new Promise<void>((resolve) => this.#running.push(resolve))
      return work({} as UnitOfWork)
    }
    this.shares = new WriteShares(
      { transaction },
      {
        connections,
        memory: {
          check: () => {
            if (this.isMemoryFull) throw new DomainError('upstream.unavailable', 'full', { retryAfter: 1 })
          }
        },
        timeout: 60_000,
        after: (milliseconds, call) => {
          expect(milliseconds).to.be.within(0, 2000)
          this.pauses.push(call)
        }
      }
    )
  }

  get running(): number {
    return this.#running.length
  }

  /** Ends the oldest transaction. */
  end(): void {
    this.#running.shift()?.()
  }

  begin(writing: Writing, size: WriteSize, count = 1): { state: string }[] {
    return Array.from({ length: count }, () => {
      const write = { state: 'open' }
      this.shares
        .transaction(writing, size, () => Promise.resolve())
        .then(
          () => (write.state = 'ended'),
          (error: unknown) => {
            const isRejection = error instanceof DomainError && error.code === 'upstream.unavailable'
            write.state = isRejection && error.retryAfter === 1 ? 'rejected' : String(error)
          }
        )
      return write
    })
  }
}

/** Every turn that could settle a write has passed. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const states = (writes: readonly { state: string }[]): Record<string, number> =>
  writes.reduce<Record<string, number>>((sum, { state }) => ({ ...sum, [state]: (sum[state] ?? 0) + 1 }), {})

describe('the shares of writes', () => {
  it('leave connections of the pool to reads, and to a caller places beside those of another', async () => {
    for (const [connections, ofOne, ofAll] of [
      [2, 1, 1],
      [4, 2, 3],
      [10, 5, 7]
    ] as const) {
      const writes = new TestWrites(connections)
      writes.begin(by('ada'), 1, 20)
      await settled()
      expect(writes.running, `ada, of ${connections}`).to.equal(ofOne)
      writes.begin(by('ben'), 1, 20)
      await settled()
      expect(writes.running, `both, of ${connections}`).to.equal(ofAll)
    }
  })

  it('let one batch of a caller run and four wait, and its small writes go beside them', async () => {
    const writes = new TestWrites(10)
    const batches = writes.begin(by('ada'), BATCH, 30)
    await settled()
    expect(states(batches)).to.deep.equal({ open: 5, rejected: 25 })
    expect(writes.running).to.equal(1)
    writes.begin(by('ada'), 24, 10)
    await settled()
    expect(writes.running).to.equal(5)
    const small = writes.begin(by('ben'), 1)
    await settled()
    expect(writes.running).to.equal(6)
    for (let left = 0; left < 16; left++) {
      writes.end()
      await settled()
      for (const end of writes.pauses.splice(0)) end()
      await settled()
    }
    expect(states([...batches, ...small])).to.deep.equal({ ended: 6, rejected: 25 })
  })

  it('let one whole file be written at a time, beside the batches of others', async () => {
    const writes = new TestWrites(10)
    for (const subject of ['ada', 'ben', 'cy']) writes.begin(by(subject), 10_000)
    await settled()
    expect(writes.running).to.equal(1)
    for (const subject of ['dan', 'eve', 'fay']) writes.begin(by(subject), BATCH)
    await settled()
    expect(writes.running).to.equal(3)
    writes.end()
    await settled()
    expect(writes.running).to.equal(3)
  })

  it('let the next batch of a caller begin after a pause where others write, whose rows it may have locked', async () => {
    const writes = new TestWrites(10)
    const batches = writes.begin(by('ada'), BATCH, 3)
    await settled()
    writes.end()
    await settled()
    expect([states(batches), writes.pauses.length], 'alone').to.deep.equal([{ ended: 1, open: 2 }, 0])
    expect(writes.running).to.equal(1)
    writes.begin(by('ben'), 1)
    await settled()
    writes.end()
    await settled()
    expect([states(batches), writes.pauses.length], 'beside ben').to.deep.equal([{ ended: 2, open: 1 }, 1])
    expect(writes.running, 'ben alone').to.equal(1)
    writes.begin(by('ada'), 1)
    await settled()
    expect(writes.running, 'a small one of the same caller').to.equal(2)
    writes.pauses[0]?.()
    await settled()
    expect(writes.running).to.equal(3)
  })

  it('let two batches run in all, and small writes of others beside them', async () => {
    const writes = new TestWrites(10)
    for (const name of ['ada', 'ben', 'eve']) writes.begin(by(name), BATCH)
    await settled()
    expect(writes.running).to.equal(2)
    writes.begin(by('dan'), 1)
    await settled()
    expect(writes.running).to.equal(3)
  })

  it('let two writes of a caller that read children run, and those of others and its small ones beside them', async () => {
    const writes = new TestWrites(10)
    const reading = writes.begin(by('ada'), 'reads-children', 300)
    await settled()
    expect(states(reading)).to.deep.equal({ open: 102, rejected: 198 })
    expect(writes.running).to.equal(2)
    for (const name of ['ben', 'eve', 'dan']) writes.begin(by(name), 'reads-children')
    await settled()
    expect(writes.running).to.equal(5)
    writes.begin(by('ada'), 1)
    await settled()
    expect(writes.running).to.equal(6)
  })

  it('admit who holds the fewest places first', async () => {
    const writes = new TestWrites(2)
    const ofAda = writes.begin(by('ada'), 1, 5)
    const [ofBen] = writes.begin(by('ben'), 1)
    await settled()
    writes.end()
    await settled()
    writes.end()
    await settled()
    expect([states(ofAda), ofBen?.state]).to.deep.equal([{ ended: 2, open: 3 }, 'open'])
    writes.end()
    await settled()
    expect(states(ofAda)).to.deep.equal({ ended: 3, open: 2 })
  })

  it('keep 250 small writes of a caller waiting, and reject the next at once', async () => {
    const writes = new TestWrites(10)
    const small = writes.begin(by('ada'), 1, 300)
    await settled()
    expect(states(small)).to.deep.equal({ open: 255, rejected: 45 })
    expect(writes.shares.places).to.deep.equal({ taken: 5, waiting: 250, rejected: 45 })
  })

  it('are those of the address for anonymous callers', async () => {
    const writes = new TestWrites(10)
    const anonymous = { caller: { kind: 'anonymous' } } as const
    const batches = writes.begin(by('', anonymous), BATCH, 10)
    writes.begin(by('', { ...anonymous, clientAddress: '192.0.2.2' }), BATCH)
    await settled()
    expect(states(batches)).to.deep.equal({ open: 5, rejected: 5 })
    expect(writes.running).to.equal(2)
  })

  it('are left by calls that end while they wait, and given back by transactions that fail', async () => {
    const writes = new TestWrites(2)
    writes.begin(by('ada'), 1)
    const ending = new AbortController()
    const [waiting] = writes.begin(by('ben', { cancellation: ending.signal }), 1)
    await settled()
    ending.abort(new Error('the caller has gone'))
    await settled()
    expect(waiting?.state).to.equal('Error: the caller has gone')
    expect(writes.shares.places).to.include({ taken: 1, waiting: 0 })
    const failing = new WriteShares(
      { transaction: () => Promise.reject(new Error('broken')) },
      { connections: 2, memory: ENOUGH_MEMORY }
    )
    for (let n = 0; n < 3; n++) {
      const failed = failing.transaction(by('ada'), 1, () => Promise.resolve())
      expect(await failed.catch((error: unknown) => String(error))).to.equal('Error: broken')
    }
    expect(failing.places.taken).to.equal(0)
  })

  it('refuse large writes while the memory is nearly full, also those that waited for their turn, and do small ones', async () => {
    const writes = new TestWrites(10)
    const [under, waiting] = writes.begin(by('ada'), BATCH, 2)
    await settled()
    expect(writes.running).to.equal(1)
    writes.isMemoryFull = true
    expect(() => writes.shares.check(by('ben'), BATCH)).to.throw(DomainError)
    const [late] = writes.begin(by('ben'), BATCH)
    writes.begin(by('ben'), 1)
    writes.shares.check(by('ben'), 1)
    await settled()
    expect([late?.state, writes.running]).to.deep.equal(['rejected', 2])
    writes.end()
    await settled()
    for (const end of writes.pauses.splice(0)) end()
    await settled()
    expect([under?.state, waiting?.state, writes.running]).to.deep.equal(['ended', 'rejected', 1])
  })

  it('count the rows of a write with their children', () => {
    const row = { children: [{ rows: [1, 2] }, { rows: [3] }] }
    expect(rowsOf([row])).to.equal(4)
    expect(rowsOf([row, { children: [] }, row])).to.equal(9)
  })
})

describe('long work of writes in turns of the event loop', () => {
  it('begins once in a turn for each caller, in the order in which the caller asked', async () => {
    const { shares } = new TestWrites(10)
    const begun: string[] = []
    const begin = async (subject: string, name: string): Promise<void> => {
      await shares.turnOf(account(subject))
      begun.push(name)
    }
    const all = [begin('ann', 'ann 1'), begin('ann', 'ann 2'), begin('ann', 'ann 3'), begin('ben', 'ben 1')]
    const turns: string[][] = []
    for (let seen = 0; seen < all.length; seen = begun.length) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      if (begun.length > seen) turns.push(begun.slice(seen))
    }
    expect(turns).to.deep.equal([['ann 1', 'ben 1'], ['ann 2'], ['ann 3']])
  })
})
