import { expect } from 'chai'
import { type ConditionParams, type FilterParams, parseConditions } from '../../../data-service/plan/parsing/filters.js'
import type { ColumnCondition, Condition } from '../../../data-service/plan/model/plans.js'
import { Violations } from '../../../data-service/plan/parsing/violations.js'
import { resource } from './example-entities.js'
import { errorOf, violationsOf } from './violations-of.js'

function parseAll(params: ConditionParams): readonly Condition[] {
  const violations = new Violations()
  const conditions = parseConditions(params, resource('things'), violations)
  violations.finish()
  return conditions
}

function parse(...filters: FilterParams[]): readonly ColumnCondition[] {
  return parseAll({ filters }).filter((one) => 'path' in one)
}

const one = (property: string, operator: string, value: string): readonly unknown[] => {
  const [condition] = parse({ property, operator, value })
  return condition === undefined ? [] : [condition.comparison, ...condition.operands]
}
const violation = (property: string, operator: string, value: string): string =>
  violationsOf(() => parse({ property, operator, value })).join()

describe('parseConditions', () => {
  it('joins the conditions of a group by OR, takes one alone for a plain one, and an empty group for none', () => {
    const of = (value: string) => ({ property: 'title', operator: 'equals', value })
    const shapeOf = (one: Condition): unknown =>
      'path' in one ? one.operands : 'anyOf' in one ? { anyOf: one.anyOf.map(shapeOf) } : 'allOf'
    const anyOf = [{ filters: [of('b'), of('c')] }, { filters: [] }, { filters: [of('d')] }]
    const found = parseAll({ filters: [of('a')], anyOf }).map(shapeOf)
    expect(found).to.deep.equal([['a'], { anyOf: [['b'], ['c']] }, ['d']])
  })

  it('names the group of what is wrong, and bounds groups and the conditions in all of them', () => {
    const of = (property: string) => ({ property, operator: 'equals', value: 'a' })
    const wrong = (anyOf: NonNullable<ConditionParams['anyOf']>) =>
      violationsOf(() => parseAll({ filters: [of('title')], anyOf }))
    expect(wrong([{ filters: [of('title')] }, { filters: [of('nope')] }]).join()).to.include('anyOf[2].filters[nope]')
    const groups = (count: number, filters: number) =>
      Array.from({ length: count }, () => ({ filters: Array.from({ length: filters }, () => of('title')) }))
    expect(wrong(groups(11, 1)).join()).to.include('filter.too-many')
    expect(wrong(groups(10, 5)).join()).to.include('filter.too-many')
    expect(parseAll({ anyOf: groups(10, 5) })).to.have.length(10)
  })

  it('folds the case, spaces, underscores, hyphens and camel case of operators', () => {
    for (const operator of ['starts with', 'startsWith', 'STARTS_WITH', 'starts-with', ' Starts  With ']) {
      expect(one('TITLE', operator, 'a'), operator).to.deep.equal(['startsWith', 'a'])
    }
  })

  it('knows the aliases of each type', () => {
    expect(one('sold', 'equals', 'TRUE')).to.deep.equal(['equals', true])
    expect(one('sold', 'eq', 'False')).to.deep.equal(['equals', false])
    expect(one('title', 'ne', 'x')).to.deep.equal(['notEquals', 'x'])
    expect(one('madeAt', 'gte', '2026-01-01')).to.deep.equal(['greaterThanOrEqual', '2026-01-01T00:00:00.000Z'])
    expect(one('madeAt', 'eq', '2026-01-01')[0]).to.equal('equals')
    expect(one('id', 'LT', '5')).to.deep.equal(['lessThan', 5])
    expect(violation('title', 'gt', 'a')).to.equal('filter.operator.unsupported filters[title].operator')
    expect(violation('sold', 'ne', 'true')).to.equal('filter.operator.unsupported filters[sold].operator')
    expect(violation('madeAt', 'equals', '2026-01-01')).to.equal('filter.operator.unsupported filters[madeAt].operator')
  })

  it('takes only the operators that the entity leaves', () => {
    expect(one('serial', 'eq', '1')).to.deep.equal(['equals', '1'])
    const error = errorOf(() => parse({ property: 'serial', operator: 'gt', value: '1' }))
    expect(error.message).to.contain('serial (long) has equals; in short eq.')
  })

  it('parses integers within their type alone, exactly', () => {
    expect(one('id', 'in', '+7, -0 ,007,-2147483648')).to.deep.equal(['in', 7, 0, 7, -2147483648])
    expect(one('serial', 'eq', '9223372036854775807')).to.deep.equal(['equals', '9223372036854775807'])
    for (const value of ['', ' ', '1.0', '1e3', '2147483648', '-2147483649', '0x1', '１', ' 1', '1 ']) {
      expect(violation('id', 'eq', value), value).to.equal('filter.value.invalid filters[id].value')
    }
    expect(violation('serial', 'eq', '9223372036854775808')).to.equal('filter.value.invalid filters[serial].value')
  })

  it('brings decimals to the scale of the column without changing the answer', () => {
    expect(one('price', 'eq', '+1.5')).to.deep.equal(['equals', '1.50'])
    expect(one('price', 'eq', '1.500')).to.deep.equal(['equals', '1.50'])
    expect(one('price', 'gt', '1.005')).to.deep.equal(['greaterThan', '1.00'])
    expect(one('price', 'gte', '1.005')).to.deep.equal(['greaterThanOrEqual', '1.01'])
    expect(one('price', 'lt', '1.005')).to.deep.equal(['lessThan', '1.01'])
    expect(one('price', 'lte', '1.005')).to.deep.equal(['lessThanOrEqual', '1.00'])
    expect(one('price', 'gt', '-1.005')).to.deep.equal(['greaterThan', '-1.01'])
    expect(one('price', 'gte', '-1.005')).to.deep.equal(['greaterThanOrEqual', '-1.00'])
    expect(one('price', 'gte', '-0.001')).to.deep.equal(['greaterThanOrEqual', '0.00'])
    expect(one('price', 'between', '1.001,1.009')).to.deep.equal(['between', '1.01', '1.00'])
    expect(one('price', 'in', '1.005,2')).to.deep.equal(['in', '10000.00', '2.00'])
    expect(one('price', 'ne', '1.005')).to.deep.equal(['notEquals', '10000.00'])
    expect(one('price', 'gt', '99999999999999999999')).to.deep.equal(['greaterThan', '10000.00'])
    expect(one('price', 'gt', '-99999999999999999999')).to.deep.equal(['greaterThan', '-10000.00'])
    for (const value of ['', '1,5', '1e2', '.5', '5.', '--1', 'NaN', '1_0']) {
      expect(violation('price', 'eq', value), value).to.equal('filter.value.invalid filters[price].value')
    }
  })

  it('parses dates with any offset, none being UTC', () => {
    const is = (text: string): unknown => one('madeAt', 'is', text)[1]
    expect(is('2026-01-31T08:00:00')).to.equal('2026-01-31T08:00:00.000Z')
    expect(is('2026-01-31t08:00:00.1230000z')).to.equal('2026-01-31T08:00:00.123Z')
    expect(is('2026-01-31T00:30:00+02:00')).to.equal('2026-01-30T22:30:00.000Z')
    expect(is('2026-01-31T23:30:00.5-05:30')).to.equal('2026-02-01T05:00:00.500Z')
    expect(is('2024-02-29')).to.equal('2024-02-29T00:00:00.000Z')
    expect(is('0001-01-01')).to.equal('0001-01-01T00:00:00.000Z')
    expect(is('0099-06-01T00:00:00Z')).to.equal('0099-06-01T00:00:00.000Z')
    for (const value of [
      '',
      '2026-02-30',
      '2025-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-31T24:00:00Z',
      '2026-01-31T08:60:00Z',
      '2026-01-31T08:00:60Z',
      '2026-01-31T08:00',
      '2026-01-31T08:00:00.1234Z',
      '2026-01-31T08:00:00 02:00',
      '2026-01-31T08:00:00+24:00',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
      '0000-12-31',
      '12026-01-01',
      '1769846400'
    ]) {
      expect(violation('madeAt', 'is', value), value).to.equal('filter.value.invalid filters[madeAt].value')
    }
  })

  it('takes a GUID in any case, with hyphens', () => {
    expect(one('code', 'eq', '6F9619FF-8B86-D011-B42D-00C04FC964FF')[1]).to.equal(
      '6f9619ff-8b86-d011-b42d-00c04fc964ff'
    )
    expect(violation('code', 'eq', '6f9619ff8b86d011b42d00c04fc964ff')).to.equal(
      'filter.value.invalid filters[code].value'
    )
  })

  it('splits lists on commas outside of quotes and trims the rest', () => {
    expect(one('title', 'in', ' a , b c,,"x, ""y"" " ,')).to.deep.equal(['in', 'a', 'b c', '', 'x, "y" ', ''])
    expect(one('title', 'in', '')).to.deep.equal(['in', ''])
    expect(one('title', 'in', '5" tube')).to.deep.equal(['in', '5" tube'])
    expect(one('id', 'between', ' 1 , "2" ')).to.deep.equal(['between', 1, 2])
    for (const value of ['1', '1,2,3', '1,x', '"1,2', '"1"2,3']) {
      expect(violation('id', 'between', value), value).to.match(/^filter\.value\.invalid filters\[id\]\.value/)
    }
    expect(violation('id', 'in', '1,,2')).to.equal('filter.value.invalid filters[id].value')
  })

  it('needs no value for emptiness, and takes a blank text as text', () => {
    expect(one('madeAt', 'is empty', 'anything')).to.deep.equal(['isEmpty'])
    expect(one('title', 'equals', '')).to.deep.equal(['equals', ''])
    expect(one('title', 'contains', ' %_\\ ')).to.deep.equal(['contains', ' %_\\ '])
  })

  it('reaches joined properties through their reference', () => {
    const [condition] = parse({ property: 'makername', operator: 'contains', value: 'x' })
    expect(condition?.path.through?.name).to.equal('maker')
    expect(condition?.path.column.name).to.equal('name')
  })

  it('tells a hidden column as little apart as an unknown one', () => {
    const detail = (property: string): string => errorOf(() => parse({ property, operator: 'eq', value: '' })).message
    expect(detail('secret').replaceAll('secret', 'absent')).to.equal(detail('absent'))
    expect(violationsOf(() => parse({ property: 'secret', operator: 'nope', value: '' }))).to.deep.equal([
      'filter.property.unknown filters[secret]'
    ])
  })

  it('stops at 50 conditions, 200 items and 4096 characters', () => {
    const filter = { property: 'title', operator: 'eq', value: 'x' }
    expect(parse(...Array.from({ length: 50 }, () => filter))).to.have.length(50)
    expect(violationsOf(() => parse(...Array.from({ length: 51 }, () => filter)))).to.deep.equal([
      'filter.too-many filters'
    ])
    expect(one('id', 'in', Array(200).fill('1').join())).to.have.length(201)
    expect(violation('id', 'in', Array(201).fill('1').join())).to.equal('filter.too-many filters[id].value')
    expect(one('title', 'eq', '😀'.repeat(4096))).to.have.length(2)
    expect(violation('title', 'eq', 'x'.repeat(4097))).to.equal('filter.too-many filters[title].value')
  })

  it('names every fault at once and echoes no long value', () => {
    const error = errorOf(() =>
      parse(
        { property: 'titel', operator: 'eq', value: '' },
        { property: 'id', operator: 'contains', value: '' },
        { property: 'id', operator: 'in', value: `1,x,${'9'.repeat(4000)}` }
      )
    )
    expect(error.violations.map(({ code }) => code)).to.deep.equal([
      'filter.property.unknown',
      'filter.operator.unsupported',
      'filter.value.invalid',
      'filter.value.invalid'
    ])
    expect(error.violations[0]?.detail).to.contain('Did you mean "title"?')
    for (const { detail } of error.violations) expect(detail.length, detail).to.be.below(300)
  })
})
