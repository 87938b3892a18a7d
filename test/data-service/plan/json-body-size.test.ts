import { expect } from 'chai'
import { parseJson } from '../../../data-service/plan/parsing/json-values.js'
import { DomainError } from '../../../shared/errors.js'

describe('the size of a body', () => {
  const body = (bytes: number): Buffer => Buffer.from(`{"a":"${'x'.repeat(bytes - 8)}"}`)

  it('is at most 1 MiB, whichever transport it came by', () => {
    expect(parseJson(body(1024 * 1024))).to.have.property('a')
    expect(() => parseJson(body(1024 * 1024 + 1)))
      .to.throw(DomainError)
      .with.property('code', 'body.too-large')
  })
})
