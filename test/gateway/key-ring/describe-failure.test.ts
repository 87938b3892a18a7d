import { expect } from 'chai'
import { describeFailure } from '../../../gateway/key-ring/ring-document.js'

describe('failures in the log', () => {
  it('are told by code and message', () => {
    expect(describeFailure(Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' }))).to.equal(
      'ECONNREFUSED connect refused'
    )
    expect(describeFailure(Object.assign(new Error('no'), { statusCode: 403, code: 'Forbidden' }))).to.equal(
      '403 Forbidden no'
    )
  })

  it('never show the query of a URL, nor anything else that the error carries', () => {
    const error = Object.assign(new Error('GET https://a.test/c/b?sv=1&sig=abc%3D failed'), { request: { key: 'abc' } })
    expect(describeFailure(error)).to.equal('GET https://a.test/c/b?*** failed')
  })

  it('tell all that the sources of an identity say, and not without an end', () => {
    const sources = Array.from({ length: 5 }, (_, n) => `source ${n}: ${'no token '.repeat(15)}`).join('\n')
    expect(describeFailure(new Error(sources))).to.equal(sources)
    expect(describeFailure(new Error('x'.repeat(3000)))).to.have.lengthOf(2000)
  })

  it('have a text whatever was thrown', () => {
    expect(describeFailure('secret')).to.equal('unknown failure')
    expect(describeFailure(new TypeError(''))).to.equal('TypeError')
  })
})
