import { expect } from 'chai'
import { FailuresHaveCauses } from '../../../campaign/checkers/answers/failures.js'
import type { Exchange, Injury } from '../../../campaign/history.js'
import { reachOf } from '../../../campaign/faults/reach.js'
import { exchangeOf, type Written } from './written-history.js'

/** A request to a gateway; without a status it had no answer. */
interface Sent extends Pick<Written, 'call' | 'status' | 'at'> {
  readonly gateway?: number
  readonly lost?: string
}

interface Judged {
  readonly violations: readonly string[]
  readonly tried: number
  readonly notes: readonly string[]
}

async function judged(sent: readonly Sent[], injuries: readonly Injury[] = []): Promise<Judged> {
  const checker = new FailuresHaveCauses()
  for (const [n, { gateway = 0, lost, ...written }] of sent.entries()) {
    const exchange: Exchange = { ...exchangeOf(written, n), gateway, ...(lost === undefined ? {} : { lost }) }
    checker.see(exchange)
  }
  for (const injury of injuries) checker.hurt(injury)
  const { violations, tried, notes = [] } = await checker.judge()
  return { violations: violations.map(({ what }) => what), tried, notes }
}

/** A fault that lasted from 1000 to 2000, as the campaign writes it for three data services. */
function injury(fault: string, more: Partial<Injury> = {}): Injury {
  const [kind = '', target = ''] = fault.split(/, | of /)
  return { fault, from: 1000, until: 2000, touches: reachOf({ kind, target }, 3).touches, ...more }
}

const GET = 'GET /venues/7'
const PUT = 'PUT /venues/7'
const EXPORT = 'GET /venues/export'
const PRODUCT = 'GET /products/1?includeChildren=true'

describe('checker of failures', () => {
  /** What each injury explains, and what it does not, in the middle of it; a gateway's own last as long as said. */
  const cases: readonly (readonly [string, readonly Omit<Sent, 'at'>[], readonly Omit<Sent, 'at'>[]])[] = [
    [
      'SIGKILL of gateway-0',
      [{ call: PUT }, { call: GET, status: 503 }, { call: EXPORT }, { call: GET, lost: 'timeout' }],
      [
        { call: PUT, gateway: 1 },
        { call: GET, status: 503, gateway: 1 },
        { call: GET, gateway: 1, lost: 'timeout' }
      ]
    ],
    [
      'slow, clients to gateway-0',
      [{ call: PUT }, { call: EXPORT }, { call: GET, lost: 'timeout' }],
      [
        { call: PUT, gateway: 1 },
        { call: PUT, status: 503 },
        { call: PUT, status: 504 }
      ]
    ],
    [
      'black hole, gateway-0 to data-service-1',
      [{ call: PUT, status: 504 }, { call: GET, status: 502 }, { call: EXPORT }, { call: GET, lost: 'timeout' }],
      [{ call: PUT }, { call: PUT, status: 503, gateway: 1 }, { call: EXPORT, gateway: 1 }]
    ],
    [
      'SIGKILL of data-service-1',
      [{ call: PUT, status: 503 }, { call: PUT, status: 503, gateway: 1 }, { call: EXPORT }],
      [{ call: GET, status: 503 }, { call: PUT }, { call: GET, lost: 'timeout' }]
    ],
    [
      'SIGSTOP of data-service-1',
      [
        { call: GET, status: 503 },
        { call: GET, lost: 'timeout' }
      ],
      [{ call: GET }]
    ],
    [
      'RST to the client, data-service-0 to the second store',
      [{ call: PRODUCT, status: 503 }],
      [{ call: GET, status: 503 }, { call: 'GET /products/1', status: 503 }, { call: PRODUCT }]
    ],
    [
      'cut before COMMIT, data-service-0 to the database',
      [
        { call: PUT, status: 503, gateway: 1 },
        { call: GET, status: 504 }
      ],
      [{ call: PUT }]
    ],
    ['killed, the database', [{ call: PUT, status: 503 }, { call: EXPORT }], [{ call: GET }]],
    ['answers 500, gateway-0 to the renderer', [], [{ call: PUT, status: 503 }, { call: GET }]],
    ['connections refused, gateway-0 to the blob store', [], [{ call: PUT, status: 503 }, { call: GET }]],
    ['key vault gone, gateway-0', [], [{ call: PUT, status: 503 }, { call: GET }]],
    ['start without the key vault, gateway-0', [{ call: GET }], [{ call: GET, gateway: 1 }]]
  ]
  for (const [fault, explained, not] of cases) {
    it(`${fault} explains what it can touch, and nothing else`, async () => {
      for (const one of explained) {
        const { violations, tried } = await judged([{ ...one, at: [1500, 1501] }], [injury(fault)])
        expect(violations, JSON.stringify(one)).to.deep.equal([])
        expect(tried, JSON.stringify(one)).to.equal(0)
      }
      for (const one of not) {
        const { violations } = await judged([{ ...one, at: [1500, 1501] }], [injury(fault)])
        expect(violations.join(), JSON.stringify(one)).to.match(/^r-1: .*, and nothing was broken that it needs\.$/)
      }
    })
  }

  for (const [fault, settles] of [
    ['SIGKILL of gateway-0', 2000],
    ['SIGKILL of data-service-0', 5000],
    ['killed, the database', 10_000]
  ] as const) {
    it(`${fault} is felt for ${settles} ms after its mend, and by what was under way when it began`, async () => {
      const at = async (from: number, until: number, more: Partial<Injury> = {}): Promise<number> =>
        (await judged([{ call: PUT, status: 503, at: [from, until] }], [injury(fault, more)])).violations.length
      expect([await at(1999 + settles, 99_000), await at(500, 1000)]).to.deep.equal([0, 0])
      expect([await at(2001 + settles, 99_000), await at(500, 999)]).to.deep.equal([1, 1])
      // What was not mended when the history ends.
      const { until: _, ...open } = injury(fault)
      expect((await judged([{ call: PUT, status: 503, at: [90_000, 90_001] }], [open])).violations).to.deep.equal([])
    })
  }

  it('looks for no cause where the client has broken a request off itself', async () => {
    const broken = { call: 'POST /suppliers/import', at: [1, 2], lost: 'broken off' } as const
    const { violations, tried } = await judged([broken, { call: GET, status: 200, at: [3, 4] }])
    expect([violations, tried]).to.deep.equal([[], 1])
    expect((await judged([{ ...broken, lost: 'ECONNRESET' }])).violations).to.have.length(1)
  })

  it('knows that the injury that began last is not the one that lasted longest', async () => {
    const fault = 'killed, the database'
    const injuries = [
      injury(fault, { from: 5000, until: 6000 }),
      injury(fault, { from: 0, until: 25_000 }),
      injury(fault, { from: 60_000, until: 60_001 })
    ]
    const at = async (time: number): Promise<Judged> =>
      judged([{ call: PUT, status: 503, at: [time, time + 5] }], injuries)
    expect([(await at(34_000)).violations, (await at(60_002)).violations]).to.deep.equal([[], []])
    expect((await at(36_000)).violations).to.have.length(1)
  })

  it('lets a read fail where two data services are gone, or one of which there is no other', async () => {
    const read = { call: GET, status: 503, at: [1500, 1501] } as const
    const one = injury('SIGKILL of data-service-0')
    expect((await judged([read], [one, injury('SIGTERM of data-service-0')])).violations).to.have.length(1)
    expect((await judged([read], [one, injury('SIGTERM of data-service-1')])).violations).to.deep.equal([])
    const later = injury('SIGTERM of data-service-1', { from: 8000, until: 9000 })
    expect((await judged([read, { ...read, at: [8000, 8001] }], [one, later])).violations).to.have.length(2)
    const { touches } = reachOf({ kind: 'SIGKILL', target: 'data-service-0' }, 1)
    expect((await judged([read], [injury('SIGKILL of data-service-0', { touches })])).violations).to.deep.equal([])
  })

  it('counts what nothing excused, without questions about health', async () => {
    const sent: readonly Sent[] = [
      { call: GET, status: 200, at: [1500, 1501] },
      { call: GET, status: 200, at: [1500, 1502], gateway: 1 },
      { call: PUT, status: 412, at: [4100, 4101] },
      { call: 'GET /health/ready', status: 503, at: [5000, 5001] }
    ]
    expect(await judged(sent, [injury('SIGKILL of gateway-0')])).to.deep.equal({ violations: [], tried: 2, notes: [] })
  })

  it('takes an injury of an earlier history for one that may bring about anything', async () => {
    const sent = [{ call: GET, at: [11_900, 11_901] }] as const
    const old = { fault: 'SIGKILL of gateway-7', from: 1000, until: 2000 }
    expect((await judged(sent, [old])).violations).to.deep.equal([])
    expect((await judged(sent, [{ ...old, until: 1800 }])).violations).to.have.length(1)
  })

  const slow = (count: number, took: number): Sent[] =>
    Array.from({ length: count }, (_, n) => ({ call: GET, status: 200, at: [n, n + took] }))
  const late = (at: number, more: Partial<Sent> = {}): Sent => ({
    call: 'POST /auth/login',
    status: 504,
    at: [0, at],
    ...more
  })

  it('says that the machine was overloaded where clients had to wait', async () => {
    const found = await judged([...slow(20, 1500), late(2000), late(2001, { status: 503 })])
    expect(found.violations).to.deep.equal([])
    expect(found.notes.join()).to.match(/^The machine was overloaded: 2 of the requests .* \(r-21: 504, r-22: 503\)\.$/)
  })

  it('does not take for overload what clients did not wait for, what was before, and what was lost', async () => {
    expect((await judged([...slow(20, 500), late(2000)])).violations).to.have.length(1)
    expect((await judged([...slow(20, 1500), late(12_000, { at: [11_900, 12_000] })])).violations).to.have.length(1)
    const { status: _, ...lost } = late(2000)
    expect((await judged([...slow(20, 1500), { ...lost, lost: 'ECONNRESET' }])).violations).to.have.length(1)
    expect((await judged([...slow(20, 1500), { ...lost, lost: 'timeout' }])).violations).to.deep.equal([])
  })

  it('counts what waited with it and ended a moment later', async () => {
    const all = (from: number): Sent[] => slow(20, 1500).map((one) => ({ ...one, at: [from, from + 1500] }))
    const first = late(2000, { at: [100, 1999] })
    expect((await judged([first, ...all(1000)])).violations).to.deep.equal([])
    expect((await judged([first, ...all(2000)])).violations).to.have.length(1)
  })

  it('does not explain many failures by overload', async () => {
    const many = (count: number): Sent[] => Array.from({ length: count }, (_, n) => late(2000 + n))
    expect((await judged([...slow(20, 1500), ...many(10)])).violations).to.deep.equal([])
    const { violations, notes } = await judged([...slow(20, 1500), ...many(11)])
    expect(violations).to.have.length(11)
    expect(violations[0]).to.match(/overloaded, but that is too often/)
    expect(notes).to.deep.equal([])
  })
})
