import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Value } from '../../../data-service/entity/fields/field.js'
import { float, int, onCreate, readOnly } from '../../../data-service/entity/fields/words.js'
import { type WriteDeps, WriteSteps } from '../../../data-service/operations/writes/write-steps.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { allRows, type CountOutsidePlan, type RowScope } from '../../../data-service/plan/model/plans.js'
import type { UnitOfWork } from '../../../data-service/plan/model/stores.js'
import { scopeOf } from '../../../data-service/plan/row-scopes.js'
import { failure } from '../sql/write/failure.js'
import { writeScope } from '../sql/write/write-plan-by-hand.js'

const access = { read: everyone, write: permission('parts:manage') }
const listed = { description: 'x', filterable: [], sortable: [], label: 'id' } as const
const parts = defineEntity({
  ...listed,
  name: 'parts',
  fields: { id: readOnly(int()), crateId: int(), area: onCreate(int()), price: onCreate(float()) },
  access,
  writes: ['create']
})
const crates = defineEntity({
  ...listed,
  name: 'crates',
  fields: { id: onCreate(int()) },
  children: { parts: { entity: parts, foreignKey: 'crateId' } },
  access,
  writes: ['create'],
  creates: { children: { parts: { min: 0 } } }
})
const catalogue = makeCatalogue([crates, parts])

/** Inserts a crate with parts. Answers the rows that were inserted, and the counts that were asked for. */
async function insert(scope: RowScope, rows: readonly Readonly<Record<string, Value>>[], outside = 0) {
  const asked: string[] = []
  const unit: Pick<UnitOfWork, 'insert' | 'countOutside'> = {
    insert: async () => {
      asked.push('insert')
      return [7]
    },
    countOutside: async ({ entity, foreignKey, key }: CountOutsidePlan) => {
      asked.push(`count of ${entity.name} by ${foreignKey.map(({ name }) => name).join()} ${key.join()}`)
      return outside
    }
  }
  const deps = { planning: { catalogue }, randomBytes: (size: number) => Buffer.alloc(size, 1), now: () => 0 }
  const steps = new WriteSteps(unit as UnitOfWork, deps as unknown as WriteDeps, {
    caller: {
      kind: 'authenticated',
      issuer: 'x',
      subject: 'x',
      roles: [],
      permissions: new Set(),
      owner: null,
      claims: {}
    },
    requestId: 'x'
  })
  const valuesOf = (of: typeof crates | typeof parts, named: Readonly<Record<string, Value>>) =>
    new Map(of.columns.flatMap((one) => (one.name in named ? [[one, named[one.name] ?? null] as const] : [])))
  const [collection] = crates.children
  if (collection === undefined) throw new Error('no parts')
  const made = steps.insertRow(crates, {
    scope: writeScope(allRows),
    values: valuesOf(crates, { id: 7 }),
    children: [{ children: collection, scope: writeScope(scope), rows: rows.map((row) => valuesOf(parts, row)) }]
  })
  const failed = await failure(made).catch(() => undefined)
  return { asked, failed }
}

const where = (property: string, operator: string, operand: unknown): RowScope =>
  scopeOf({ property, operator, operands: [operand] }, parts)

const ROWS = [
  { area: 1, price: 9 },
  { area: 1, price: 900 }
]

describe('the check of rows that a create brings along', () => {
  it('It costs no statement where their values tell that they are inside.', async () => {
    for (const scope of [allRows, where('area', 'equals', 1), where('crateId', 'equals', 7)]) {
      expect((await insert(scope, ROWS)).asked).to.deep.equal(['insert'])
    }
    expect((await insert(where('price', 'less than', 100), [])).asked, 'no rows').to.deep.equal(['insert'])
  })

  it('It costs one statement where the database has to tell it of any of them.', async () => {
    const { asked, failed } = await insert(where('price', 'less than', 1000), ROWS)
    expect(asked).to.deep.equal(['insert', 'count of parts by crateId 7'])
    expect(failed).to.equal(undefined)
    const refused = await insert(where('price', 'less than', 100), ROWS, 1)
    expect(refused.failed).to.include({ code: 'ownership.denied' })
  })

  it('Nothing is inserted where the values tell that one of them is outside.', async () => {
    for (const scope of [where('area', 'equals', 2), where('crateId', 'equals', 8)]) {
      const { asked, failed } = await insert(scope, ROWS)
      expect(asked).to.deep.equal([])
      expect(failed).to.include({ code: 'ownership.denied' })
    }
  })
})
