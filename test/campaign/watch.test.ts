import { expect } from 'chai'
import type { Member } from '../../campaign/member.js'
import { Watch } from '../../campaign/watch.js'
import { reachOf } from '../../campaign/faults/reach.js'
import { memoryLog } from '../harness/memory-log.js'
import type { LogEntry } from '../stack/server-log.js'

/** A process that does nothing but log. */
function logging(name: string): Pick<Member, 'name' | 'takeLogs' | 'takeEnds'> & { log(entry: LogEntry): void } {
  const entries: LogEntry[] = []
  return { name, takeLogs: () => entries.splice(0), takeEnds: () => [], log: (entry) => void entries.push(entry) }
}

describe('the watch of the campaign', () => {
  const error = { level: 'error', msg: 'it broke' }
  const unforeseen = { level: 'error', msg: 'unforeseen failure', err: { message: 'x' } }
  let time: number
  let isOverloaded: boolean
  let gateway: ReturnType<typeof logging>
  let service: ReturnType<typeof logging>
  let watch: Watch
  beforeEach(() => {
    time = 0
    isOverloaded = false
    gateway = logging('gateway-0')
    service = logging('data-service-0')
    watch = new Watch(
      [gateway, service],
      () => isOverloaded,
      () => time
    )
  })
  afterEach(() => watch.end())

  const lookAt = (moment: number): readonly string[] => {
    time = moment
    watch.look()
    return watch.findings.map((finding) => finding.slice(0, finding.indexOf(':')))
  }

  it('finds errors, and nothing less, while nothing is broken', () => {
    gateway.log({ level: 'warn', msg: 'hm' })
    gateway.log({ level: 'info', msg: 'unforeseen' })
    expect(lookAt(500)).to.deep.equal([])
    gateway.log(error)
    expect(lookAt(1000)).to.deep.equal(['gateway-0 logged while nothing was broken'])
  })

  it('lets those log errors who hear of what is broken, until it is felt no more', () => {
    const mended = watch.breaks(reachOf({ kind: 'slow', target: 'gateway-0 to the blob store' }, 2))
    gateway.log(error)
    service.log(error)
    expect(lookAt(500)).to.deep.equal(['data-service-0 logged while nothing was broken'])
    mended()
    gateway.log(error)
    expect(lookAt(2400)).to.have.length(1)
    // It may have been logged since the look before.
    gateway.log(error)
    expect(lookAt(2900)).to.have.length(1)
    gateway.log(error)
    expect(lookAt(3400)).to.have.length(2)
    expect(watch.quiet).to.deep.equal({ 'gateway-0': 0, 'data-service-0': 3 })
    expect(lookAt(5000)).to.have.length(2)
    expect(watch.quiet).to.deep.equal({ 'gateway-0': 2, 'data-service-0': 5 })
  })

  it('says how long what was mended is felt', () => {
    expect(watch.settlesIn).to.equal(0)
    watch.breaks(reachOf({ kind: 'killed', target: 'the database' }, 2))()
    time = 4000
    expect(watch.settlesIn).to.equal(6000)
  })

  it('tells apart what is fatal, what is unforeseen, and what a machine without time brings about', () => {
    const mended = watch.breaks(reachOf({ kind: 'killed', target: 'the database' }, 2))
    service.log(unforeseen)
    service.log(unforeseen)
    service.log(error)
    service.log({ level: 'fatal', msg: 'over' })
    expect(lookAt(500)).to.deep.equal(['data-service-0 logged what is fatal'])
    expect(watch.unforeseen).to.deep.equal({ 'data-service: unforeseen failure: x': { count: 2, first: unforeseen } })
    mended()
    lookAt(20_000)
    isOverloaded = true
    service.log(error)
    expect(lookAt(20_500)).to.have.length(1)
    expect(watch.overload).to.deep.equal({ 'data-service: it broke': { count: 1, first: error } })
  })

  it('reads the levels as the processes log them', () => {
    const { log, lines } = memoryLog()
    log.error({ code: 13 }, 'call failed')
    for (const line of lines) gateway.log(line)
    expect(lookAt(500)).to.deep.equal(['gateway-0 logged while nothing was broken'])
  })

  it('reports the newest warning of each kind of each process when it is asked to', () => {
    const mended = watch.breaks(reachOf({ kind: 'key vault gone', target: 'gateway-0' }, 2))
    for (const n of [1, 2]) gateway.log({ level: 'warn', n, msg: 'antiforgery token refused' })
    gateway.log({ level: 'warn', msg: 'the key ring is in trouble' })
    for (const n of [3, 4]) gateway.log({ level: 'warn', n, msg: 'antiforgery token refused' })
    gateway.log({ level: 'info', msg: 'listening' })
    watch.reportWarnings()
    mended()
    expect(watch.findings).to.have.length(1)
    const [name, listed = ''] = watch.findings[0]?.split(' warned last: ') ?? []
    expect(name).to.equal('gateway-0')
    const entries = JSON.parse(`[${listed}]`) as readonly { readonly msg: string; readonly n?: number }[]
    expect(entries.map(({ msg, n }) => [msg, n])).to.deep.equal([
      ['the key ring is in trouble', undefined],
      ['antiforgery token refused', 4]
    ])
  })
})
