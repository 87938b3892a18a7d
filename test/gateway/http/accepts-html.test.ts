import { expect } from 'chai'
import { acceptsHtml, refusesHtml } from '../../../gateway/http/negotiation.js'

describe('Accept', () => {
  const TABLE: readonly (readonly [accept: string | undefined, html: 'asked for' | 'taken' | 'refused'])[] = [
    ['text/html', 'asked for'],
    ['TEXT/HTML', 'asked for'],
    ['application/json, text/html;q=0.1', 'asked for'],
    ['text/html; charset=utf-8; q=0.5', 'asked for'],
    ['text/html;q=0', 'refused'],
    ['text/html;q=0.000', 'refused'],
    ['text/html;q=x', 'refused'],
    ['text/html;q=0, */*', 'refused'],
    ['text/*;q=0, */*', 'refused'],
    ['*/*', 'taken'],
    ['*/*;q=0', 'refused'],
    ['application/json, */*;q=0.1', 'taken'],
    ['text/*', 'taken'],
    ['Text/* ; q=0.5, */*;q=0', 'taken'],
    ['application/json', 'refused'],
    ['application/xhtml+xml', 'refused'],
    ['', 'taken'],
    [' , ', 'taken'],
    [undefined, 'taken']
  ]
  for (const [accept, html] of TABLE) {
    it(`${String(accept)}: HTML is ${html}`, () => {
      expect([acceptsHtml(accept), refusesHtml(accept)]).to.deep.equal([html === 'asked for', html === 'refused'])
    })
  }
})
