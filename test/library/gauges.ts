import {
  column,
  createTable,
  dateTime,
  defineEntity,
  everyone,
  filledByDatabase,
  generated,
  hidden,
  int,
  json,
  long,
  longText,
  type Migration,
  onCreate,
  optional,
  permission,
  readOnly,
  sql,
  text,
  unique
} from 'uniform-rest'

// What the database fills: defaults, computed columns, a timestamp that it keeps. And a view, whose rows are only read.

/** Each gauge is there twice, so that nothing tells two rows apart. */
const READINGS = 'SELECT place, reading, note, unit FROM gauges'

const NOW_ON_SQLITE = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

export const createGauges: Migration = {
  name: '113-gauges',
  steps: [
    sql(
      {
        mysql: [
          'CREATE TABLE IF NOT EXISTS gauges (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
            'serial VARCHAR(40) COLLATE utf8mb4_bin NOT NULL UNIQUE, reading INT NOT NULL DEFAULT 7, ' +
            "unit VARCHAR(20) COLLATE utf8mb4_bin NOT NULL DEFAULT (CONCAT('kwh', '$x')), " +
            "note VARCHAR(50) COLLATE utf8mb4_bin NULL DEFAULT 'new', place VARCHAR(50) COLLATE utf8mb4_bin NOT NULL, " +
            'doubled BIGINT GENERATED ALWAYS AS (reading * 2) VIRTUAL, next_reading INT GENERATED ALWAYS AS (reading + 1) STORED, ' +
            'installed_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), ' +
            'changed_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), ' +
            "row_version BINARY(8) NOT NULL DEFAULT x'0000000000000000', INDEX (place), " +
            'INDEX (next_reading)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4',
          'CREATE TABLE IF NOT EXISTS gauge_parts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, gauge_id INT NOT NULL, ' +
            "name VARCHAR(40) COLLATE utf8mb4_bin NOT NULL, colour VARCHAR(20) COLLATE utf8mb4_bin NOT NULL DEFAULT 'grey', " +
            'size INT NOT NULL DEFAULT 3, row_version BINARY(8) NOT NULL, INDEX (gauge_id), ' +
            'FOREIGN KEY (gauge_id) REFERENCES gauges (id) ON DELETE CASCADE) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4',
          'CREATE OR REPLACE VIEW gauge_totals AS SELECT m.id, m.serial, m.reading AS total, ' +
            '(SELECT COUNT(*) FROM gauge_parts p WHERE p.gauge_id = m.id) AS parts FROM gauges m',
          `CREATE OR REPLACE VIEW gauge_readings AS ${READINGS} UNION ALL ${READINGS}`,
          // Three columns for each of which a sort would take 64 KiB a row.
          `CREATE OR REPLACE VIEW gauge_logs AS SELECT place, ${['place', 'place', 'reading']
            .map((one, at) => `CASE WHEN reading < 0 THEN REPEAT('x', 20000) ELSE ${one} END AS log${at}`)
            .join(', ')}, JSON_OBJECT('n', reading) AS payload FROM gauges`
        ],
        sqlite: [
          'CREATE TABLE IF NOT EXISTS gauges (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, serial TEXT NOT NULL UNIQUE, ' +
            "reading INTEGER NOT NULL DEFAULT 7, unit TEXT NOT NULL DEFAULT ('kwh' || '$x'), note TEXT DEFAULT 'new', " +
            'place TEXT NOT NULL, doubled INTEGER GENERATED ALWAYS AS (reading * 2) VIRTUAL, ' +
            'next_reading INTEGER GENERATED ALWAYS AS (reading + 1) STORED, ' +
            `installed_at TEXT NOT NULL DEFAULT (${NOW_ON_SQLITE}), changed_at TEXT NOT NULL DEFAULT (${NOW_ON_SQLITE}), ` +
            "row_version BLOB NOT NULL DEFAULT x'0000000000000000') STRICT",
          'CREATE INDEX gauges_place ON gauges (sort_key(`place`), id)',
          'CREATE INDEX gauges_next ON gauges (next_reading, id)',
          'CREATE TRIGGER gauges_changed AFTER UPDATE ON gauges BEGIN ' +
            `UPDATE gauges SET changed_at = ${NOW_ON_SQLITE} WHERE id = NEW.id; END`,
          'CREATE TABLE IF NOT EXISTS gauge_parts (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ' +
            'gauge_id INTEGER NOT NULL REFERENCES gauges (id) ON DELETE CASCADE, name TEXT NOT NULL, ' +
            "colour TEXT NOT NULL DEFAULT 'grey', size INTEGER NOT NULL DEFAULT 3, row_version BLOB NOT NULL) STRICT",
          'CREATE INDEX gauge_parts_gauge_id ON gauge_parts (gauge_id)',
          'CREATE VIEW gauge_totals AS SELECT m.id, m.serial, m.reading AS total, ' +
            '(SELECT COUNT(*) FROM gauge_parts p WHERE p.gauge_id = m.id) AS parts FROM gauges m',
          `CREATE VIEW gauge_readings AS ${READINGS} UNION ALL ${READINGS}`,
          'CREATE VIEW gauge_logs AS SELECT place, place AS log0, place AS log1, CAST(reading AS TEXT) AS log2, ' +
            "json_object('n', reading) AS payload FROM gauges"
        ]
      },
      [
        createTable('gauges', (t) => ({
          columns: [
            t.int('id').autoIncrement(),
            t.varchar('serial', 40),
            t.int('reading').default(7),
            t.varchar('unit', 20),
            t.varchar('note', 50).nullable(),
            t.varchar('place', 50),
            t.bigint('doubled').nullable(),
            t.int('next_reading').nullable(),
            t.datetime('installed_at'),
            t.datetime('changed_at'),
            t.rowVersion()
          ],
          indexes: [t.unique('serial'), t.sorted('place'), t.sorted('next_reading')]
        })),
        createTable('gauge_parts', (t) => ({
          columns: [
            t.int('id').autoIncrement(),
            t.int('gauge_id'),
            t.varchar('name', 40),
            t.varchar('colour', 20),
            t.int('size').default(3),
            t.rowVersion()
          ],
          indexes: [t.index('gauge_id')],
          foreignKeys: [{ column: 'gauge_id', references: 'gauges.id', onDelete: 'cascade' }]
        })),
        createTable('gauge_totals', (t) => ({
          columns: [t.int('id').primaryKey(), t.varchar('serial', 40), t.int('total'), t.bigint('parts')]
        })),
        createTable('gauge_readings', (t) => ({
          columns: [t.varchar('place', 50), t.int('reading'), t.varchar('note', 50).nullable(), t.varchar('unit', 20)],
          primaryKey: 'none',
          indexes: [t.sorted('reading')]
        })),
        createTable('gauge_logs', (t) => ({
          columns: [
            t.varchar('place', 50),
            t.text('log0', 65_535),
            t.text('log1', 65_535),
            t.text('log2', 65_535),
            t.json('payload')
          ],
          primaryKey: 'none'
        }))
      ]
    )
  ]
}

export const gauges = defineEntity({
  name: 'gauges',
  description: 'Gauges, of which the database knows more than anybody says.',
  fields: {
    id: readOnly(int()),
    serial: unique(text(40)),
    reading: filledByDatabase(int({ min: 0, max: 1_000_000 })),
    unit: filledByDatabase(text(20)),
    note: filledByDatabase(optional(text(50))),
    place: text(50),
    doubled: generated(optional(long())),
    next: generated(optional(column('next_reading', int()))),
    installedAt: filledByDatabase(onCreate(dateTime())),
    changedAt: generated(dateTime())
  },
  history: true,
  label: 'serial',
  filterable: ['id', 'serial', 'reading', 'unit', 'doubled', 'next', 'installedAt', 'changedAt'],
  sortable: ['id', 'place', 'next'],
  children: {
    parts: {
      table: 'gauge_parts',
      foreignKey: 'gaugeId',
      fields: {
        id: readOnly(int()),
        name: text(40),
        colour: filledByDatabase(text(20)),
        size: filledByDatabase(readOnly(int()))
      }
    }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { children: { parts: { min: 0 } } },
  actions: (action) => ({
    read: action({
      description: 'Notes what the gauge shows.',
      input: { reading: int({ min: 0, max: 1_000_000 }) },
      effect: ({ input: { reading } }) => ({ set: { reading } })
    })
  })
})

/** The same rows in a view. */
export const gaugeTotals = defineEntity({
  name: 'gauge-totals',
  table: 'gauge_totals',
  description: 'What gauges show, with the number of their parts.',
  rowVersion: 'none',
  fields: { id: readOnly(int()), serial: text(40), total: int(), parts: long() },
  label: 'serial',
  filterable: ['id', 'serial', 'total', 'parts'],
  sortable: ['id', 'serial', 'total'],
  access: { read: everyone }
})

/** Rows that nothing tells apart. */
export const gaugeReadings = defineEntity({
  name: 'gauge-readings',
  table: 'gauge_readings',
  description: 'What gauges show, twice.',
  key: 'none',
  fields: { place: text(50), reading: int(), note: optional(text(50)), unit: hidden(text(20)) },
  filterable: ['place', 'reading', 'note'],
  sortable: ['reading'],
  searchable: ['place'],
  totals: { dimensions: ['place'], measures: { count: true, sum: ['reading'] } },
  access: { read: everyone }
})

/** Rows that a server cannot sort by all their texts as they are. */
export const gaugeLogs = defineEntity({
  name: 'gauge-logs',
  table: 'gauge_logs',
  description: 'What gauges show, at length.',
  key: 'none',
  fields: { place: text(50), log0: longText(), log1: longText(), log2: longText(), payload: json() },
  filterable: ['place'],
  sortable: ['place'],
  access: { read: everyone }
})
