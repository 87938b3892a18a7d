import { expect } from 'chai'
import { authorizationOf } from '../../../gateway/http/header-fields.js'

describe('Authorization', () => {
  it('is its one line, and undefined without any', () => {
    expect(authorizationOf(['Host', 'x', 'authorization', 'Bearer a'])).to.equal('Bearer a')
    expect(authorizationOf(['Host', 'x'])).to.equal(undefined)
  })
  it('of several lines keeps them all, so that none is chosen', () => {
    expect(authorizationOf(['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer b'])).to.equal('Bearer a, Bearer b')
  })
})
