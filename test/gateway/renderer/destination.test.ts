import { expect } from 'chai'
import { destinationOf } from '../../../gateway/renderer/destination.js'

const HTML = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'

describe('where a request goes', () => {
  const own = {
    prefix: '',
    isResource: (segment: string) => segment === 'products',
    isOperation: (segment: string) => segment === 'reports',
    isRead: (_: string, segment: string) => ['paged', 'export', 'lookup', 'top'].includes(segment)
  }
  const TABLE: readonly (readonly [method: string, target: string, accept: string, goes: 'renderer' | 'gateway'])[] = [
    ['GET', '/', HTML, 'renderer'],
    ['GET', '/', '*/*', 'renderer'],
    ['GET', '/cart', HTML, 'renderer'],
    ['GET', '/reports', HTML, 'gateway'],
    ['POST', '/reports/nothing', HTML, 'gateway'],
    ['POST', '/cart', '*/*', 'renderer'],
    ['GET', '/assets/shop.css', 'text/css', 'renderer'],
    ['GET', '/products', HTML, 'renderer'],
    ['GET', '/products?x=1', HTML, 'renderer'],
    ['GET', '/%70roducts', 'application/json', 'gateway'],
    ['GET', '/products', '*/*', 'gateway'],
    ['GET', '/products', 'application/json', 'gateway'],
    ['GET', '/products', 'text/html;q=0', 'gateway'],
    ['HEAD', '/products', HTML, 'gateway'],
    ['POST', '/products', HTML, 'gateway'],
    ['GET', '/products/1', HTML, 'renderer'],
    ['GET', '/products/1', '*/*', 'gateway'],
    ['PUT', '/products/1', HTML, 'gateway'],
    ['GET', '/products/', HTML, 'gateway'],
    ['GET', '/products/paged', HTML, 'gateway'],
    ['GET', '/products/export', HTML, 'gateway'],
    ['GET', '/products/top', HTML, 'gateway'],
    ['GET', '/products/1/publish', HTML, 'gateway'],
    ['GET', '/productsx', HTML, 'renderer'],
    ['GET', '/auth/login', HTML, 'gateway'],
    ['POST', '/auth/login', '*/*', 'gateway'],
    ['GET', '/auth', HTML, 'gateway'],
    ['GET', '/problems/conflict', HTML, 'gateway'],
    ['GET', '/.well-known/jwks.json', '*/*', 'gateway'],
    ['GET', '/health', HTML, 'gateway'],
    ['GET', '/metrics', HTML, 'gateway'],
    ['GET', '/metrics/x', '*/*', 'gateway'],
    ['GET', '/admin', HTML, 'gateway'],
    ['POST', '/admin/orders/1', '*/*', 'gateway'],
    ['GET', '/administration', HTML, 'renderer'],
    ['GET', '/openapi.json', HTML, 'gateway'],
    ['GET', '/docs', HTML, 'gateway'],
    ['GET', '/%E0%A4%A', HTML, 'renderer']
  ]
  for (const [method, target, accept, goes] of TABLE) {
    it(`${method} ${target} for ${accept} goes to the ${goes}`, () => {
      expect(destinationOf({ method, target, accept }, own).renderer).to.equal(goes === 'renderer')
    })
  }

  it('under a prefix, what is not below it is no path of the gateway', () => {
    const prefixed = { ...own, prefix: '/api' }
    const goes = (target: string): boolean => destinationOf({ method: 'GET', target, accept: '*/*' }, prefixed).renderer
    expect([
      goes('/products'),
      goes('/api/products'),
      goes('/apiproducts'),
      goes('/api'),
      goes('/api/x')
    ]).to.deep.equal([true, false, true, true, true])
  })

  it('lists and rows alone have two representations', () => {
    const both = (target: string, method = 'GET'): boolean => destinationOf({ method, target, accept: '*/*' }, own).both
    expect([both('/products'), both('/products/1'), both('/products', 'HEAD')]).to.deep.equal([true, true, true])
    expect([both('/'), both('/products/paged'), both('/docs'), both('/products', 'POST')]).to.deep.equal([
      false,
      false,
      false,
      false
    ])
  })
})
