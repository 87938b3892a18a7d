import { expect } from 'chai'
import { acceptsHtml } from '../../../gateway/http/negotiation.js'

describe('Accept', () => {
  const TABLE: readonly (readonly [accept: string | undefined, html: boolean])[] = [
    ['text/html', true],
    ['TEXT/HTML', true],
    ['application/json, text/html;q=0.1', true],
    ['text/html; charset=utf-8; q=0.5', true],
    ['text/html;q=0', false],
    ['text/html;q=0.000', false],
    ['text/html;q=x', false],
    ['*/*', false],
    ['text/*', false],
    ['application/xhtml+xml', false],
    ['', false],
    [undefined, false]
  ]
  for (const [accept, html] of TABLE) {
    it(`${String(accept)} ${html ? 'takes' : 'does not take'} HTML`, () => {
      expect(acceptsHtml(accept)).to.equal(html)
    })
  }
})
