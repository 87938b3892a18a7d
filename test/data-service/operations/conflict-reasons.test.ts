import { expect } from 'chai'
import { anonymous, type Caller } from '../../../data-service/entity/caller.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { KeyConflict } from '../../../data-service/plan/model/key-conflict.js'
import { guardConflicts } from '../../../data-service/operations/writes/rejections.js'
import { entities } from '../../../examples/store/entities/index.js'
import { DomainError } from '../../../shared/errors.js'
import { failure } from '../sql/write/failure.js'

const catalogue = makeCatalogue(entities)

/** The reason that the caller of a write learns of a conflict in this column. */
async function reasonOf(table: string, property: string, caller: Caller, written = 'products'): Promise<unknown> {
  const entity = catalogue.entity(written)
  const tables = [entity, ...entity.children, catalogue.entity('customers')]
  const column = tables.find((one) => one.table === table)?.columns.find(({ name }) => name === property)
  if (column === undefined) throw new Error(`${table} have no ${property}`)
  const conflict = new KeyConflict('unique', { table, column }, { reason: 'key', cause: new Error('of the database') })
  const write = { guarded: true, resource: catalogue.resource(written, caller) }
  const error = await failure(guardConflicts(write, Promise.reject(conflict)))
  return error instanceof DomainError ? error.conflict : undefined
}

describe('the property in the reason of a conflict', () => {
  it('is named where the caller may read it, of children too', async () => {
    expect(await reasonOf('products', 'sku', anonymous)).to.deep.equal({ kind: 'unique', property: 'sku' })
    expect(await reasonOf('product_variants', 'sku', anonymous)).to.deep.equal({ kind: 'unique', property: 'sku' })
  })

  it('is not named where the caller may not read it, and of another resource', async () => {
    expect(await reasonOf('products', 'costPrice', anonymous)).to.deep.equal({ kind: 'unique' })
    expect(await reasonOf('customers', 'email', anonymous)).to.deep.equal({ kind: 'unique' })
  })

  it('is named of children to those alone who may read that column of theirs', async () => {
    const clerk: Caller = {
      kind: 'authenticated',
      issuer: 'i',
      subject: 's',
      roles: [],
      permissions: new Set(),
      owner: null,
      claims: {}
    }
    const manager = { ...clerk, permissions: new Set(['orders:manage']) }
    expect(await reasonOf('order_lines', 'unitCost', clerk, 'orders')).to.deep.equal({ kind: 'unique' })
    expect(await reasonOf('order_lines', 'unitCost', manager, 'orders')).to.deep.equal({
      kind: 'unique',
      property: 'unitCost'
    })
  })
})
