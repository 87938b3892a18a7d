import { addForeignKeys, createTable, type Migration } from 'uniform-rest'

export const migration: Migration = {
  name: '001-baseline',
  baseline: true,
  steps: [
    createTable('actor', (t) => ({
      columns: [
        t.smallint('actor_id').unsigned().autoIncrement(),
        t.varchar('first_name', 45),
        t.varchar('last_name', 45),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.index('last_name')]
    })),
    createTable('actor_info', (t) => ({
      columns: [
        t.smallint('actor_id').unsigned().primaryKey(),
        t.varchar('first_name', 45),
        t.varchar('last_name', 45),
        t.text('film_info', 16777215).nullable()
      ]
    })),
    createTable('country', (t) => ({
      columns: [
        t.smallint('country_id').unsigned().autoIncrement(),
        t.varchar('country', 50),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ]
    })),
    createTable('city', (t) => ({
      columns: [
        t.smallint('city_id').unsigned().autoIncrement(),
        t.varchar('city', 50),
        t.smallint('country_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.index('country_id')],
      foreignKeys: [{ column: 'country_id', references: 'country.country_id', onDelete: 'restrict' }]
    })),
    createTable('address', (t) => ({
      columns: [
        t.smallint('address_id').unsigned().autoIncrement(),
        t.varchar('address', 50),
        t.varchar('address2', 50).nullable(),
        t.varchar('district', 20),
        t.smallint('city_id').unsigned(),
        t.varchar('postal_code', 10).nullable(),
        t.varchar('phone', 20),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.index('city_id')],
      foreignKeys: [{ column: 'city_id', references: 'city.city_id', onDelete: 'restrict' }]
    })),
    createTable('category', (t) => ({
      columns: [
        t.tinyint('category_id').unsigned().autoIncrement(),
        t.varchar('name', 25),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ]
    })),
    createTable('staff', (t) => ({
      columns: [
        t.tinyint('staff_id').unsigned().autoIncrement(),
        t.varchar('first_name', 45),
        t.varchar('last_name', 45),
        t.smallint('address_id').unsigned(),
        t.varbinary('picture', 65535).nullable(),
        t.varchar('email', 50).nullable(),
        t.tinyint('store_id').unsigned(),
        t.boolean('active'),
        t.varchar('username', 16),
        t.varchar('password', 40).nullable(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.index('address_id'), t.index('store_id')],
      foreignKeys: [{ column: 'address_id', references: 'address.address_id', onDelete: 'restrict' }]
    })),
    createTable('store', (t) => ({
      columns: [
        t.tinyint('store_id').unsigned().autoIncrement(),
        t.tinyint('manager_staff_id').unsigned(),
        t.smallint('address_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.unique('manager_staff_id'), t.index('manager_staff_id'), t.index('address_id')],
      foreignKeys: [
        { column: 'address_id', references: 'address.address_id', onDelete: 'restrict' },
        { column: 'manager_staff_id', references: 'staff.staff_id', onDelete: 'restrict' }
      ]
    })),
    createTable('customer', (t) => ({
      columns: [
        t.smallint('customer_id').unsigned().autoIncrement(),
        t.tinyint('store_id').unsigned(),
        t.varchar('first_name', 45),
        t.varchar('last_name', 45),
        t.varchar('email', 50).nullable(),
        t.smallint('address_id').unsigned(),
        t.boolean('active'),
        t.datetime('create_date', 0),
        t.datetime('last_update', 0).nullable(),
        t.rowVersion()
      ],
      indexes: [t.index('store_id'), t.index('last_name'), t.index('address_id')],
      foreignKeys: [
        { column: 'address_id', references: 'address.address_id', onDelete: 'restrict' },
        { column: 'store_id', references: 'store.store_id', onDelete: 'restrict' }
      ]
    })),
    createTable('customer_list', (t) => ({
      columns: [
        t.smallint('ID').unsigned().primaryKey(),
        t.varchar('name', 91).nullable(),
        t.varchar('address', 50),
        t.varchar('zip code', 10).nullable(),
        t.varchar('phone', 20),
        t.varchar('city', 50),
        t.varchar('country', 50),
        t.varchar('notes', 6),
        t.tinyint('SID').unsigned()
      ]
    })),
    createTable('language', (t) => ({
      columns: [
        t.tinyint('language_id').unsigned().autoIncrement(),
        t.varchar('name', 20),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ]
    })),
    createTable('film', (t) => ({
      columns: [
        t.smallint('film_id').unsigned().autoIncrement(),
        t.varchar('title', 128),
        t.text('description', 65535).nullable(),
        t.year('release_year').nullable(),
        t.tinyint('language_id').unsigned(),
        t.tinyint('original_language_id').unsigned().nullable(),
        t.tinyint('rental_duration').unsigned(),
        t.decimal('rental_rate', 4, 2),
        t.smallint('length').unsigned().nullable(),
        t.decimal('replacement_cost', 5, 2),
        t.enum('rating', ['G', 'PG', 'PG-13', 'R', 'NC-17']).nullable(),
        t.set('special_features', ['Trailers', 'Commentaries', 'Deleted Scenes', 'Behind the Scenes']).nullable(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z'),
        t.rowVersion()
      ],
      indexes: [t.index('title'), t.index('language_id'), t.index('original_language_id')],
      foreignKeys: [
        { column: 'language_id', references: 'language.language_id', onDelete: 'restrict' },
        { column: 'original_language_id', references: 'language.language_id', onDelete: 'restrict' }
      ]
    })),
    createTable('film_actor', (t) => ({
      columns: [
        t.smallint('actor_id').unsigned(),
        t.smallint('film_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z'),
        t.rowVersion()
      ],
      primaryKey: ['actor_id', 'film_id'],
      indexes: [t.index('film_id')],
      foreignKeys: [
        { column: 'actor_id', references: 'actor.actor_id', onDelete: 'restrict' },
        { column: 'film_id', references: 'film.film_id', onDelete: 'restrict' }
      ]
    })),
    createTable('film_category', (t) => ({
      columns: [
        t.smallint('film_id').unsigned(),
        t.tinyint('category_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      primaryKey: ['film_id', 'category_id'],
      indexes: [t.index('category_id')],
      foreignKeys: [
        { column: 'category_id', references: 'category.category_id', onDelete: 'restrict' },
        { column: 'film_id', references: 'film.film_id', onDelete: 'restrict' }
      ]
    })),
    createTable('film_list', (t) => ({
      columns: [
        t.smallint('FID').unsigned().primaryKey(),
        t.varchar('title', 128),
        t.text('description', 65535).nullable(),
        t.varchar('category', 25).nullable(),
        t.decimal('price', 4, 2),
        t.smallint('length').unsigned().nullable(),
        t.enum('rating', ['G', 'PG', 'PG-13', 'R', 'NC-17']).nullable(),
        t.text('actors', 16777215).nullable()
      ]
    })),
    createTable('inventory', (t) => ({
      columns: [
        t.mediumint('inventory_id').unsigned().autoIncrement(),
        t.smallint('film_id').unsigned(),
        t.tinyint('store_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z')
      ],
      indexes: [t.index('film_id'), t.index('store_id')],
      foreignKeys: [
        { column: 'film_id', references: 'film.film_id', onDelete: 'restrict' },
        { column: 'store_id', references: 'store.store_id', onDelete: 'restrict' }
      ]
    })),
    createTable('rental', (t) => ({
      columns: [
        t.int('rental_id').autoIncrement(),
        t.datetime('rental_date', 0),
        t.mediumint('inventory_id').unsigned(),
        t.smallint('customer_id').unsigned(),
        t.datetime('return_date', 0).nullable(),
        t.tinyint('staff_id').unsigned(),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z'),
        t.rowVersion()
      ],
      indexes: [t.index('rental_date'), t.index('inventory_id'), t.index('customer_id'), t.index('staff_id')],
      foreignKeys: [
        { column: 'customer_id', references: 'customer.customer_id', onDelete: 'restrict' },
        { column: 'inventory_id', references: 'inventory.inventory_id', onDelete: 'restrict' },
        { column: 'staff_id', references: 'staff.staff_id', onDelete: 'restrict' }
      ]
    })),
    createTable('payment', (t) => ({
      columns: [
        t.smallint('payment_id').unsigned().autoIncrement(),
        t.smallint('customer_id').unsigned(),
        t.tinyint('staff_id').unsigned(),
        t.int('rental_id').nullable(),
        t.decimal('amount', 5, 2),
        t.datetime('payment_date', 0),
        t.datetime('last_update', 0).nullable()
      ],
      indexes: [t.index('customer_id'), t.index('staff_id'), t.index('rental_id')],
      foreignKeys: [
        { column: 'customer_id', references: 'customer.customer_id', onDelete: 'restrict' },
        { column: 'rental_id', references: 'rental.rental_id', onDelete: 'restrict' },
        { column: 'staff_id', references: 'staff.staff_id', onDelete: 'restrict' }
      ]
    })),
    createTable('rental_event', (t) => ({
      columns: [
        t.bigint('rental_event_id').unsigned().autoIncrement(),
        t.int('rental_id'),
        t.enum('kind', ['reserved', 'picked up', 'reminded', 'returned', 'damaged']),
        t.datetime('happened_at', 6),
        t.json('detail').nullable(),
        t.rowVersion()
      ],
      indexes: [t.index('rental_id')],
      foreignKeys: [{ column: 'rental_id', references: 'rental.rental_id', onDelete: 'restrict' }]
    })),
    createTable('sales_by_film_category', (t) => ({
      columns: [t.varchar('category', 25).primaryKey(), t.decimal('total_sales', 27, 2).nullable()]
    })),
    createTable('sales_by_store', (t) => ({
      columns: [
        t.varchar('store', 101).primaryKey(),
        t.varchar('manager', 91).nullable(),
        t.decimal('total_sales', 27, 2).nullable()
      ]
    })),
    createTable('staff_list', (t) => ({
      columns: [
        t.tinyint('ID').unsigned().primaryKey(),
        t.varchar('name', 91).nullable(),
        t.varchar('address', 50),
        t.varchar('zip code', 10).nullable(),
        t.varchar('phone', 20),
        t.varchar('city', 50),
        t.varchar('country', 50),
        t.tinyint('SID').unsigned()
      ]
    })),
    createTable('store_day', (t) => ({
      columns: [
        t.tinyint('store_id').unsigned(),
        t.date('business_date'),
        t.time('opened_at'),
        t.time('closed_at').nullable(),
        t.decimal('cash', 8, 2),
        t.varchar('remarks', 200).nullable(),
        t.rowVersion()
      ],
      primaryKey: ['store_id', 'business_date'],
      foreignKeys: [{ column: 'store_id', references: 'store.store_id', onDelete: 'restrict' }]
    })),
    createTable('voucher', (t) => ({
      columns: [
        t.varchar('code', 12).primaryKey(),
        t.smallint('customer_id').unsigned().nullable(),
        t.decimal('amount', 5, 2),
        t.date('valid_from'),
        t.date('valid_until').nullable(),
        t.boolean('is_redeemed'),
        t.datetime('last_update', 0).default('1970-01-01T00:00:00.000Z'),
        t.rowVersion()
      ],
      indexes: [t.index('customer_id')],
      foreignKeys: [{ column: 'customer_id', references: 'customer.customer_id', onDelete: 'restrict' }]
    })),
    addForeignKeys('staff', { column: 'store_id', references: 'store.store_id', onDelete: 'restrict' })
  ]
}
