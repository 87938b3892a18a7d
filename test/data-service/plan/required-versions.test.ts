import { expect } from 'chai'
import type { Column } from '../../../data-service/entity/fields/columns.js'
import { json } from '../../../data-service/entity/fields/words.js'
import { mergedValues, requiredVersions } from '../../../data-service/plan/write-requests.js'
import { DomainError } from '../../../shared/errors.js'

const versions = (count: number, length: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.from(String(index).padStart(length, '0')))

const parsed = (sent: readonly Buffer[]) => requiredVersions({ kind: 'PRECONDITION_KIND_TAGS', versions: sent })

describe('the versions that a guarded write expects', () => {
  it('are those sent that a row can have, each once', () => {
    const [one, two] = versions(2, 8)
    if (one === undefined || two === undefined) throw new Error('there are two')
    expect(parsed([one, two])).to.deep.equal([one, two])
    expect(parsed([...versions(3, 7), one, two, one, ...versions(3, 9), two])).to.deep.equal([one, two])
  })

  it('are one that no row can have, if no other was sent', () => {
    expect(parsed(versions(3, 9))).to.deep.equal(versions(1, 9))
  })

  it('are 8192 at most, whatever else was sent', () => {
    expect(parsed([...versions(10_000, 9), ...versions(8192, 8), ...versions(8192, 8)])).to.have.length(8192)
    expect(() => parsed(versions(8193, 8)))
      .to.throw(DomainError)
      .that.includes({ code: 'precondition.malformed' })
  })
})

describe('a patch of a large stored value', () => {
  it('has a turn for itself before it is parsed, before it is merged and before it is written', async () => {
    const column = { name: 'document', field: json() } as Column
    const turnsFor = async (text: string): Promise<number> => {
      let turns = 0
      const stored = { document: JSON.stringify({ a: text }) }
      const values = await mergedValues(new Map([[column, { b: true }]]), stored, () => Promise.resolve(void turns++))
      expect(values.get(column)).to.equal(JSON.stringify({ a: text, b: true }))
      return turns
    }
    expect(await turnsFor('x'.repeat(70_000))).to.equal(3)
    expect(await turnsFor('x'.repeat(60_000))).to.equal(0)
  })
})
