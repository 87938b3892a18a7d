import { Socket } from 'node:net'
import { expect } from 'chai'
import {
  addQueues,
  connectionKey,
  DownloadProgress,
  LOWEST_RATE,
  RateCounter
} from '../../../gateway/server/client-progress.js'

/** Milliseconds between two checks, ten of which are the time of an answer. */
const INTERVAL = 3000
const SECONDS = INTERVAL / 1000

/** The count after each of these checks, in each of which the client takes so many bytes. */
function countsOf(bytes: readonly number[], sharers = 1): number[] {
  const counter = new RateCounter(INTERVAL)
  let taken = 1000
  counter.check(taken, false, sharers)
  return bytes.map((one) => counter.check((taken += one), false, sharers))
}

const times = (count: number, bytes: number): number[] => Array<number>(count).fill(bytes)

describe('the lowest rate', () => {
  it('lets a client read for ever that takes it, in whatever steps', () => {
    expect(countsOf(times(1000, LOWEST_RATE * SECONDS)).at(-1)).to.equal(0)
    const step = [...times(8, 0), 9 * LOWEST_RATE * SECONDS]
    expect(Math.max(...countsOf(Array.from({ length: 100 }, () => step).flat()))).to.equal(8)
  })

  it('is no more than a client takes that reads one byte now and then', () => {
    expect(countsOf(times(10, 1)).at(-1)).to.be.closeTo(10, 0.01)
    // Half of it: behind by half a check with each.
    expect(countsOf(times(20, (LOWEST_RATE * SECONDS) / 2)).at(-1)).to.equal(10)
  })

  it('gives no credit for what was read quickly before', () => {
    expect(countsOf([1024 * 1024, ...times(10, 0)]).at(-1)).to.equal(10)
  })

  it('is shared by the answers of a connection', () => {
    expect(countsOf(times(1000, (LOWEST_RATE * SECONDS) / 32), 32).at(-1)).to.equal(0)
    expect(countsOf(times(10, (LOWEST_RATE * SECONDS) / 32), 1).at(-1)).to.be.above(9)
  })

  it('does not count while nothing waits', () => {
    const counter = new RateCounter(INTERVAL)
    for (let count = 0; count < 5; count++) counter.check(0, false)
    expect(counter.count).to.equal(4)
    expect(counter.check(0, true)).to.equal(0)
  })

  it('takes a count that goes back for one that stays, and makes up for it', () => {
    const counter = new RateCounter(INTERVAL)
    const taken = [1000, 900_000, 10_000, 10_000, 900_000 + 3 * LOWEST_RATE * SECONDS]
    expect(taken.map((one) => counter.check(one, false))).to.deep.equal([0, 0, 1, 2, 0])
  })
})

describe('a client of HTTP/1.1, by what it acknowledges of what the operating system holds for it', () => {
  /** The checks by which it is behind in the end, while more waits and it takes so many bytes with each of 20 checks. */
  function behind(bytes: number): number {
    // Nothing more leaves the process meanwhile, since the buffers of the system are full.
    const full = { writableLength: 100_000, _handle: { bytesWritten: 5_000_000, writeQueueSize: 100_000 } }
    const socket = Object.defineProperties(
      new Socket(),
      Object.fromEntries(Object.entries(full).map(([name, value]) => [name, { value }]))
    )
    const download = new DownloadProgress(socket, INTERVAL)
    let queued = 4_000_000
    let count = 0
    for (let check = 0; check <= 20; check++) {
      download.check()
      count = download.correct(new Map([[connectionKey(socket), (queued -= bytes)]]))
    }
    return count
  }

  it('is not behind at the lowest rate', () => {
    expect(behind(LOWEST_RATE * SECONDS)).to.equal(0)
  })

  it('is behind by each check with which it takes a few bytes, however steadily', () => {
    expect(behind(1)).to.be.closeTo(20, 0.01)
  })
})

describe('the send queues of the operating system', () => {
  /** A line as Linux writes it, with local port 3000. */
  const line = (at: number, of: { remote?: number; state?: string; queue?: number; address?: string }): string => {
    const { remote = 0xd1f2, state = '01', queue = 0, address = '0100007F' } = of
    const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0')
    const ports = `${address}:0BB8 ${address}:${hex(remote, 4)}`
    return `${String(at).padStart(4)}: ${ports} ${state} ${hex(queue, 8)}:00000000 00:00000000 00000000  1000        0 12345 1`
  }

  it('are those of connections, by their ports, and not of the ones that are only remembered', () => {
    const title = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
    const queues = new Map<string, number>()
    const over = Array.from({ length: 12_000 }, (_, at) => line(at, { remote: 20_000 + at, state: '06' }))
    addQueues(queues, [title, ...over, line(12_000, { queue: 4096 }), line(12_001, { remote: 1 }), ''].join('\n'))
    addQueues(queues, [title, line(0, { queue: 5, address: '0'.repeat(24) + '0100007F' }), ''].join('\n'))
    expect([...queues]).to.deep.equal([
      ['3000 53746', 4101],
      ['3000 1', 0]
    ])
  })
})
