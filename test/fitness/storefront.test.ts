import { expect } from 'chai'
import { filesWithCode, sourceFiles } from './source-files.js'

describe('the storefront', () => {
  const files = sourceFiles('examples/store/storefront')

  it('has source files that these tests find', () => {
    expect(files.length).to.be.greaterThan(20)
  })

  it('makes no HTML of data', () => {
    const makers = /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|srcdoc|document\.write|eval)\b/
    expect(filesWithCode(files, makers)).to.deep.equal([])
  })

  it('keeps nothing in the browser', () => {
    const keepers = /\b(?:localStorage|sessionStorage|indexedDB|caches|cookieStore|document\.cookie|window\.name)\b/
    expect(filesWithCode(files, keepers)).to.deep.equal([])
  })

  it('has no script or style within a page, which its content security policy would stop', () => {
    expect(filesWithCode(files, /<style\b|\bstyle=|\bon[A-Z][a-z]+=|javascript:/)).to.deep.equal([])
  })
})
