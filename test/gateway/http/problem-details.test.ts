import { expect } from 'chai'
import { toProblem } from '../../../gateway/http/problem-details.js'
import { DomainError, rejection } from '../../../shared/errors.js'

const PLACE = { base: 'https://x.example', path: '/carts/1/checkout', requestId: 'r1' }
const GENERIC = 'A data conflict occurred. Please retry or contact support.'

/** A problem document as its reader sees it. */
function document(error: DomainError): Record<string, unknown> {
  // Ours is an object.
  return JSON.parse(toProblem(error, PLACE).body.toString()) as Record<string, unknown>
}

describe('problem documents of writes', () => {
  it('a guarded conflict is 412 and says otherwise what an unguarded one says', () => {
    const guarded = new DomainError('conflict', GENERIC, { guarded: true })
    const unguarded = new DomainError('conflict', GENERIC)
    expect(toProblem(guarded, PLACE).status).to.equal(412)
    expect(toProblem(unguarded, PLACE).status).to.equal(409)
    expect(document(guarded)).to.deep.equal({ ...document(unguarded), status: 412 })
    expect(document(unguarded)).to.deep.equal({
      type: 'https://x.example/problems/conflict',
      title: 'Conflict',
      status: 409,
      detail: GENERIC,
      instance: '/carts/1/checkout',
      code: 'conflict',
      requestId: 'r1'
    })
  })

  it('a conflict says its reason in a header, and nothing else has one', () => {
    const header = (error: DomainError): unknown => toProblem(error, PLACE).headers['conflict-reason']
    const conflict = { kind: 'unique', property: 'sku' } as const
    expect(header(new DomainError('conflict', GENERIC, { conflict }))).to.equal('unique; property="sku"')
    expect(header(new DomainError('conflict', GENERIC))).to.equal('unspecified')
    expect(header(new DomainError('state.invalid', GENERIC, { conflict }))).to.equal(undefined)
  })

  it('what an action built is kept, the status aside', () => {
    const built = new DomainError('conflict', 'This cart became order 7.', {
      guarded: true,
      title: 'Already checked out',
      members: { orderId: 7, open: false }
    })
    expect(document(built)).to.include({
      title: 'Already checked out',
      detail: 'This cart became order 7.',
      code: 'conflict',
      status: 412,
      orderId: 7,
      open: false
    })
  })

  it('no member stands in for one of ours', () => {
    const members = {
      type: 'x',
      title: 'x',
      status: 200,
      detail: 'x',
      instance: 'x',
      code: 'x',
      requestId: 'x',
      errors: 1
    }
    expect(document(new DomainError('conflict', GENERIC, { members }))).to.deep.equal(
      document(new DomainError('conflict', GENERIC))
    )
  })

  it('nothing else becomes 412', () => {
    const inFlight = new DomainError('idempotency.in-flight', 'x', { guarded: true, retryAfter: 1 })
    expect(toProblem(inFlight, PLACE)).to.deep.include({ status: 409 })
    expect(toProblem(inFlight, PLACE).headers).to.include({ 'retry-after': '1' })
    expect(toProblem(new DomainError('state.invalid', 'x', { guarded: true }), PLACE).status).to.equal(422)
  })

  it('a single violation is in errors too, with its rule', () => {
    const rule = { rule: 'length', minimum: 1, maximum: 200 } as const
    const place = { in: 'pointer', name: '/name' } as const
    const error = rejection([{ code: 'body.invalid', detail: 'name must have 1 to 200 characters.', place, rule }])
    expect(document(error)).to.deep.include({
      detail: 'name must have 1 to 200 characters.',
      errors: [{ code: 'body.invalid', detail: 'name must have 1 to 200 characters.', pointer: '/name', ...rule }]
    })
  })

  it('violations of a body point into it', () => {
    const violation = (name: string) =>
      ({ code: 'body.invalid', detail: `${name} is wrong.`, place: { in: 'pointer', name } }) as const
    const error = new DomainError('body.invalid', 'x', {
      violations: [violation('/name'), violation('/lines/0/quantity')]
    })
    expect(document(error)['errors']).to.deep.equal([
      { code: 'body.invalid', detail: '/name is wrong.', pointer: '/name' },
      { code: 'body.invalid', detail: '/lines/0/quantity is wrong.', pointer: '/lines/0/quantity' }
    ])
  })
})
