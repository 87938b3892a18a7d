import { createTable, type Migration } from 'uniform-rest'

// Tables of somebody else's naming, with a key of every kind and keys of several columns, in two databases.

export const ROOMS = ['north', 'South', 'a,b/c%'] as const

export const GRADES = ['never given', 'low', 'High'] as const

export const createTables: Migration = {
  name: '001-tables',
  steps: [
    createTable('Land', (t) => ({
      columns: [t.varchar('Land Code', 500).primaryKey(), t.varchar('LandName', 60), t.rowVersion('Stand')],
      indexes: [t.sorted('LandName')]
    })),
    createTable('holidays', (t) => ({
      columns: [t.date('on_day').primaryKey(), t.varchar('name', 60), t.rowVersion()],
      indexes: [t.sorted('name')]
    })),
    createTable('grades', (t) => ({
      columns: [t.enum('code', GRADES).primaryKey(), t.varchar('note', 60), t.rowVersion()]
    })),
    createTable('tickets', (t) => ({
      columns: [
        t.bigint('serial').unsigned().primaryKey(),
        t.date('day').nullable(),
        t.enum('grade', GRADES),
        t.varchar('note', 60),
        t.rowVersion()
      ],
      indexes: [t.index('day'), t.index('grade'), t.sorted('note')],
      foreignKeys: [
        { column: 'day', references: 'holidays.on_day', onDelete: 'restrict' },
        { column: 'grade', references: 'grades.code', onDelete: 'restrict' }
      ]
    })),
    createTable('Regal', (t) => ({
      columns: [
        t.enum('Raum', ROOMS),
        t.varchar('Land', 500),
        t.smallint('Nr'),
        t.date('Tag'),
        t.varchar('Titel', 60),
        t.int('Stücke'),
        t.rowVersion('Stand')
      ],
      primaryKey: ['Land', 'Raum', 'Nr', 'Tag'],
      indexes: [t.sorted('Titel'), t.sorted('Nr')],
      foreignKeys: [{ column: 'Land', references: 'Land.Land Code', onDelete: 'restrict' }]
    })),
    createTable('Prüfung', (t) => ({
      columns: [
        t.enum('Raum', ROOMS),
        t.varchar('Land', 500),
        t.smallint('Regal Nr'),
        t.date('Regal Tag'),
        t.int('Lauf'),
        t.varchar('Bemerkung', 100),
        t.rowVersion('Stand')
      ],
      primaryKey: ['Land', 'Raum', 'Regal Nr', 'Regal Tag', 'Lauf'],
      foreignKeys: [
        {
          columns: ['Land', 'Raum', 'Regal Nr', 'Regal Tag'],
          references: ['Regal.Land', 'Regal.Raum', 'Regal.Nr', 'Regal.Tag'],
          onDelete: 'cascade'
        }
      ]
    })),
    createTable('placements', (t) => ({
      columns: [
        t.guid('copy'),
        t.bigint('serial').unsigned(),
        t.varchar('shelf_land', 500).nullable(),
        t.enum('shelf_room', ROOMS).nullable(),
        t.smallint('shelf_number').nullable(),
        t.date('shelf_day').nullable(),
        t.varchar('remark', 60),
        t.rowVersion()
      ],
      primaryKey: ['copy', 'serial'],
      indexes: [t.index('serial'), t.index('serial desc'), t.index('copy desc'), t.sorted('remark')],
      foreignKeys: [
        { column: 'serial', references: 'tickets.serial', onDelete: 'restrict' },
        {
          columns: ['shelf_land', 'shelf_room', 'shelf_number', 'shelf_day'],
          references: ['Regal.Land', 'Regal.Raum', 'Regal.Nr', 'Regal.Tag'],
          onDelete: 'restrict'
        }
      ]
    })),
    createTable('devices', (t) => ({
      columns: [
        t.binary('id', 16).primaryKey(),
        t.binary('parent_id', 16).nullable(),
        t.varbinary('serial', 40),
        t.varchar('name', 60),
        t.rowVersion()
      ],
      indexes: [t.index('parent_id'), t.unique('serial')],
      foreignKeys: [{ column: 'parent_id', references: 'devices.id', onDelete: 'restrict' }]
    })),
    createTable('signals', (t) => ({
      columns: [t.binary('device_id', 16), t.int('number'), t.int('strength'), t.rowVersion()],
      primaryKey: ['device_id', 'number'],
      indexes: [t.index('number')],
      foreignKeys: [{ column: 'device_id', references: 'devices.id', onDelete: 'restrict' }]
    })),
    createTable('deliveries', (t) => ({
      columns: [t.int('id').autoIncrement(), t.text('row_id', 100_000), t.varchar('resource', 60), t.rowVersion()]
    }))
  ]
}

export const createSecondTables: Migration = {
  name: '001-second-tables',
  steps: [
    createTable('Regal Notiz', (t) => ({
      columns: [
        t.varchar('Land', 500),
        t.enum('Raum', ROOMS),
        t.smallint('Nr'),
        t.date('Tag'),
        t.int('Zeile'),
        t.varchar('Text', 100),
        t.rowVersion('Stand')
      ],
      primaryKey: ['Land', 'Raum', 'Nr', 'Tag', 'Zeile']
    })),
    createTable('Land Notiz', (t) => ({
      columns: [t.guid('Kennung').primaryKey(), t.varchar('Land Code', 500), t.varchar('Text', 100)],
      indexes: [t.index('Land Code')]
    }))
  ]
}
