import { Metadata, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { DomainError, ERROR_CODES, errorKind, rejection, type Violation } from '../../shared/errors.js'
import { fromRpcStatus, toRpcStatus } from '../../shared/transport/rpc-status.js'

const across = (error: DomainError): DomainError =>
  fromRpcStatus(Object.assign(new Error('from the wire'), toRpcStatus(error)))

const violation = (name: string, place: Violation['place']['in'] = 'parameter'): Violation => ({
  code: 'fields.invalid',
  detail: `"${name}" is not a field: ключ, 鍵.`,
  place: { in: place, name }
})

describe('a DomainError across gRPC', () => {
  it('keeps every code under its canonical status', () => {
    for (const code of ERROR_CODES) {
      const error = new DomainError(code, 'Détail.')
      expect(toRpcStatus(error).code, code).to.equal(errorKind(code).grpc)
      expect(across(error), code).to.include({ code, message: 'Détail.' })
    }
  })

  it('keeps faults, places and the time to retry', () => {
    const violations = [violation('a:b'), violation('/x', 'pointer'), violation('If-Match', 'header')]
    const error = new DomainError('fields.invalid', 'Three.', { violations, retryAfter: 7 })
    expect(across(error)).to.deep.include({ violations, retryAfter: 7 })
  })

  it('keeps the rule of each fault that has one', () => {
    const rule = { rule: 'length', minimum: 1, maximum: 200 } as const
    const violations = [violation('/x', 'pointer'), { ...violation('/name', 'pointer'), rule }]
    expect(across(new DomainError('body.invalid', 'Two.', { violations }))).to.deep.include({ violations })
  })

  it('keeps what a conflict is, and makes the guarded kind a failed precondition', () => {
    const guarded = new DomainError('conflict', 'Détail.', { guarded: true })
    expect(toRpcStatus(guarded).code).to.equal(status.FAILED_PRECONDITION)
    expect(across(guarded)).to.deep.include({ guarded: true, title: undefined, members: {} })
    const members = { orderId: 7, name: 'ключ', open: false }
    const built = new DomainError('conflict', 'x', { guarded: true, title: 'Gebaut – 鍵', members })
    expect(across(built)).to.deep.include({ guarded: true, title: 'Gebaut – 鍵', members })
    expect(across(new DomainError('conflict', 'x')).guarded).to.equal(false)
    const reasons = [{ kind: 'stale' }, { kind: 'unique', property: 'sku' }, { kind: 'unspecified' }] as const
    for (const conflict of reasons) {
      expect(across(new DomainError('conflict', 'x', { conflict }))).to.deep.include({ conflict })
    }
    const large = new DomainError('conflict', '鍵'.repeat(5000), {
      title: '😀'.repeat(500),
      members: { x: 'y'.repeat(500) }
    })
    const [bytes] = toRpcStatus(large).metadata.get('grpc-status-details-bin')
    expect(Buffer.isBuffer(bytes) && bytes.length).to.be.below(6 * 1024)
  })

  it('stays within 6 KiB whatever the faults', () => {
    const [first, ...others] = Array.from({ length: 5000 }, (_, index) => violation(`name-${index}`))
    if (first === undefined) throw new Error('no faults')
    const encoded = toRpcStatus(rejection([first, ...others]))
    const [bytes] = encoded.metadata.get('grpc-status-details-bin')
    expect(Buffer.isBuffer(bytes) && bytes.length).to.be.within(500, 6 * 1024)
    expect(across(rejection([first, ...others])).violations.length).to.be.greaterThan(10)
    const long = new DomainError('internal', 'x'.repeat(20_000))
    expect(across(long).message).to.equal(`${'x'.repeat(1000)}…`)
    const emoji = toRpcStatus(new DomainError('internal', '😀'.repeat(20_000)))
    expect(encodeURI(emoji.details)).to.have.length.below(2000)
  })

  it('makes the nearest code of a status that the transport itself gave', () => {
    const bare = (code: status): DomainError =>
      fromRpcStatus(Object.assign(new Error('x'), { code, details: '', metadata: new Metadata() }))
    expect(bare(status.UNAVAILABLE)).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    // A data service resets calls beyond what it holds for an address.
    expect(bare(status.RESOURCE_EXHAUSTED)).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(bare(status.DEADLINE_EXCEEDED).code).to.equal('upstream.timeout')
    expect(bare(status.UNIMPLEMENTED).code).to.equal('upstream.bad-gateway')
  })
})
