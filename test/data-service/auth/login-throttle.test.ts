import { setMaxListeners } from 'node:events'
import { expect } from 'chai'
import { LoginQueue } from '../../../data-service/auth/login-throttle.js'
import type { Cancellation } from '../../../shared/transport/cancellation.js'
import { eachDatabase } from '../../harness/database.js'
import { AuthHarness, MINUTE, rejectionOf, type Replica, START } from './auth-harness.js'

const right = { email: 'kim@example.com', password: 'right', clientAddress: '192.0.2.1' }
const wrong = { ...right, password: 'wrong' }

eachDatabase((kind) => {
  describe(`the login throttle on ${kind}`, () => {
    let harness: AuthHarness
    let one: Replica
    let other: Replica
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      one = harness.replica()
      other = harness.replica()
    })
    afterEach(() => harness[Symbol.asyncDispose]())

    const codeOf = async (call: Promise<unknown>): Promise<string> => (await rejectionOf(call)).code

    for (const email of ['kim@example.com', 'nobody@example.com']) {
      it(`lets ten failures of ${email} pass and rejects the eleventh unseen, over replicas`, async () => {
        for (let i = 0; i < 10; i++) {
          expect(await codeOf((i % 2 === 0 ? one : other).login({ ...wrong, email })), `time ${i}`).to.equal(
            'auth.invalid-credentials'
          )
          harness.now += MINUTE
        }
        expect(harness.verified).to.have.length(10)
        for (const [at, replica] of [one, other, harness.replica()].entries()) {
          const rejection = await rejectionOf(replica.login({ ...right, email: email.toUpperCase() }))
          expect(rejection, `replica ${at}`).to.include({ code: 'quota-exceeded', retryAfter: 5 * 60 })
        }
        expect(harness.verified).to.have.length(10)
        // Rejections count for nothing: the first failure leaves the window when it said it would.
        harness.now = START + 15 * MINUTE - 1
        expect(await rejectionOf(one.login({ ...wrong, email }))).to.include({ code: 'quota-exceeded', retryAfter: 1 })
        harness.now += 1
        expect(await codeOf(one.login({ ...wrong, email }))).to.equal('auth.invalid-credentials')
        expect(await codeOf(one.login({ ...wrong, email }))).to.equal('quota-exceeded')
      })
    }

    it('does the same work for an account that is not there', async () => {
      await rejectionOf(one.login(wrong))
      await rejectionOf(one.login({ ...wrong, email: 'nobody@example.com' }))
      await rejectionOf(harness.replica({ sampleData: false }).login({ ...wrong, email: 'ada@example.com' }))
      expect(harness.verified).to.deep.equal(['hash of right', 'decoy', 'decoy'])
    })

    it('never shuts an account to other addresses, nor other accounts to an address', async () => {
      for (let i = 0; i < 10; i++) await rejectionOf(one.login(wrong))
      expect(await codeOf(one.login(right))).to.equal('quota-exceeded')
      await one.login({ ...right, clientAddress: '192.0.2.2' })
      expect(await codeOf(one.login({ ...wrong, email: 'nobody@example.com' }))).to.equal('auth.invalid-credentials')
    })

    it('forgets the failures of the pair with a success, not those of the address', async () => {
      for (let round = 0; round < 10; round++) {
        for (let i = 0; i < 9; i++) await rejectionOf(one.login(wrong))
        await one.login(right)
      }
      for (let i = 0; i < 9; i++)
        expect(await codeOf(one.login(wrong)), `time ${i}`).to.equal('auth.invalid-credentials')
      expect(await codeOf(one.login({ ...wrong, email: 'x@example.com' }))).to.equal('auth.invalid-credentials')
      const rejection = await rejectionOf(other.login({ ...wrong, email: 'y@example.com' }))
      expect(rejection).to.include({ code: 'quota-exceeded', retryAfter: 15 * 60 })
      await one.login({ ...right, clientAddress: '192.0.2.2' })
    })

    it('takes the peer for the address where none is given, and a network of IPv6 for one', async () => {
      const { clientAddress: _, ...unplaced } = wrong
      for (let i = 0; i < 10; i++) await rejectionOf(one.login(unplaced))
      expect(await codeOf(one.login({ ...wrong, clientAddress: '198.51.100.7' }))).to.equal('quota-exceeded')
      expect(await codeOf(one.login({ ...wrong, clientAddress: '::ffff:198.51.100.7' }))).to.equal('quota-exceeded')
      for (let i = 0; i < 10; i++) await rejectionOf(one.login({ ...wrong, clientAddress: `2001:db8::${i}` }))
      expect(await codeOf(one.login({ ...wrong, clientAddress: '2001:0DB8:0:0:ffff::1' }))).to.equal('quota-exceeded')
      expect(await codeOf(one.login({ ...wrong, clientAddress: '2001:db8:0:1::1' }))).to.equal(
        'auth.invalid-credentials'
      )
    })

    it('lets no more than ten wrong passwords be tried by thirty attempts at once', async () => {
      const codes = await Promise.all(
        Array.from({ length: 30 }, (_, i) => codeOf((i % 2 === 0 ? one : other).login(wrong)))
      )
      expect(harness.verified).to.have.length(10)
      expect(codes.filter((code) => code === 'auth.invalid-credentials')).to.have.length(10)
      expect(codes.filter((code) => code === 'quota-exceeded')).to.have.length(20)
    })

    it('rejects none of thirty that have the right password', async () => {
      const sessions = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? one : other).login(right)))
      expect(new Set(sessions.map(({ refreshToken }) => refreshToken)).size).to.equal(30)
    })

    it('counts attempts that were cut off as failed', async () => {
      const cut = harness.replica({
        passwords: { hash: () => Promise.reject(new Error('cut')), verify: () => Promise.reject(new Error('cut')) }
      })
      for (let i = 0; i < 10; i++) await cut.login(right).catch(() => undefined)
      harness.now += MINUTE
      expect(await rejectionOf(one.login(right))).to.include({ code: 'quota-exceeded', retryAfter: 14 * 60 })
    })

    it('a right password opens the account again, also where its check took so long that it had counted as failed', async () => {
      let release = (): void => undefined
      const gate = new Promise<void>((resolve) => (release = resolve))
      let begin = (): void => undefined
      const begun = new Promise<void>((resolve) => (begin = resolve))
      const slow = harness.replica({
        passwords: {
          hash: () => Promise.reject(new Error('unused')),
          verify: async (_hash, password) => {
            if (password === 'wrong') return false
            begin()
            await gate
            return true
          }
        }
      })
      for (let i = 0; i < 9; i++) await rejectionOf(slow.login(wrong))
      const late = slow.login(right)
      await begun
      // It counts as failed now, and is the tenth.
      harness.now += MINUTE
      expect(await codeOf(slow.login(right))).to.equal('quota-exceeded')
      release()
      await late
      expect((await slow.login(right)).accessToken).to.be.a('string')
    })

    it('rejects for the price of one read at most, and checks with two locked transactions', async () => {
      const asked: string[] = []
      const { store } = one.by
      const counting = harness.replica({
        store: {
          ...store,
          findAttempts: (...of) => (asked.push('read'), store.findAttempts(...of)),
          transaction: (...of) => (asked.push('transaction'), store.transaction(...of))
        }
      })
      for (let i = 0; i < 10; i++) await rejectionOf(counting.login(wrong))
      expect(asked.filter((what) => what === 'transaction')).to.have.length(20)
      asked.length = 0
      for (let i = 0; i < 5; i++) expect(await codeOf(counting.login(wrong)), `time ${i}`).to.equal('quota-exceeded')
      expect(asked).to.deep.equal(['read'])
      const other = harness.replica({ store: counting.by.store })
      for (let i = 0; i < 2; i++) expect(await codeOf(other.login(wrong)), `time ${i}`).to.equal('quota-exceeded')
      expect(asked).to.deep.equal(['read', 'read'])
    })

    it('hashes nothing for callers who went while they waited, and counts nothing for them', async () => {
      const gone = new AbortController()
      setMaxListeners(0, gone.signal)
      let release = (): void => undefined
      const gate = new Promise<void>((resolve) => (release = resolve))
      let begun = 0
      let allBegun = (): void => undefined
      const full = new Promise<void>((resolve) => (allBegun = resolve))
      const slow = harness.replica({
        passwords: {
          hash: () => Promise.reject(new Error('unused')),
          verify: async () => {
            if (++begun === 2) allBegun()
            await gate
            return false
          }
        }
      })
      const staying = Array.from({ length: 2 }, (_, i) => codeOf(slow.login({ ...wrong, email: `s${i}@example.com` })))
      await full
      const left = Array.from({ length: 20 }, () => slow.login(wrong, gone.signal).catch((error: unknown) => error))
      const last = codeOf(slow.login(wrong))
      gone.abort(new Error('gone'))
      for (const [at, error] of (await Promise.all(left)).entries())
        expect(error, `error ${at}`).to.include({ message: 'gone' })
      expect(harness.logs.filter(({ event }) => event === 'login')).to.deep.equal([])
      release()
      expect(await Promise.all([...staying, last])).to.deep.equal(Array(3).fill('auth.invalid-credentials'))
      expect(begun).to.equal(3)
      for (let i = 0; i < 9; i++)
        expect(await codeOf(one.login(wrong)), `time ${i}`).to.equal('auth.invalid-credentials')
      expect(await codeOf(one.login(wrong))).to.equal('quota-exceeded')
    })

    it('counts as failed at once who goes while the password is hashed', async () => {
      for (let i = 0; i < 10; i++) {
        const gone = new AbortController()
        const leaving = harness.replica({
          passwords: {
            hash: () => Promise.reject(new Error('unused')),
            verify: () => {
              gone.abort(new Error('gone'))
              return Promise.resolve(true)
            }
          }
        })
        expect(await leaving.login(right, gone.signal).catch((error: unknown) => error), `time ${i}`).to.include({
          message: 'gone'
        })
      }
      const lines = harness.logs.filter(({ event }) => event === 'login')
      expect(lines).to.have.length(10)
      for (const [at, line] of lines.entries()) {
        expect(line, `line ${at}`).to.include({
          level: 40,
          outcome: 'abandoned',
          reason: 'gone',
          clientAddress: '192.0.2.1'
        })
        expect(line['account'], `line ${at}`).to.match(/^[0-9a-f]{16}$/)
      }
      // One that is still under way would be waited for, and the seconds to wait would be one.
      expect(await rejectionOf(one.login(right))).to.include({ code: 'quota-exceeded', retryAfter: 15 * 60 })
    })

    it('tries again where a cluster gives the transaction up eight times', async () => {
      let deadlocks = 8
      const deadlock = new Error('Deadlock found when trying to get lock')
      const contested = harness.replica({}, (own) => ({
        classifyError: (error) => (error === deadlock ? 'deadlock' : own.classifyError(error)),
        flushed: () => own.flushed(),
        close: () => own.close(),
        begin: async (beginning) => {
          const transaction = await own.begin(beginning)
          return {
            node: undefined,
            run: (...of) => transaction.run(...of),
            rows: (...of) => transaction.rows(...of),
            change: (...of) => transaction.change(...of),
            isGuarding: false,
            changeWithin: (...of) => transaction.changeWithin(...of),
            batch: (...of) => transaction.batch(...of),
            rollback: () => transaction.rollback(),
            commit: async () => {
              if (deadlocks-- <= 0) return await transaction.commit()
              await transaction.rollback()
              throw deadlock
            }
          }
        }
      }))
      await contested.login(right)
      expect(deadlocks).to.be.lessThan(0)
    })

    it('is unavailable where a failure cannot be recorded, and says nothing of the password', async () => {
      let isHeld = false
      const held = harness.replica(
        {
          passwords: {
            hash: () => Promise.reject(new Error('not asked')),
            verify: () => {
              isHeld = true
              return Promise.resolve(false)
            }
          }
        },
        (own) => ({
          classifyError: (error) => own.classifyError(error),
          flushed: () => own.flushed(),
          close: () => own.close(),
          // Like a server whose writes an operator holds: it answers nothing until the statement is stopped.
          begin: (beginning) => (isHeld ? rejectionOfAborted(beginning.signal) : own.begin(beginning))
        })
      )
      expect(await rejectionOf(held.login(wrong))).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    })

    it('purges what has left the window', async () => {
      await rejectionOf(one.login(wrong))
      harness.now += 15 * MINUTE - 1
      expect(await one.by.store.purgeAttempts(harness.now, 10)).to.equal(0)
      harness.now += 1
      expect(await one.by.store.purgeAttempts(harness.now, 1)).to.equal(1)
      expect(await one.by.store.purgeAttempts(harness.now, 10)).to.equal(1)
      expect(await one.by.store.purgeAttempts(harness.now, 10)).to.equal(0)
    })
  })
})

function rejectionOfAborted(signal: Cancellation): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', { handleEvent: () => reject(signal.reason) }))
}

describe('the queue of logins', () => {
  const never = (): AbortSignal => new AbortController().signal

  it('is bounded, for each address too, and passes in order of arrival', async () => {
    const queue = new LoginQueue()
    const leave = await Promise.all(['a', 'b', 'c'].map((address) => queue.enter(address, never())))
    const gone = new AbortController()
    setMaxListeners(0, gone.signal)
    const order: string[] = []
    const wait = async (address: string, signal = never()): Promise<void> => {
      const done = await queue.enter(address, signal)
      order.push(address)
      done()
    }
    const leaving = Promise.allSettled(Array.from({ length: 32 }, () => wait('a', gone.signal)))
    expect(await rejectionOf(wait('a'))).to.include({ code: 'quota-exceeded', retryAfter: 1 })
    const staying = Array.from({ length: 224 }, (_, i) => wait(`b${i}`))
    expect(await rejectionOf(wait('c'))).to.include({ code: 'quota-exceeded', retryAfter: 1 })
    gone.abort(new Error('gone'))
    expect((await leaving).map(({ status }) => status)).to.deep.equal(Array(32).fill('rejected'))
    const late = wait('c')
    for (const one of leave) one()
    await Promise.all([...staying, late])
    expect(order).to.deep.equal([...Array.from({ length: 224 }, (_, i) => `b${i}`), 'c'])
    await Promise.all(['a', 'a', 'b'].map((address) => queue.enter(address, never())))
  })

  it('lets addresses take turns, whoever of them came first and with however many', async () => {
    const queue = new LoginQueue()
    const order: string[] = []
    const ends: (() => void)[] = []
    const wait = async (address: string): Promise<void> => {
      const end = await queue.enter(address, never())
      order.push(address)
      ends.push(end)
    }
    /** Ends the login that has been under way longest, and lets the one whose turn it is begin. */
    const endOne = async (): Promise<void> => {
      ends.shift()?.()
      await new Promise(setImmediate)
    }
    const flood = Promise.allSettled(Array.from({ length: 131 }, () => wait('a')))
    const others = [wait('b'), wait('b'), wait('c'), wait('c')]
    await new Promise(setImmediate)
    // Of three places one address takes two, so that one of another begins at once.
    expect(order).to.deep.equal(['a', 'a', 'b'])
    await endOne()
    expect(order.slice(3)).to.deep.equal(['c'])
    // One of each is under way, so that it is the turn of the address that has waited longest for its next one.
    await endOne()
    expect(order.slice(4)).to.deep.equal(['a'])
    await endOne()
    expect(order.slice(5)).to.deep.equal(['b'])
    await Promise.all(others.slice(0, 3))
    while (ends.length > 0) await endOne()
    await Promise.all(others)
    expect((await flood).filter(({ status }) => status === 'fulfilled')).to.have.length(34)
  })
})
