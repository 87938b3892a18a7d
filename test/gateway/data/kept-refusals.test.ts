import { expect } from 'chai'
import type { HttpContext } from '../../../gateway/data/call-stream.js'
import { KeptRefusals } from '../../../gateway/data/kept-refusals.js'
import { DomainError, TOO_MANY_READS } from '../../../shared/errors.js'
import { NEVER } from '../../../shared/transport/cancellation.js'

describe('kept refusals', () => {
  const call: HttpContext = { authorization: 'Bearer a', requestId: 'r', traceparent: undefined, signal: NEVER }
  const read = (text: string): { readonly path: string; readonly message: Buffer } => ({
    path: '/a/Get',
    message: Buffer.from(text)
  })
  const refusal = new DomainError('upstream.unavailable', TOO_MANY_READS, { retryAfter: 1 })

  it('are given for a second', () => {
    const refusals = new KeptRefusals()
    refusals.keep(read('1'), call, { error: refusal, now: 5000 })
    expect(refusals.of(read('1'), call, 5999)).to.equal(refusal)
    expect(refusals.of(read('1'), call, 6000)).to.equal(undefined)
    expect(refusals.of(read('1'), call, 5000)).to.equal(undefined)
  })

  it('are those of callers who read too much, and of no other failure', () => {
    const refusals = new KeptRefusals()
    const broken = new DomainError('upstream.unavailable', 'The database is away.', { retryAfter: 1 })
    for (const error of [broken, new DomainError('quota-exceeded', 'No.')]) {
      refusals.keep(read('1'), call, { error, now: 0 })
    }
    expect(refusals.of(read('1'), call, 0)).to.equal(undefined)
  })

  it('are a thousand of short reads at most: the oldest goes', () => {
    const refusals = new KeptRefusals()
    refusals.keep(read('x'.repeat(5000)), call, { error: refusal, now: 0 })
    expect(refusals.of(read('x'.repeat(5000)), call, 0)).to.equal(undefined)
    for (let id = 0; id <= 1000; id++) refusals.keep(read(String(id)), call, { error: refusal, now: 0 })
    const kept = [0, 1, 1000].map((id) => refusals.of(read(String(id)), call, 0))
    expect(kept).to.deep.equal([undefined, refusal, refusal])
  })
})
