import { expect } from 'chai'
import { AccountLimit } from '../../../data-service/rpc/account-limit.js'
import { anonymous } from '../../../data-service/entity/caller.js'
import { DomainError } from '../../../shared/errors.js'
import { account } from './account.js'

describe('the limit of the calls of an account', () => {
  const limited = () => {
    const clock = { now: 5000 }
    const limit = new AccountLimit({ count: 2, seconds: 10 }, () => clock.now)
    /** Seconds until the account may call again; 0 where it was counted. */
    const call = (subject: string): number => {
      try {
        limit.count(account(subject))
        return 0
      } catch (error) {
        if (error instanceof DomainError && error.code === 'quota-exceeded') return error.retryAfter ?? NaN
        throw error
      }
    }
    return { clock, limit, call }
  }

  it('It lets each account make its calls in a window, and says when the next one begins.', () => {
    const { clock, call } = limited()
    expect([call('ada'), call('ada'), call('ada'), call('ben')]).to.deep.equal([0, 0, 10, 0])
    clock.now += 9400
    expect([call('ada'), call('ben')]).to.deep.equal([1, 0])
    clock.now += 600
    expect([call('ada'), call('ada'), call('ada')]).to.deep.equal([0, 0, 10])
  })

  it('It counts nobody without an account.', () => {
    const { limit } = limited()
    for (let n = 0; n < 5; n++) limit.count(anonymous)
  })

  it('It forgets the oldest of more accounts than it keeps.', () => {
    const { call } = limited()
    expect([call('ada'), call('ada'), call('ada')]).to.deep.equal([0, 0, 10])
    for (let n = 0; n < 65_535; n++) call(`other-${n}`)
    expect(call('ada'), 'kept').to.equal(10)
    call('one more')
    expect(call('ada'), 'forgotten').to.equal(0)
  })
})
