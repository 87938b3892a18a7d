import { expect } from 'chai'
import type { Member } from '../../campaign/member.js'
import { Watch } from '../../campaign/watch.js'
import type { Logger } from '../../shared/logger.js'
import { memoryLog } from '../harness/memory-log.js'

/** A process that does nothing but log, as the real ones do. */
function logging(name: string): Pick<Member, 'name' | 'takeLogs' | 'takeEnds'> & { readonly log: Logger } {
  const { log, lines } = memoryLog()
  return { name, log, takeLogs: () => lines.splice(0), takeEnds: () => [] }
}

describe('the watch of the campaign', () => {
  let gateway: ReturnType<typeof logging>
  let service: ReturnType<typeof logging>
  let watch: Watch
  beforeEach(() => {
    ;[gateway, service] = [logging('gateway-0'), logging('data-service-1')]
    watch = new Watch([gateway, service])
  })
  afterEach(() => watch.end())

  it('finds an error that is logged while nothing is broken, and nothing that is less', () => {
    gateway.log.info('listening')
    gateway.log.warn('the key ring is in trouble')
    service.log.error({ code: 13 }, 'call failed')
    watch.look()
    expect(watch.findings).to.have.length(1)
    expect(watch.findings[0]).to.match(
      /^data-service-1 logged while nothing was broken: \{"level":"error",.*"msg":"call failed"\}$/
    )
    expect(watch.unforeseen).to.deep.equal({})
  })

  it('excuses an error while something is broken and soon after, counts those that no code has foreseen, and finds what is fatal', () => {
    const mended = watch.breaks()
    service.log.error('call failed')
    for (let n = 0; n < 2; n++) gateway.log.error({ err: new RangeError('too deep') }, 'unforeseen failure')
    watch.look()
    mended()
    service.log.error('call failed')
    watch.look()
    expect(watch.findings).to.deep.equal([])
    expect(Object.entries(watch.unforeseen).map(([what, { count }]) => [what, count])).to.deep.equal([
      ['gateway: unforeseen failure: too deep', 2]
    ])
    service.log.fatal('no memory')
    watch.look()
    expect(watch.findings).to.have.length(1)
    expect(watch.findings[0]).to.match(/^data-service-1 logged what is fatal: .*"msg":"no memory"\}$/)
  })

  it('reports the newest warning of each kind of each process when it is asked to', () => {
    const mended = watch.breaks()
    for (const n of [1, 2]) gateway.log.warn({ n }, 'antiforgery token refused')
    gateway.log.warn('the key ring is in trouble')
    for (const n of [3, 4]) gateway.log.warn({ n }, 'antiforgery token refused')
    gateway.log.info('listening')
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
