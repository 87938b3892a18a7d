import { expect } from 'chai'
import { everyone } from '../../../../data-service/entity/access.js'
import { defineEntity } from '../../../../data-service/entity/define-entity.js'
import { column, int, optional, readOnly, text } from '../../../../data-service/entity/field.js'
import { checkSchema } from '../../../../data-service/sql/schema/check-schema.js'
import { entities } from '../../../harness/own-tables.js'
import { eachDatabase } from '../../../harness/database.js'
import { type FreshStores, freshStores } from './fresh-stores.js'

const unmigrated = defineEntity({
  name: 'gift-cards',
  description: 'Has no table.',
  fields: { id: readOnly(int()), code: text(64) },
  label: 'code',
  filterable: ['code'],
  sortable: ['code'],
  access: { read: everyone }
})

eachDatabase((kind) => {
  describe(`schema check on ${kind}`, () => {
    let stores: FreshStores
    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    const drop = (index: string, table: string): Promise<unknown> =>
      stores.primary.query(kind === 'sqlite' ? `DROP INDEX ${index}` : `DROP INDEX ${index} ON ${table}`)

    const message = async (store: 'primary' | 'second'): Promise<string> => {
      try {
        await checkSchema(stores.databases[store], { store, setting: 'DATABASE_URL' }, [...entities, unmigrated])
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
      return 'no mistakes'
    }

    it('names columns as the database does, and the tables at the ends of paths', async () => {
      const renamed = defineEntity({
        name: 'nicknames',
        table: 'products',
        description: 'Columns of other names.',
        fields: { id: readOnly(int()), nick: column('nick_name', text(20)), categoryId: int() },
        label: 'nick',
        filterable: [],
        sortable: ['nick', 'slug'],
        references: { category: { to: 'categories', via: 'categoryId' } },
        joined: { slug: { through: ['category', 'parent'], property: 'slug', field: optional(text(64)) } },
        access: { read: everyone }
      })
      const database = stores.databases.primary
      const found = await checkSchema(database, { store: 'primary', setting: 'DATABASE_URL' }, [
        ...entities,
        renamed
      ]).catch((error: unknown) => String(error))
      expect(String(found).split('\n')).to.include.members([
        '- nicknames: the table products has no column nick_name; a new migration must add it',
        '- nicknames: the sortable nick has no index (products.nick_name ASC, id); a new migration must add it'
      ])
      expect(String(found), 'categories.slug has its indexes').to.not.include('sortable slug')
    })

    it('names every mistake at once', async () => {
      await drop('products_name', 'products')
      await drop('products_price_desc', 'products')
      await drop('categories_name', 'categories')
      await stores.primary.query('ALTER TABLE customers DROP COLUMN risk_note')
      await stores.primary.query('DROP TABLE order_lines')
      expect((await message('primary')).split('\n').toSorted()).to.deep.equal([
        '- categories: the sortable name has no index (categories.name ASC, id); a new migration must add it',
        '- categories: the sortable parentName has no index (categories.name ASC, id); a new migration must add it',
        '- customers: the table customers has no column risk_note; a new migration must add it',
        '- gift-cards: there is no table gift_cards; a new migration must create it',
        '- orders.lines: there is no table order_lines; a new migration must create it',
        '- products: the sortable name has no index (products.name ASC, id); a new migration must add it',
        '- products: the sortable price has no index (products.price DESC, id); a new migration must add it',
        '7 mistakes in the tables of DATABASE_URL.',
        'Mend this in a new migration, which `uniform-rest migrate create <name>` writes: one that ran is not run again. On a throw-away database delete DATA_DIR instead.'
      ])
    })

    it('looks at each store by itself', async () => {
      expect(await message('second')).to.equal('no mistakes')
      await stores.second.query(
        kind === 'sqlite'
          ? 'DROP INDEX product_reviews_product_id'
          : 'DROP INDEX product_reviews_product_id ON product_reviews'
      )
      expect(await message('second')).to.match(/products\.reviews: no index leads with product_reviews\.product_id/)
    })
  })
})
