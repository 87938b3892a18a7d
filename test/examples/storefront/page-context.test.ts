import { expect } from 'chai'
import { localPath } from '../../../examples/store/storefront/page-context.js'

describe('where signing in leads', () => {
  for (const path of ['/', '/cart', '/products?page=2&search=a%2Fb', '/orders/7', '/x//y']) {
    it(`is ${path}`, () => {
      expect(localPath(path)).to.equal(path)
    })
  }

  const AWAY = [
    '',
    'cart',
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/x/..//evil.example',
    '/%2e//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'javascript:alert(1)',
    '/'.repeat(2001),
    undefined,
    ['/cart'],
    null
  ]
  for (const next of AWAY) {
    it(`is the first page for ${JSON.stringify(next)?.slice(0, 40)}`, () => {
      expect(localPath(next)).to.equal('/')
    })
  }
})
