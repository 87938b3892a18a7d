import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import { entities } from '../harness/own-tables.js'
import { eachDatabase } from '../harness/database.js'
import { type FreshStores, freshStores } from './fresh-stores.js'

eachDatabase((kind) => {
  describe(`sorted reads on ${kind}`, () => {
    let stores: FreshStores
    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    for (const entity of entities) {
      for (const { name, column, field } of entity.columns.filter((one) => entity.sortable.has(one.name))) {
        for (const direction of ['ASC', 'DESC']) {
          it(`${entity.name} by ${name} ${direction} need no sorting`, async () => {
            const key = kind === 'sqlite' && ['string', 'enum'].includes(field.type) ? `sort_key(${column})` : column
            const tieBreak = name === 'id' ? '' : `, id ${direction}`
            const index = name === 'id' ? 'PRIMARY' : `${entity.table}_${column}`
            // On so few rows the optimizer would rather sort: the question is whether the index can do without.
            const forced = kind === 'sqlite' ? '' : `FORCE INDEX (${index})`
            const explain = kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
            const plan = await stores.primary.query(
              `${explain} SELECT * FROM ${entity.table} ${forced} ORDER BY ${key} ${direction}${tieBreak} LIMIT 10`,
              { type: QueryTypes.SELECT }
            )
            expect(plan).to.have.lengthOf(1)
            expect(JSON.stringify(plan)).to.not.match(/filesort|TEMP B-TREE/)
          })
        }
      }
    }
  })
})
