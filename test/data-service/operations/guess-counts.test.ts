import { expect } from 'chai'
import { type Guess, GuessCounts } from '../../../data-service/operations/writes/guess-counts.js'
import { DomainError } from '../../../shared/errors.js'

const BOUND = { of: 'code', most: 3, minutes: 2 }
const WRONG = new Error('no such code')

describe('the count of guesses', () => {
  let now = 0
  let counts: GuessCounts
  beforeEach(() => {
    now = 1_000_000
    counts = new GuessCounts(() => now)
  })

  const guesser = (subject = 'ada', route = 'redeem'): Parameters<GuessCounts['count']>[0] => ({
    caller: { issuer: 'https://issuer.test', subject },
    resource: 'cards',
    route,
    bound: BOUND
  })
  const wrong = (guess: Guess, code: string | null = 'a'): Promise<never> => {
    guess.begin({ code })
    guess.wrong()
    return Promise.reject(WRONG)
  }
  /** The seconds to wait, or what the guess came to. */
  async function tried(run: (guess: Guess) => Promise<unknown>, by = guesser()): Promise<unknown> {
    try {
      return await counts.count(by, run)
    } catch (error) {
      return error instanceof DomainError && error.code === 'quota-exceeded' ? error.retryAfter : error
    }
  }

  it('refuses guesses after so many wrong ones, until the first of them is old', async () => {
    for (let count = 0; count < 3; count++) {
      expect(await tried(wrong)).to.equal(WRONG)
      now += 30_000
    }
    expect(await tried(wrong)).to.equal(30)
    now += 29_999
    expect(await tried(wrong)).to.equal(1)
    now += 1
    expect(await tried(wrong)).to.equal(WRONG)
    expect(await tried(wrong)).to.equal(30)
  })

  it('counts each caller and route by itself, and calls without a value of the member not at all', async () => {
    for (let count = 0; count < 10; count++) expect(await tried((guess) => wrong(guess, null))).to.equal(WRONG)
    for (let count = 0; count < 3; count++) await tried(wrong)
    expect(await tried(wrong)).to.equal(120)
    expect(await tried(wrong, guesser('ben'))).to.equal(WRONG)
    expect(await tried(wrong, guesser('ada', 'create'))).to.equal(WRONG)
    const unbound = { ...guesser(), bound: undefined }
    for (let count = 0; count < 10; count++) expect(await tried(wrong, unbound)).to.equal(WRONG)
  })

  it('counts a guess while it is judged, and no longer once it was right or has failed', async () => {
    const ends: (() => void)[] = []
    const judged = Array.from({ length: 3 }, () =>
      tried(async (guess) => {
        guess.begin({ code: 'a' })
        await new Promise<void>((resolve) => ends.push(resolve))
        return 'right'
      })
    )
    expect(await tried(wrong)).to.equal(120)
    for (const end of ends) end()
    expect(await Promise.all(judged)).to.deep.equal(['right', 'right', 'right'])
    const gone = new Error('gone')
    const lost = (guess: Guess): Promise<never> => {
      guess.begin({ code: 'a' })
      return Promise.reject(gone)
    }
    for (let count = 0; count < 10; count++) expect(await tried(lost)).to.equal(gone)
    expect(await tried(wrong)).to.equal(WRONG)
  })

  it('counts a request once, however often its transaction runs', async () => {
    const again = (guess: Guess): Promise<never> => {
      for (let run = 0; run < 5; run++) guess.begin({ code: 'a' })
      return wrong(guess)
    }
    for (let count = 0; count < 3; count++) expect(await tried(again)).to.equal(WRONG)
    expect(await tried(again)).to.equal(120)
  })
})
