import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { readSessionCookie } from '../../../shared/session-cookie/read-session-cookie.js'

// Run by runner.test.ts, and by `npm test -- test/runner/samples/failing` for whoever wants to see how failures look.
describe('tests that fail', () => {
  it('passes', () => {
    process.stdout.write('      printed by a test\n')
  })

  it('compares two objects', () => {
    expect({ id: 1, name: 'cup' }).to.deep.equal({ id: 1, name: 'mug' })
  })

  it('calls product code that throws', async () => {
    await nextTurn()
    const claims = Buffer.from(JSON.stringify({ exp: 1 })).toString('base64url')
    readSessionCookie(`app_auth_access=e30.${claims}.x`, () => {
      throw new Error('the clock is broken')
    })
  })

  it('throws with a cause', () => {
    try {
      JSON.parse('{')
    } catch (error) {
      throw new Error('the file is no JSON', { cause: error })
    }
  })

  it('has no body, which makes it a skipped test')

  it('leaves a rejection that nobody handles', async () => {
    void Promise.reject(new Error('nobody handles this'))
    await nextTurn()
  })
})

describe('a suite whose hook fails', () => {
  before(() => {
    throw new Error('the hook failed')
  })

  it('does not run', () => undefined)
})
