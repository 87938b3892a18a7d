import { expect } from 'chai'
import { LruCache } from '../../../data-service/sql/engines/engine.js'

describe('the cache of statements', () => {
  const unused = (): string => {
    throw new Error('It was not kept')
  }

  it('makes a value once, and forgets what was not asked for longest', () => {
    const cache = new LruCache<string, string>(6, (_key, value) => value.length)
    expect(cache.get('a', () => 'aa')).to.equal('aa')
    cache.get('b', () => 'bb')
    cache.get('c', () => 'cc')
    expect(cache.get('a', unused)).to.equal('aa')
    cache.get('d', () => 'd')
    expect(cache.get('b', () => 'again')).to.equal('again')
    expect(cache.get('d', unused)).to.equal('d')
  })

  it('keeps nothing that weighs more than all may', () => {
    const cache = new LruCache<string, string>(3, (_key, value) => value.length)
    cache.get('a', () => 'aaa')
    cache.get('b', () => 'bbbb')
    expect(cache.get('a', unused)).to.equal('aaa')
    expect(cache.get('b', () => 'new')).to.equal('new')
  })

  it('forgets everything when cleared', () => {
    const cache = new LruCache<string, string>(3, (_key, value) => value.length)
    cache.get('a', () => 'aaa')
    cache.clear()
    expect(cache.get('b', () => 'bbb')).to.equal('bbb')
    expect(cache.get('b', unused)).to.equal('bbb')
  })
})
