import { expect } from 'chai'
import type { Caller } from '../../data-service/entity/caller.js'
import type { Column, Entity } from '../../data-service/entity/entity.js'
import { type Operator, OPERATORS, operatorsOf } from '../../data-service/entity/fields/operators.js'
import type { Value } from '../../data-service/entity/fields/field.js'
import { makeCatalogue, type Resource } from '../../data-service/plan/model/catalogue.js'
import { planPage } from '../../data-service/plan/plan-reads.js'
import { connect } from '../../data-service/sql/connect.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { Reader, ReaderSession } from '../../data-service/sql/engines/sessions.js'
import type { BoundValues, Statement } from '../../data-service/sql/engines/statement.js'
import { readTableFacts } from '../../schema/table-facts.js'
import { SqlReadStore } from '../../data-service/sql/entity-rows/reads.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { createLogger } from '../../shared/logger.js'
import { freshDatabase, type FreshDatabase } from '../harness/database.js'
import { entities, OWN } from '../harness/own-tables.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { schemaOf } from '../../schema/kinds/kinds.js'

// The database's own EXPLAIN of the statements that requests become. A declared sort, and an equality, range or prefix
// filter, has to be served by an index of the reference store: neither may read or sort the rows of a whole table.

const FREE_TEXT =
  'A text of up to 2000 characters, in which people look for words. An index that holds it whole is as large as the table.'

/** Filters and sorts that no index serves, each with the reason. Keep it short: the remedy is a migration. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'bookmarks filter note': FREE_TEXT,
  'products filter description': FREE_TEXT,
  'returns filter reason': FREE_TEXT,
  'speakers filter bio': FREE_TEXT,
  'categories sort parentName':
    'The order of one table by a column of another: an index holds columns of its own table.'
}

/** Enough that the optimizer prefers an index to the whole table. */
const ROWS = 3000
/** Rows that a statement may read to find the few that the filters of this test leave. */
const MANY = ROWS / 3
/** Rows that the foreign keys refer to. */
const REFERRED = 300

/** SQL of the value of a column in the row with the number `n`. All rows differ, but in flags and foreign keys. */
function valueOf({ field, name }: Column, { key, references }: Entity): string {
  const isKey = key.some((one) => one.name === name)
  const isReference = references.some(({ via }) => via.some((one) => one.name === name))
  const number = isReference && !field.unique ? `(1 + n % ${REFERRED})` : 'n'
  const value = ((): string => {
    switch (field.type) {
      case 'int':
      case 'long':
      case 'double':
        return number
      case 'bool':
        return 'n % 2'
      case 'decimal':
        return `n / 100`
      case 'string':
        return `CONCAT(CHAR(97 + n % 26), 'x', n)`
      case 'guid':
        return `CONCAT(LPAD(LOWER(HEX(${number})), 8, '0'), '-0000-4000-8000-000000000000')`
      case 'dateTime':
        return `'2026-01-01 00:00:00' + INTERVAL n MINUTE`
      case 'date':
        return `'2000-01-01' + INTERVAL n DAY`
      case 'time':
        return `SEC_TO_TIME(n)`
      case 'enum':
        return `IF(n = ${ROWS}, '${field.words[1]}', '${field.words[0]}')`
      case 'set':
        return `'${field.words[0]}'`
      case 'json':
        return `'{}'`
      case 'binary':
        return `UNHEX('00')`
      case 'base64url':
        return `UNHEX(LPAD(HEX(${number}), 8, '0'))`
    }
  })()
  return field.nullable && !isKey ? `IF(n % 10 = 0, NULL, ${value})` : value
}

/** The text of a filter's operand that few rows meet, and for a range the last rows of the order. */
function operandOf({ type, unique, words }: Column['field'], isReference: boolean): string {
  const number = isReference && !unique ? REFERRED : ROWS - 1
  switch (type) {
    case 'bool':
      return 'true'
    case 'enum':
      return words[1] ?? ''
    case 'string':
      return `${String.fromCharCode(97 + ((ROWS - 1) % 26))}x${ROWS - 1}`
    case 'decimal':
      return `${number / 100}`
    case 'guid':
      return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
    case 'dateTime':
      return new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString()
    case 'date':
      return new Date(Date.UTC(2000, 0, 1) + number * 86_400_000).toISOString().slice(0, 10)
    case 'time':
      return new Date(number * 1000).toISOString().slice(11, 19)
    default:
      return `${number}`
  }
}

/** Whether rows are found by an index that has the column first: equality, range, prefix. */
function isServed({ comparison }: Operator): boolean {
  const { sql } = OPERATORS[comparison]
  if ('negated' in sql) return false
  return ['equal', 'in', 'between', 'order'].includes(sql.kind) || (sql.kind === 'match' && sql.match === 'startsWith')
}

class EveryPermission extends Set<string> {
  override has(): boolean {
    return true
  }
}

const admin: Caller = {
  kind: 'authenticated',
  claims: {},
  issuer: 'test',
  subject: 'admin',
  roles: ['Admin'],
  permissions: new EveryPermission(),
  owner: null
}
const owner: Caller = { ...admin, subject: 'owner', roles: [], owner: 7n }

const catalogue = makeCatalogue(entities)
const planning = {
  catalogue,
  ownership: { bypassRole: 'Admin', parameterName: 'id' },
  maxPageSize: 500,
  maxExportRows: 100_000
}

interface Explained {
  readonly sql: string
  readonly table: string
  readonly type: string
  readonly key: string | null
  readonly rows: number
  readonly extra: string
}

const EXPLAIN_COLUMNS = 10

/** The database, whose readers explain each statement on the connection that it is sent on, before they send it. */
function explaining(database: Database, seen: Explained[]): Database {
  const explain = async (session: ReaderSession, statement: Statement, values: BoundValues): Promise<void> => {
    const asText = (raw: unknown): Value => (typeof raw === 'string' ? raw : typeof raw === 'number' ? `${raw}` : null)
    const decode = Array.from({ length: EXPLAIN_COLUMNS }, () => asText)
    const rows = await session.run(
      { sql: `EXPLAIN ${statement.sql}`, binds: statement.binds, decode, exact: false },
      values
    )
    for (const [, , table, type, , key, , , count, extra] of rows) {
      const text = (value: Value | undefined): string => (value === null ? '' : String(value))
      const found = { table: text(table), type: text(type), key: text(key), rows: Number(count), extra: text(extra) }
      seen.push({ sql: statement.sql, ...found })
    }
  }
  const explained = (session: ReaderSession): ReaderSession => ({
    run: async (statement, values) => {
      await explain(session, statement, values)
      return session.run(statement, values)
    },
    rows: async (statement, values) => {
      await explain(session, statement, values)
      return session.rows(statement, values)
    },
    runReadOnly: (statement, values) => session.runReadOnly(statement, values)
  })
  return new Proxy(database, {
    get: (target, name) => {
      if (name !== 'openReader') return Reflect.get(target, name, target) as unknown
      return (what: string): Reader => {
        const reader = target.openReader(what)
        return {
          read: (signal, work) => reader.read(signal, (session) => work(explained(session))),
          isFull: (signal) => reader.isFull(signal),
          snapshot: (signal) => reader.snapshot(signal),
          close: () => reader.close()
        }
      }
    }
  })
}

describe('EXPLAIN of the reads of the reference store', () => {
  let fresh: FreshDatabase
  let database: TestDatabase
  let store: SqlReadStore
  const seen: Explained[] = []
  const findings = new Set<string>()

  before(async () => {
    fresh = await freshDatabase('mysql')
    const primary = connect(fresh.url)
    await migrateDatabase(primary, primaryMigrations, {
      own: OWN,
      log: createLogger({ name: 'test', level: 'silent' })
    })
    database = await openTestDatabase(fresh.url)
    await database.run("SET SESSION sql_mode = '', foreign_key_checks = 0")
    for (const entity of entities) {
      const { table, columns, versionColumn } = entity
      const values = new Map(columns.map((column) => [column.column, valueOf(column, entity)]))
      if (versionColumn !== undefined) values.set(versionColumn, "UNHEX(LPAD(HEX(n), 16, '0'))")
      const names = [...values.keys()].map((name) => `\`${name}\``).join()
      // Recalculated in the background, the statistics would be those of an empty table for a moment.
      await database.run(`ALTER TABLE \`${table}\` STATS_AUTO_RECALC = 0`)
      await database.run(`DELETE FROM \`${table}\``)
      await database.run(
        `INSERT INTO \`${table}\` (${names}) SELECT ${[...values.values()].join()} FROM ${numbers(ROWS)}`
      )
      await database.run(`ANALYZE TABLE \`${table}\``)
    }
    const schema = schemaOf(primary)
    const facts = await readTableFacts(schema, await schema.describe(), entities)
    const databases = { primary: explaining(primary, seen), second: undefined }
    store = new SqlReadStore(databases, entities, { facts })
  })
  after(async () => {
    await store.close()
    await database.close()
    await fresh.dispose()
  })

  /** What is wrong with the statements of a page. */
  const faults = async (entity: Entity, selection: object, caller: Caller, pageNumber = '1'): Promise<string[]> => {
    seen.length = 0
    const request = { resource: entity.name, shape: null, unplaced: null, pageNumber, ownerParameter: '7' }
    const { plan } = planPage({ ...request, selection: { filters: [], ...selection } }, { planning, caller })
    await store.page(plan, new AbortController().signal)
    expect(seen, 'explained rows').to.not.have.lengthOf(0)
    return seen.flatMap(({ table, type, rows, extra, sql, key }) => {
      // The rows of the page itself, and what the optimizer has answered from an index before it runs anything.
      if (table === '' || table.startsWith('<')) return []
      const isFiltered = sql.includes(' WHERE ')
      const isWhole = type === 'ALL' || (isFiltered && type === 'index' && rows > MANY)
      const isSorted = /filesort|temporary/.test(extra) && rows > MANY
      return isWhole || isSorted ? [`${table} ${type} ${key} ${rows} rows ${extra}: ${sql}`] : []
    })
  }

  const judge = async (name: string, found: readonly string[]): Promise<void> => {
    if (found.length > 0) findings.add(name)
    if (EXCEPTIONS[name] === undefined) expect(found, name).to.deep.equal([])
  }

  for (const entity of entities) {
    const resource: Resource = catalogue.resource(entity.name, admin)
    const callers = [
      ['for everyone’s rows', admin],
      ['for an owner', owner]
    ] as const

    it(`of ${entity.name}: every sort`, async () => {
      for (const name of entity.sortable) {
        for (const sortDirection of ['asc', 'desc']) {
          for (const [who, caller] of callers) {
            for (const pageNumber of ['1', '200']) {
              const found = await faults(entity, { sortColumn: name, sortDirection }, caller, pageNumber)
              await judge(
                `${entity.name} sort ${name}`,
                found.map((one) => `${who} ${sortDirection} ${pageNumber} ${one}`)
              )
            }
          }
        }
      }
    })

    it(`of ${entity.name}: every filter by equality, range or prefix`, async () => {
      for (const { name, field, operators } of resource.filterable.values()) {
        const isReference = entity.references.some(({ via }) => via.some((one) => one.name === name))
        const served = operatorsOf(field.type).filter((one) => operators.includes(one.word) && isServed(one))
        for (const { word: operator, comparison } of served) {
          const value = operandOf(field, isReference)
          const { sql } = OPERATORS[comparison]
          // Of a range in the direction of nearly all rows no index is faster than the table.
          if (sql.kind === 'order' && sql.symbol.startsWith('<')) continue
          const pair = { property: name, operator, value: sql.kind === 'between' ? `${value},${value}` : value }
          const found = await faults(entity, { filters: [pair] }, admin)
          await judge(
            `${entity.name} filter ${name}`,
            found.map((one) => `${operator} ${one}`)
          )
        }
      }
    })
  }

  it('of events: a search by words, in any order and with any total', async () => {
    const events = entities.find(({ name }) => name === 'events')
    if (events === undefined) throw new Error('no events')
    for (const selection of [{ search: 'Caring knives' }, { search: 'knives', sortColumn: 'startsAt,venueId' }]) {
      expect(await faults(events, selection, admin)).to.deep.equal([])
      const used = seen.filter(({ table }) => table === 'events').map(({ type, key }) => `${type} ${key}`)
      expect(new Set(used)).to.deep.equal(new Set(['fulltext events_full_text']))
    }
  })

  it('has no exception that is none', () => {
    expect(Object.keys(EXCEPTIONS).filter((name) => !findings.has(name))).to.deep.equal([])
  })
})

/** A table of the numbers from 1 to `count`, at most 10,000, in the column `n`. */
function numbers(count: number): string {
  const digits = `(SELECT 0 AS d${' UNION ALL SELECT '.concat([1, 2, 3, 4, 5, 6, 7, 8, 9].join(' UNION ALL SELECT '))})`
  const places = ['a', 'b', 'c', 'd'].map((name) => `${digits} AS ${name}`).join(' CROSS JOIN ')
  return `(SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * d.d AS n FROM ${places}) AS numbers WHERE n <= ${count}`
}
