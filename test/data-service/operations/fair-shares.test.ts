import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { createLogger } from '../../../shared/logger.js'
import { NEVER } from '../../../shared/transport/cancellation.js'
import type { CallContext } from '../../../data-service/entity/caller.js'
import type { Condition, RowsPlan } from '../../../data-service/plan/model/plans.js'
import type { LoadedRow } from '../../../data-service/plan/model/stores.js'
import { RowSizes } from '../../../data-service/operations/row-sizes.js'
import { int, text } from '../../../data-service/entity/fields/words.js'
import { costOf, ReadShares } from '../../../data-service/operations/fair-shares.js'
import { type Memory, MemoryGuard, processMemory } from '../../../shared/memory-guard.js'
import { account } from '../rpc/account.js'

const log = createLogger({ name: 'test', level: 'silent' })
const MIB = 1024 * 1024

/** Memory that a test fills. */
class TestMemory {
  used = 0
  garbage = 0
  time = 0
  collections = 0

  read(): Memory {
    return { used: this.used + this.garbage, limit: 100 * MIB }
  }

  collect(): void {
    this.collections += 1
    this.garbage = 0
  }

  now(): number {
    return this.time
  }
}

/** A call, anonymous unless a test says otherwise. */
function callOf({
  caller = { kind: 'anonymous' },
  clientAddress,
  peerIsGateway = true,
  onTaken = (listener) => listener(),
  ...peer
}: Partial<
  Pick<CallContext, 'caller' | 'clientAddress' | 'peerIsGateway' | 'isDirect' | 'peerAddress' | 'onTaken'>
>): CallContext {
  const signal = new AbortController().signal
  return { ...peer, caller, clientAddress, peerIsGateway, onTaken, requestId: 'test', signal, cancellation: NEVER, log }
}

const from = (clientAddress: string): CallContext => callOf({ clientAddress })
const LIST_WITH_CHILDREN = { rows: 1000, children: { length: 2 } }
const ROW = { rows: 1 }

/** Only what tells reads apart. */
const PLAIN = {
  entity: { name: 'things' },
  projection: { selected: [] },
  references: [],
  manyToMany: [],
  children: []
} as never as RowsPlan

/** A row of so many bytes, with other rows shown in it. */
function rowOf(bytes: number, { folder, parts = [] }: { folder?: LoadedRow; parts?: LoadedRow[] } = {}): LoadedRow {
  return {
    values: [],
    stored: { value: () => null, write: () => undefined, bytes },
    references: new Map(folder === undefined ? [] : [['folder', folder]]),
    manyToMany: new Map(),
    children: new Map([['parts', parts]]),
    truncated: []
  }
}

/** A read that goes on until it is ended. */
class TestRead {
  state = 'waiting'
  end: () => void = () => undefined

  constructor(shares: ReadShares, context: CallContext, size: Parameters<typeof costOf>[0]) {
    const read = (): Promise<void> =>
      new Promise((resolve) => {
        this.state = 'running'
        this.end = resolve
      })
    shares.admit(context, size, read).then(
      () => (this.state = 'ended'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(DomainError).and.to.include({ code: 'upstream.unavailable', retryAfter: 1 })
        this.state = 'rejected'
      }
    )
  }
}

/** Every turn that could settle a read has passed. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('the shares of reads', () => {
  const sharesOver = (memory = new TestMemory()): ReadShares =>
    new ReadShares(new MemoryGuard(log, memory), { timeout: 60_000 })
  const many = (shares: ReadShares, context: CallContext, size: Parameters<typeof costOf>[0], count: number) =>
    Array.from({ length: count }, () => new TestRead(shares, context, size))
  const states = (reads: readonly TestRead[]): Record<string, number> =>
    reads.reduce<Record<string, number>>((sum, { state }) => ({ ...sum, [state]: (sum[state] ?? 0) + 1 }), {})

  it('reject each read, however small, while the process holds four fifths of its memory', async () => {
    const memory = new TestMemory()
    memory.used = 81 * MIB
    const read = new TestRead(sharesOver(memory), from('192.0.2.1'), ROW)
    await settled()
    expect(read.state).to.equal('rejected')
  })

  it('weigh a read by the rows that it may answer and include', () => {
    expect(costOf({ rows: 1 })).to.equal(1)
    expect(costOf({ rows: 1, children: { length: 1 } })).to.equal(16)
    expect(costOf({ rows: 50 })).to.equal(5)
    expect(costOf({ rows: 50, references: { length: 3 } })).to.equal(10)
    expect(costOf({ rows: 50, manyToMany: { length: 1 }, children: { length: 1 } })).to.equal(25)
    expect(costOf({ rows: 1000 })).to.equal(100)
    expect(costOf(LIST_WITH_CHILDREN)).to.equal(192)
    expect(costOf({ rows: 50 }, 1000)).to.equal(5)
    expect(costOf({ rows: 14 }, 64 * 1024)).to.equal(56)
    expect(costOf({ rows: 1 }, MIB)).to.equal(64)
    expect(costOf({ rows: 1 }, 9 * MIB)).to.equal(64)
    expect(costOf({ rows: 1000 }, 9 * MIB)).to.equal(100)
  })

  it('weigh a read by the bytes that rows have had which the same caller has read, with all that is shown in them', async () => {
    const shares = sharesOver()
    const body = { kind: 'column', column: { name: 'body', field: text(60_000) } }
    const id = { kind: 'column', column: { name: 'id', field: int() } }
    // Only what tells reads apart.
    const read = (selected: readonly object[], children: readonly object[] = []): RowsPlan =>
      ({ entity: { name: 'letters' }, projection: { selected }, references: [], manyToMany: [], children }) as never
    const cost = async (context: CallContext, of: RowsPlan): Promise<number> => {
      let taken = 0
      await shares.admit({ ...context, onTaken: (listener) => listener() }, { rows: 1, of }, async () => {
        taken = shares.places.taken
      })
      await settled()
      return taken
    }
    const large = read([id, body])
    shares.saw(from('192.0.2.1'), large, [rowOf(MIB)])
    expect(await cost(from('192.0.2.1'), large)).to.equal(64)
    // In another order of fields, and with small columns more or less.
    expect(await cost(from('192.0.2.1'), read([body]))).to.equal(64)
    expect(await cost(from('192.0.2.1'), read([id]))).to.equal(1)
    expect(await cost(from('192.0.2.2'), large)).to.equal(1)

    const folder = rowOf(200 * 1024)
    shares.saw(from('192.0.2.3'), large, [rowOf(10, { folder, parts: [rowOf(100 * 1024), rowOf(10)] }), rowOf(10)])
    expect(await cost(from('192.0.2.3'), large)).to.equal(10)

    for (let n = 0; n < 400; n++) shares.saw(from('192.0.2.1'), large, [rowOf(10)])
    expect(await cost(from('192.0.2.1'), large)).to.equal(64)
  })

  it('are eight at a time for a caller until one has shown how large they are', async () => {
    const shares = sharesOver()
    const read = (maxLength: number): RowsPlan =>
      ({
        ...PLAIN,
        projection: { selected: [{ kind: 'column', column: { name: `body${maxLength}`, field: text(maxLength) } }] }
      }) as never
    const under = { way: 0, most: 0 }
    const begun: (() => void)[] = []
    const get = async (of: RowsPlan, bytes: number): Promise<void> => {
      const context = from('192.0.2.1')
      await shares.admit(context, { rows: 1, of }, async () => {
        under.most = Math.max(under.most, (under.way += 1))
        await new Promise<void>((resolve) => begun.push(resolve))
        under.way -= 1
      })
      shares.saw(context, of, [rowOf(bytes)])
    }
    const finish = async (reads: readonly Promise<void>[]): Promise<number> => {
      for (let done = 0; done < reads.length; done += 1) {
        await settled()
        begun.shift()?.()
      }
      await Promise.all(reads)
      await settled()
      const { most } = under
      under.most = 0
      return most
    }
    // As many as one caller may have under way and waiting where the rows are large.
    const burst = (of: RowsPlan, bytes: number) => finish(Array.from({ length: 20 }, () => get(of, bytes)))
    expect(await burst(read(MIB), 2 * MIB), 'large rows').to.equal(8)
    // Known by now: 64 of 256 places each.
    expect(await burst(read(MIB), 2 * MIB), 'large rows that are known').to.equal(4)
    expect(await burst(read(2 * MIB), 10), 'small rows that might be large').to.equal(8)
    expect(await burst(read(1000), 10), 'rows that cannot be large').to.equal(20)
  })

  it('forget large rows a minute after the last one', () => {
    let now = 1
    const sizes = new RowSizes(() => now)
    const read = {
      entity: { name: 'a' },
      projection: { selected: [] },
      references: [],
      manyToMany: [],
      children: []
    } as never
    sizes.saw('me', read, [rowOf(MIB)])
    now += 59_000
    expect(sizes.expected('me', read)).to.equal(MIB)
    sizes.saw('me', read, [rowOf(2000)])
    now += 2000
    expect(sizes.expected('me', read)).to.equal(0)
    sizes.saw('me', read, [rowOf(2000)])
    expect(sizes.expected('me', read)).to.equal(2000)
  })

  it('weigh a read by its conditions too', () => {
    const one = {} as Condition
    const conditions = Array.from({ length: 50 }, () => one)
    expect(costOf({ rows: 10, conditions: [one, one, one] })).to.equal(1)
    expect(costOf({ rows: 10, conditions })).to.equal(13)
    expect(costOf({ rows: 10, conditions: [{ anyOf: [one, { allOf: [one, one] }] }, one] })).to.equal(2)
    expect(costOf({ ...LIST_WITH_CHILDREN, conditions })).to.equal(192)
  })

  it('of 300 lists with children of one address one runs, five wait and the others are rejected at once', async () => {
    const shares = sharesOver()
    const lists = many(shares, from('192.0.2.1'), LIST_WITH_CHILDREN, 300)
    await settled()
    expect(states(lists)).to.deep.equal({ running: 1, waiting: 5, rejected: 294 })
    const others = [
      new TestRead(shares, from('192.0.2.2'), ROW),
      new TestRead(shares, from('192.0.2.2'), LIST_WITH_CHILDREN),
      new TestRead(shares, callOf({ caller: account('ada') }), LIST_WITH_CHILDREN)
    ]
    await settled()
    expect(states(others)).to.deep.equal({ running: 3 })
    lists.find(({ state }) => state === 'running')?.end()
    await settled()
    expect(states(lists)).to.deep.equal({ ended: 1, running: 1, waiting: 4, rejected: 294 })
  })

  it('of one address hold hundreds of rows by id at one moment, and keep as many waiting', async () => {
    const rows = many(sharesOver(), from('192.0.2.1'), ROW, 2000)
    await settled()
    expect(states(rows)).to.deep.equal({ running: 256, waiting: 1024, rejected: 720 })
  })

  it('of all anonymous callers leave half of the places to those with a token', async () => {
    const shares = sharesOver()
    const anonymous = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(
      (address) => new TestRead(shares, from(address), LIST_WITH_CHILDREN)
    )
    const known = ['ada', 'ben'].map(
      (name) => new TestRead(shares, callOf({ caller: account(name) }), LIST_WITH_CHILDREN)
    )
    await settled()
    expect(states(anonymous)).to.deep.equal({ running: 2, waiting: 1 })
    expect(states(known)).to.deep.equal({ running: 2 })
  })

  it('leave room for the next address, however many hold all that they can', async () => {
    const shares = sharesOver()
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']
    const held: unknown[] = []
    for (const address of addresses) {
      const reads = many(shares, from(address), ROW, 300)
      await settled()
      held.push(states(reads)['running'])
    }
    expect(held).to.deep.equal([256, 192, 32, 16])
    const other = new TestRead(shares, from('192.0.2.5'), ROW)
    await settled()
    expect(other.state).to.equal('running')
  })

  it('count no address that a peer tells which is no gateway', async () => {
    const shares = sharesOver()
    const reads = ['192.0.2.1', '192.0.2.1', '192.0.2.1'].map(
      (clientAddress) => new TestRead(shares, callOf({ clientAddress, peerIsGateway: false }), LIST_WITH_CHILDREN)
    )
    await settled()
    expect(states(reads)).to.deep.equal({ running: 2, waiting: 1 })
  })

  it('are those of its own address for a peer that is no gateway, where gateways are known', async () => {
    const shares = sharesOver()
    const direct = (peerAddress: string): CallContext =>
      callOf({ clientAddress: peerAddress, peerAddress, peerIsGateway: false, isDirect: true })
    const greedy = many(shares, direct('192.0.2.1'), LIST_WITH_CHILDREN, 2)
    await settled()
    expect(states(greedy)).to.deep.equal({ running: 1, waiting: 1 })
    const other = many(shares, direct('192.0.2.2'), LIST_WITH_CHILDREN, 1)
    await settled()
    expect(states(other)).to.deep.equal({ running: 1 })
  })

  it('are held until the caller has taken the answer', async () => {
    const shares = sharesOver()
    const listeners: (() => void)[] = []
    const unread = callOf({ clientAddress: '192.0.2.1', onTaken: (listener) => void listeners.push(listener) })
    await shares.admit(unread, { rows: 1000 }, () => Promise.resolve())
    await settled()
    expect(shares.places).to.deep.equal({ taken: 100, waiting: 0, rejected: 0 })
    // An override that reads again in the same call does not wait for itself.
    for (let n = 0; n < 5; n++) await shares.admit(unread, { rows: 1000 }, () => Promise.resolve())
    await settled()
    expect(shares.places.taken).to.equal(100)
    for (const taken of listeners) taken()
    await settled()
    expect(shares.places.taken).to.equal(0)
  })

  it('are given back between reads of one call that begin together, which would wait for one another', async () => {
    const shares = sharesOver()
    const listeners: (() => void)[] = []
    const call = callOf({ clientAddress: '192.0.2.1', onTaken: (listener) => void listeners.push(listener) })
    const read = (): Promise<void> => shares.admit(call, LIST_WITH_CHILDREN, () => Promise.resolve())
    await Promise.all([read(), read(), read()])
    await settled()
    expect(shares.places.taken).to.equal(costOf(LIST_WITH_CHILDREN))
    for (const taken of listeners) taken()
    await settled()
    expect(shares.places.taken).to.equal(0)
  })

  it('are counted, and so are the reads that got none', async () => {
    const shares = sharesOver()
    const lists = many(shares, from('192.0.2.1'), LIST_WITH_CHILDREN, 10)
    await settled()
    expect(states(lists)).to.deep.equal({ running: 1, waiting: 5, rejected: 4 })
    expect(shares.places).to.deep.equal({ taken: 192, waiting: 960, rejected: 4 })
  })

  it('are given back in a later turn, so that reads by id do not follow one another in one', async () => {
    const shares = sharesOver()
    const waiting = many(shares, from('192.0.2.1'), ROW, 300)
    await settled()
    waiting[0]?.end()
    // Every step of this turn has passed.
    for (let step = 0; step < 20; step++) await Promise.resolve()
    expect(states(waiting)).to.deep.equal({ ended: 1, running: 255, waiting: 44 })
    await settled()
    expect(states(waiting)).to.deep.equal({ ended: 1, running: 256, waiting: 43 })
  })

  it('are given back by reads that fail', async () => {
    const shares = sharesOver()
    const failing = async (): Promise<never> => Promise.reject(new TypeError('broken'))
    for (let n = 0; n < 10; n++) {
      const outcome = await shares
        .admit(from('192.0.2.1'), LIST_WITH_CHILDREN, failing)
        .catch((error: unknown) => error)
      expect(outcome).to.be.instanceOf(TypeError)
    }
  })
})

describe('large rows that are written', () => {
  it('A caller writes one in a turn of the event loop, and small ones at once.', async () => {
    const shares = new ReadShares(new MemoryGuard(log, new TestMemory()))
    const written: string[] = []
    const write = (client: string, bytes: number): Promise<number> =>
      shares.write(from(client), { of: PLAIN, row: rowOf(bytes) }, () => written.push(client))
    const all = ['a', 'a', 'a', 'b'].map((client) => write(client, MIB))
    all.push(write('a', 1000))
    await Promise.all(all)
    expect(written).to.deep.equal(['a', 'a', 'b', 'a', 'a'])
  })

  it('What is shown in a row is written with it.', async () => {
    const shares = new ReadShares(new MemoryGuard(log, new TestMemory()))
    const written: string[] = []
    const write = (name: string, row: LoadedRow): Promise<number> =>
      shares.write(from('a'), { of: PLAIN, row }, () => written.push(name))
    await Promise.all([write('with a large folder', rowOf(1, { folder: rowOf(MIB) })), write('small', rowOf(1))])
    expect(written).to.deep.equal(['small', 'with a large folder'])
  })

  it('None is written where the memory is nearly full.', async () => {
    const memory = new TestMemory()
    memory.used = 59 * MIB
    const shares = new ReadShares(new MemoryGuard(log, memory))
    const failure = await shares
      .write(from('a'), { of: PLAIN, row: rowOf(2 * MIB) }, () => 1)
      .catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(DomainError).and.to.include({ code: 'upstream.unavailable' })
    expect(await shares.write(from('a'), { of: PLAIN, row: rowOf(MIB) }, () => 1)).to.equal(1)
  })
})

describe('the guard of the memory', () => {
  const isRefused = (guard: MemoryGuard): boolean => {
    try {
      guard.check()
      return false
    } catch (error) {
      expect(error).to.be.instanceOf(DomainError).and.to.include({ code: 'upstream.unavailable', retryAfter: 1 })
      return true
    }
  }

  it('refuses reads while more than 80 % of the limit are used', () => {
    const memory = new TestMemory()
    const guard = new MemoryGuard(log, memory)
    memory.used = 80 * MIB
    expect(isRefused(guard)).to.equal(false)
    memory.used = 81 * MIB
    memory.time += 100
    expect(isRefused(guard)).to.equal(true)
    memory.used = 70 * MIB
    expect(isRefused(guard), 'a look is believed for a moment').to.equal(true)
    memory.time += 100
    expect(isRefused(guard)).to.equal(false)
  })

  it('collects garbage before it refuses, and not at every look', () => {
    const memory = new TestMemory()
    const guard = new MemoryGuard(log, memory)
    memory.used = 50 * MIB
    memory.garbage = 40 * MIB
    expect([isRefused(guard), memory.collections]).to.deep.equal([false, 1])
    memory.used = 90 * MIB
    for (let n = 0; n < 5; n++) {
      memory.time += 100
      expect(isRefused(guard)).to.equal(true)
    }
    expect(memory.collections).to.equal(1)
    memory.used = 50 * MIB
    memory.garbage = 40 * MIB
    memory.time += 2000
    expect([isRefused(guard), memory.collections]).to.deep.equal([false, 2])
  })

  it('sees Buffers, which are no part of the heap', async () => {
    const source = processMemory()
    const held: Buffer[] = []
    let most = 0
    // What tests before this one have left may be freed at any moment: one more Buffer tells then.
    while (most < 32 * MIB && held.length < 10) {
      const before = source.read().used
      held.push(Buffer.alloc(64 * MIB))
      most = Math.max(most, source.read().used - before)
      await settled()
    }
    expect(most).to.be.greaterThan(32 * MIB)
  })
})
