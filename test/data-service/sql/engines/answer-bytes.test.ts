import { expect } from 'chai'
import { AnswerBytes, AnswerTooLarge, BoundedRows, bytesOf } from '../../../../data-service/sql/engines/answer-bytes.js'
import { DomainError } from '../../../../shared/errors.js'

const MIB = 1024 * 1024
const EMPTY = { isFullWith: () => false, rejection: () => full }
const full = new DomainError('upstream.unavailable', 'too much to do')

describe('the bytes of an answer', () => {
  it('They hold a first row of any size and 8 MiB of further ones.', () => {
    const bytes = new AnswerBytes(EMPTY)
    expect(bytes.holds(100 * MIB)).to.equal(true)
    for (let row = 0; row < 8; row++) expect(bytes.holds(MIB)).to.equal(true)
    expect(bytes.failure).to.equal(undefined)
    expect(bytes.holds(1)).to.equal(false)
    expect(bytes.failure).to.be.instanceOf(AnswerTooLarge)
    expect(bytes.holds(0)).to.equal(false)
  })

  it('They count only statements whose rows may be large, and bound those that may have too many bytes.', () => {
    const bytes = new AnswerBytes(EMPTY)
    expect(bytes.ifNeeded(500, 2000)).to.equal(undefined)
    expect(bytes.ifNeeded(500, 10_000)?.bound).to.equal(undefined)
    expect(bytes.ifNeeded(500, 65_535, 1)?.bound).to.deep.equal({ bytes: 8 * MIB, isFirstFree: true, beside: 1 })
    bytes.holds(1)
    bytes.holds(4 * MIB)
    bytes.holds(100 * MIB)
    expect(bytes.ifNeeded(500, 10_000)?.bound).to.deep.equal({ bytes: 4 * MIB, isFirstFree: false, beside: 0 })
  })

  it('They do not count the last rows of a statement, which are beside the page.', () => {
    for (const beside of [0, 1, 2]) {
      const rows = new BoundedRows({ bytes: 5, isFirstFree: true, beside })
      const held = [100, 5, 1, 1, 1].map((bytes) => rows.holds(bytes))
      expect(held.indexOf(false), `${beside} beside`).to.equal(2 + beside)
      expect(rows.tooLarge().held).to.equal(2)
    }
  })

  it('They count the last rows too where none of them was beside the page.', () => {
    const bytes = new AnswerBytes(EMPTY)
    const counted = bytes.ifNeeded(3, 16 * MIB, 1)
    expect(counted?.holds(12 * MIB)).to.equal(true)
    counted?.countLast()
    const more = new AnswerBytes(EMPTY).ifNeeded(3, 16 * MIB, 1)
    expect([more?.holds(12 * MIB), more?.holds(12 * MIB)]).to.deep.equal([true, true])
    expect(() => more?.countLast()).to.throw(AnswerTooLarge)
  })

  it('They are bytes of UTF-8, of texts and of bytes alike.', () => {
    expect(bytesOf(['文'.repeat(1000), Buffer.alloc(5), 7])).to.equal(3013)
  })

  it('They ask whether the memory holds what was read once more, and reject the read where it does not.', () => {
    const asked: number[] = []
    const isFullWith = (more: number): boolean => asked.push(more) === 3
    const bytes = new AnswerBytes({ isFullWith, rejection: () => full })
    const held = Array.from({ length: 40 }, () => bytes.holds(100 * 1024))
    expect(held.indexOf(false)).to.equal(8)
    expect(asked.map((more) => more / 1024)).to.deep.equal([300, 600, 900])
    expect(bytes.failure).to.equal(full)
  })
})
