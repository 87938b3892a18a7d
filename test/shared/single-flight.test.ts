import { expect } from 'chai'
import { SingleFlight } from '../../shared/single-flight.js'

describe('a single flight', () => {
  it('runs once for all who ask for one key meanwhile, and apart for another key', async () => {
    const flights = new SingleFlight<string, string>()
    const begun: string[] = []
    const start = (key: string) => (): Promise<string> => {
      begun.push(key)
      return Promise.resolve(`${key}${begun.length}`)
    }
    const answers = Promise.all([
      flights.run('a', start('a')),
      flights.run('a', start('a')),
      flights.run('b', start('b'))
    ])
    expect(flights.running('a')).to.be.a('promise')
    expect(await answers).to.deep.equal(['a1', 'a1', 'b2'])
    expect(begun).to.deep.equal(['a', 'b'])
  })

  it('forgets a run that is over, whether it succeeded or failed', async () => {
    const flights = new SingleFlight<string, number>()
    const failure = new Error('down')
    const failed = await Promise.allSettled([
      flights.run('a', () => Promise.reject(failure)),
      flights.run('a', () => Promise.resolve(1))
    ])
    expect(failed).to.deep.equal([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure }
    ])
    expect(flights.running('a')).to.equal(undefined)
    expect(await flights.run('a', () => Promise.resolve(2))).to.equal(2)
    expect(await flights.run('a', () => Promise.resolve(3))).to.equal(3)
  })
})
