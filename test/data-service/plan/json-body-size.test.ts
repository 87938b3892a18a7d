import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { parseJson } from '../../../data-service/plan/parsing/json-body.js'

describe('the size of a body', () => {
  const body = (bytes: number): Buffer => Buffer.from(`{"a":"${'x'.repeat(bytes - 8)}"}`)

  it('is at most 1 MiB, whichever transport it came by', () => {
    expect(parseJson(body(1024 * 1024))).to.have.property('a')
    expect(() => parseJson(body(1024 * 1024 + 1)))
      .to.throw(DomainError)
      .with.property('code', 'body.too-large')
  })

  it('is at most 50,000 values too', () => {
    const array = (values: number): Buffer => Buffer.from(`[${Array.from({ length: values }, () => 1).join()}]`)
    // The array is one of them.
    expect(parseJson(array(49_999))).to.have.length(49_999)
    expect(() => parseJson(array(50_000)))
      .to.throw(DomainError, /more than 50000 values/)
      .with.property('code', 'body.too-large')
  })
})
