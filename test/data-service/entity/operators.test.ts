import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { FieldType } from '../../../data-service/entity/fields/field.js'
import { operatorsOf } from '../../../data-service/entity/fields/operators.js'
import { packageRoot } from '../../harness/package-root.js'

/** The first column of the contract's table, and the types that it names. */
const ROWS: Readonly<Record<string, readonly FieldType[]>> = {
  string: ['string'],
  bool: ['bool'],
  'int, long, decimal': ['int', 'long', 'decimal'],
  DateTime: ['dateTime'],
  Guid: ['guid'],
  'enum (filtered and sorted as text)': ['enum'],
  set: ['set'],
  'json, binary': ['json', 'binary']
}

describe('the operator table', () => {
  const contract = readFileSync(join(packageRoot, 'docs/spec/contract.md'), 'utf8')

  for (const [row, types] of Object.entries(ROWS)) {
    it(`has the operators that the contract lists for ${row}`, () => {
      const line = contract.split('\n').find((one) => one.startsWith(`| ${row} | \``)) ?? ''
      const listed = Array.from(line.replace(/\(alias [^)]*\)/g, '').matchAll(/`([^`]+)`/g), ([, word]) => word)
      expect(listed, line).to.not.have.length(0)
      for (const type of types)
        expect(
          operatorsOf(type).map(({ word }) => word),
          type
        ).to.deep.equal(listed)
    })
  }

  it('has those of DateTime for date and time, and those of int without `in` for double', () => {
    const words = (type: FieldType): string[] => operatorsOf(type).map(({ word }) => word)
    expect(contract).to.include('| date, time | as DateTime |').and.to.include('| double | as int without `in` |')
    for (const type of ['date', 'time'] as const) expect(words(type), type).to.deep.equal(words('dateTime'))
    expect(words('double')).to.deep.equal(words('int').filter((word) => word !== 'in'))
  })
})
