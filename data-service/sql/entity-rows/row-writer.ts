import { LRUCache } from 'lru-cache'
import { literal, Op, type Sequelize, where, type WhereOptions } from 'sequelize'
import { DomainError } from '../../../shared/errors.js'
import type { Column } from '../../entity/entity.js'
import type { RowVersion, VersionedTable } from '../../entity/fields/row-version.js'
import type { Value } from '../../entity/fields/field.js'
import { int } from '../../entity/fields/words.js'
import type { Assignments, ExpectedVersions, UpdatePlan } from '../../plan/model/plans.js'
import { boundValues, comparisonsOf, pathsOf, type RowCondition, shapeOf } from './statements/conditions.js'
import { CacheUse } from './statements/statements.js'
import { versionExpression, whereAll } from './statements/where-text.js'
import { generatorOf } from '../engines/sequelize-inner.js'
import type { Changed } from '../engines/sessions.js'
import {
  type BoundValue,
  type BoundValues,
  bindNames,
  bindNamesOfTwo,
  padToPowerOfTwo,
  quotedIdentifier,
  type ShownStatement,
  type SqlDialect,
  type Statement,
  type StatementText,
  statementText,
  Unstorable
} from '../engines/statement.js'
import type { TransactionAttempt } from '../transactions.js'
import type { RowChange, ViolatedKeys } from './violated-keys.js'

/** A table that is written. */
interface WrittenTable extends Pick<RowChange['into'], 'table' | 'columns' | 'foreignKey'>, VersionedTable {}

interface RowToInsert {
  readonly values: Assignments
  /** null in a table without row versions, for all rows alike. */
  readonly version: RowVersion | null
}

/** The row to change: it meets all conditions, and its version is one of those expected. */
interface GuardedMatch {
  readonly of: WrittenTable
  readonly conditions: readonly RowCondition[]
  readonly expected: ExpectedVersions
}

type DeletedMatch = Omit<GuardedMatch, 'expected'> & { readonly expected: ExpectedVersions | 'unconditional' }

/** How an INSERT answers its row. */
interface Returning {
  /** A SELECT of all rows of the table, without joins. */
  readonly shown: ShownStatement
  /** The column of the id that the database numbers. undefined where the row has its key. */
  readonly numbered: string | undefined
  readonly guard: string
}

interface GuardedInsert {
  readonly statement: ShownStatement
  readonly values: BoundValues
  /** For `explained`. */
  readonly change: RowChange
}

const nameInRow = bindNamesOfTwo('r')
const nameToSet = bindNames('s')
/** The version in a dry run. */
const TRIED = 'tried'
const nameExpected = bindNames('e')

/** Rows of one INSERT. A power of two, so that there are few different texts. */
const ROWS_PER_INSERT = 64

/** Writes rows, one statement at a time. The statement itself checks all conditions and the version of a row. */
export class RowWriter {
  readonly #texts: ChangeTexts
  readonly #dialect: SqlDialect
  readonly #keys: ViolatedKeys

  constructor(texts: ChangeTexts, dialect: SqlDialect, keys: ViolatedKeys) {
    this.#texts = texts
    this.#dialect = dialect
    this.#keys = keys
  }

  insertOne(session: TransactionAttempt, into: WrittenTable, row: RowToInsert): Promise<Changed> {
    return this.#insert(session, into, [row])
  }

  /**
   * Inserts in the given order, in which the database numbers the rows. A column that a row lacks gets its default, so that
   * one statement holds rows with the same columns alone.
   */
  async insertAll(session: TransactionAttempt, into: WrittenTable, rows: readonly RowToInsert[]): Promise<void> {
    for (const some of alike(rows)) await this.#insert(session, into, some)
  }

  /** The same of rows that the database numbers, and which it answers (`TransactionAttempt.isGuarding`). Returns the numbers. */
  async insertNumbered(
    session: TransactionAttempt,
    { into, id }: { readonly into: WrittenTable; readonly id: Column },
    rows: readonly RowToInsert[]
  ): Promise<Value[]> {
    const numbers: Value[] = []
    for (const some of alike(rows)) {
      const { written, names, bound } = this.#bound(into, some)
      const statement = this.#texts.insertNumbered(into.table, names, { rows: some.length, id })
      const answered = await this.explained(session, { verb: 'insert', into, written }, session.run(statement, bound))
      const given = answered.flatMap(([number]) => (number === undefined || number === null ? [] : [number]))
      if (given.length !== some.length) throw new TypeError(`New rows of ${into.table} were not answered`)
      // Each has a higher number than the row before it, in whatever order they are answered.
      numbers.push(...given.toSorted((one, other) => (BigInt(String(one)) < BigInt(String(other)) ? -1 : 1)))
    }
    return numbers
  }

  /**
   * An INSERT of one row that answers the row as `shown` selects it, and does nothing unless the guard holds. `isNumbered`:
   * whether the database gives the row its id.
   */
  insertReturning(into: WrittenTable, row: RowToInsert, how: Returning): GuardedInsert {
    const { written, names, bound } = this.#bound(into, [row])
    const change = { verb: 'insert', into, written } as const
    return { statement: this.#texts.insertReturning(into.table, names, how), values: bound, change }
  }

  /**
   * Returns whether a row matched. A version in a column always advances, so that a matched row is also a changed row. `tried`: the version
   * in a dry run. The one after the stored version is that of the next write, and is not told to anybody before.
   */
  async update(
    session: TransactionAttempt,
    matched: GuardedMatch,
    { values, defaulted = [], tried }: Pick<UpdatePlan, 'values' | 'defaulted'> & { readonly tried: Buffer | undefined }
  ): Promise<boolean> {
    const { match, bound } = this.#match(matched)
    if (tried !== undefined) bound[TRIED] = tried
    const columns: string[] = []
    for (const [column, value] of values) {
      bound[nameToSet(columns.length)] = this.#stored(column, value)
      columns.push(column.column)
    }
    const reset = defaulted.map(({ column }) => column)
    const statement = this.#texts.update(match, { columns, reset, isTried: tried !== undefined })
    const written = [...values.keys()].filter((column) => values.get(column) !== null)
    const change = async (): Promise<boolean> => {
      const into = matched.of
      return (await this.#change(session, { statement, bound }, { verb: 'update', into, written })).rows > 0
    }
    if (!matched.of.contentVersion || !this.#dialect.countsChangedRows) return await change()
    // The UPDATE may change nothing, and is sent once all the same: triggers of others run with it. Under lock it cannot miss the row.
    if (!(await this.#isMatched(session, match, bound))) return false
    await change()
    return true
  }

  async #isMatched(session: TransactionAttempt, match: Match, bound: BoundValues): Promise<boolean> {
    const [row] = await session.run(this.#texts.matched(match), bound)
    return row !== undefined
  }

  async delete(session: TransactionAttempt, matched: DeletedMatch): Promise<boolean> {
    const { match, bound } = this.#match(matched)
    const change = { verb: 'delete', into: matched.of, written: [] } as const
    const { rows } = await this.#change(session, { statement: this.#texts.delete(match), bound }, change)
    return rows > 0
  }

  #insert(session: TransactionAttempt, into: WrittenTable, rows: readonly RowToInsert[]): Promise<Changed> {
    const { written, names, bound } = this.#bound(into, rows)
    const statement = this.#texts.insert(into.table, names, rows.length)
    return this.#change(session, { statement, bound }, { verb: 'insert', into, written })
  }

  #bound(
    { versionColumn }: WrittenTable,
    rows: readonly RowToInsert[]
  ): { readonly written: readonly Column[]; readonly names: readonly string[]; readonly bound: BoundValues } {
    const columns = [...new Map(Array.from(rows[0]?.values.keys() ?? [], (one) => [one.column, one])).values()]
    const bound: BoundValues = {}
    rows.forEach(({ values, version }, row) => {
      columns.forEach((column, index) => {
        bound[nameInRow(row, index)] = this.#stored(column, values.get(column) ?? null)
      })
      if (versionColumn !== undefined) bound[nameInRow(row, columns.length)] = version
    })
    const names = [...columns.map(({ column }) => column), ...(versionColumn === undefined ? [] : [versionColumn])]
    const written = columns.filter((column) => rows.some(({ values }) => (values.get(column) ?? null) !== null))
    return { written, names, bound }
  }

  /**
   * Only the database knows that the character set of a column lacks a character, which key does not allow a write, and what its own rules forbid. Such a rule
   * on a table of the engine is no answer to a request, so it is told here, where rows of entities are written.
   */
  #change(
    session: TransactionAttempt,
    { statement, bound }: { readonly statement: StatementText; readonly bound: BoundValues },
    change: RowChange
  ): Promise<Changed> {
    return this.explained(session, change, session.change(statement, bound))
  }

  async explained<Outcome>(
    session: TransactionAttempt,
    change: RowChange,
    writing: Promise<Outcome>
  ): Promise<Outcome> {
    try {
      return await writing
    } catch (error) {
      const kind = session.classifyError(error)
      if (kind === 'constraint') throw this.#keys.conflictOf(error, change) ?? error
      if (kind === 'forbidden') {
        // The name of a CHECK, or the words that a trigger has for it: what the driver adds holds no value of the request.
        const reason = error instanceof Error ? error.message : undefined
        const detail = 'A rule of the database does not allow this write.'
        throw new DomainError('state.invalid', detail, { cause: error, reason })
      }
      const name = this.#dialect.columnWithoutCharacter(error)
      const column = change.written.find((one) => one.column === name)
      if (column === undefined) throw error
      throw unstorable(column.name, 'has a character that its column cannot store', error)
    }
  }

  #match({ of, conditions, expected }: DeletedMatch) {
    const versions = expected === 'unconditional' ? [] : padToPowerOfTwo(expected)
    const bound: BoundValues = boundValues(conditions, this.#dialect)
    versions.forEach((version, index) => {
      bound[nameExpected(index)] = version
    })
    return { match: { of, conditions, versions: versions.length }, bound }
  }

  #stored({ name, field }: Column, value: Value): BoundValue {
    try {
      return value === null ? null : this.#dialect.store(value, field)
    } catch (error) {
      throw error instanceof Unstorable ? unstorable(name, error.message, error) : error
    }
  }
}

/** A value that its field allows and this database cannot hold is a mistake of the request. */
function unstorable(name: string, why: string, cause: unknown): DomainError {
  const detail = `${name} ${why}.`
  const violation = { code: 'body.invalid', detail, place: { in: 'pointer', name: `/${name}` } } as const
  return new DomainError(violation.code, detail, { violations: [violation], cause })
}

/** The rows in their order, as many as one INSERT takes at a time. */
function* alike(rows: readonly RowToInsert[]): Generator<readonly RowToInsert[]> {
  for (let start = 0; start < rows.length;) {
    const count = Math.min(ROWS_PER_INSERT, 2 ** Math.floor(Math.log2(countAlike(rows, start))))
    yield rows.slice(start, start + count)
    start += count
  }
}

/** How many rows from `start` on have the same columns, in any order. */
function countAlike(rows: readonly RowToInsert[], start: number): number {
  const first = rows[start]?.values
  if (first === undefined) return 0
  const columns = [...first.keys()]
  const end = rows.findIndex(
    ({ values }, index) =>
      index > start && (values.size !== columns.length || !columns.every((column) => values.has(column)))
  )
  return (end === -1 ? rows.length : end) - start
}

/** The rows to change: all conditions hold, and the version is one of `versions` many or, without them, any. */
interface Match {
  readonly of: WrittenTable
  readonly conditions: readonly RowCondition[]
  readonly versions: number
}

const MAX_TEXTS = 500

const ONE = int()

/**
 * The texts of INSERT, UPDATE and DELETE statements for one database, each shape compiled once. Values are bound as `r0_2`
 * for the third column of the first row of an INSERT, as `s2` for the third of the SET of an UPDATE, as `e0` for the first
 * allowed version, and in conditions as `boundValues` says.
 */
export class ChangeTexts {
  readonly #generator: ReturnType<typeof generatorOf>
  readonly #dialect: SqlDialect
  readonly #defaults: ReadonlyMap<string, string>
  readonly #use: CacheUse
  readonly #compiled = new LRUCache<string, StatementText>({ max: MAX_TEXTS })
  readonly #returning = new LRUCache<string, ShownStatement>({ max: MAX_TEXTS })

  /** `defaults`: the SQL of the defaults that an UPDATE sets, by `columnKey`. */
  constructor(
    sequelize: Sequelize,
    dialect: SqlDialect,
    {
      defaults = new Map(),
      use = new CacheUse()
    }: { readonly defaults?: ReadonlyMap<string, string> | undefined; readonly use?: CacheUse | undefined } = {}
  ) {
    this.#use = use
    use.add(this.#compiled, this.#returning)
    this.#defaults = defaults
    this.#generator = generatorOf(sequelize)
    this.#dialect = dialect
  }

  insert(table: string, columns: readonly string[], rows: number): StatementText {
    return this.#text(`insert\`${table}\`${columns.join('`')}\`${rows}`, () =>
      statementText(this.#insertText(table, columns, rows))
    )
  }

  /** The same, which answers the ids that the database gives the rows. */
  insertNumbered(
    table: string,
    columns: readonly string[],
    { rows, id }: { readonly rows: number; readonly id: Column }
  ): Statement {
    const text = this.#text(`numbered\`${table}\`${columns.join('`')}\`${rows}`, () => {
      const insert = this.#insertText(table, columns, rows).replace(/;$/, '')
      return statementText(`${insert} RETURNING ${quotedIdentifier(id.column)}`)
    })
    return { ...text, decode: [this.#dialect.decode(id.field)], exact: true }
  }

  #insertText(table: string, columns: readonly string[], rows: number): string {
    const row = (index: number) => Object.fromEntries(columns.map((one, at) => [one, literal(`$r${index}_${at}`)]))
    const all = Array.from({ length: rows }, (_, index) => row(index))
    return this.#generator.bulkInsertQuery(table, all, {})
  }

  insertReturning(table: string, columns: readonly string[], { shown, numbered, guard }: Returning): ShownStatement {
    const key = [shown.sql, table, ...columns, numbered ?? '', guard].join('`')
    const kept = this.#returning.get(key)
    this.#count(kept !== undefined)
    if (kept !== undefined) return kept
    const compiled = { ...shown, ...this.#returningText(table, columns, { shown, numbered, guard }) }
    this.#returning.set(key, compiled)
    return compiled
  }

  #returningText(table: string, columns: readonly string[], { shown, numbered, guard }: Returning): StatementText {
    const answered = shown.sql.slice('SELECT '.length, shown.sql.lastIndexOf(' FROM '))
    const into = [...(numbered === undefined ? [] : [numbered]), ...columns].map(quotedIdentifier).join(', ')
    const values = columns.map((_, at) => `$r0_${at}`).join(', ')
    const row =
      numbered === undefined
        ? `SELECT ${values} FROM DUAL WHERE ${guard}`
        : `VALUES (${[numberIf(this.#dialect, guard), values].join(', ')})`
    return statementText(`INSERT INTO ${quotedIdentifier(table)} (${into}) ${row} RETURNING ${answered}`)
  }

  /** Sets the columns, `reset` to their defaults, and advances the version in a column or, of a dry run, sets it. */
  update(
    match: Match,
    {
      columns,
      reset,
      isTried
    }: { readonly columns: readonly string[]; readonly reset: readonly string[]; readonly isTried: boolean }
  ): StatementText {
    const verb = isTried ? 'try' : 'update'
    const key = `${verb}\`${matchShape(match)}\`${columns.join('`')}\`${reset.length}\`${reset.join('`')}`
    return this.#guarded(key, match, (rows) => {
      const { table, columns: own, versionColumn, contentVersion } = match.of
      const values = Object.fromEntries(columns.map((one, index) => [one, literal(`$s${index}`)]))
      for (const one of reset) values[one] = literal(this.#defaultOf(table, one))
      if (versionColumn !== undefined) {
        const next = isTried ? `$${TRIED}` : this.#dialect.nextVersion(quotedIdentifier(versionColumn))
        values[versionColumn] = literal(next)
      } else if (contentVersion) {
        // An UPDATE sets a column, and a body may set none.
        const [first] = own
        if (first !== undefined && Object.keys(values).length === 0) {
          values[first.column] = literal(quotedIdentifier(first.column))
        }
      } else throw new TypeError(`Rows of ${table} have no version that an UPDATE could advance`)
      return this.#generator.updateQuery(table, values, rows, {}).query
    })
  }

  delete(match: Match): StatementText {
    return this.#guarded(`delete\`${matchShape(match)}`, match, (rows) =>
      this.#generator.deleteQuery(match.of.table, rows, {})
    )
  }

  /** Locks the matched row, and selects a number for it. */
  matched(match: Match): Statement {
    const { sql, binds } = this.#text(`matched\`${matchShape(match)}`, () => {
      const text = this.#generator.deleteQuery(match.of.table, this.#where(match), {}).replace(/;$/, '')
      return statementText(`SELECT 1 ${text.slice('DELETE '.length)}${this.#dialect.forUpdate}`)
    })
    return { sql, binds, decode: [this.#dialect.decode(ONE)], exact: false }
  }

  /** A change of matched rows, with its form that may be sent together with the start of its transaction. */
  #guarded(key: string, match: Match, make: (rows: WhereOptions) => string): StatementText {
    return this.#text(key, () => {
      const rows = this.#where(match)
      const { guards } = this.#dialect
      const text = statementText(make(rows))
      if (guards === undefined) return text
      const guarded = statementText(make({ [Op.and]: [rows, literal(guards.inTransaction)] }))
      return { ...text, inTransaction: guarded.sql }
    })
  }

  #defaultOf(table: string, column: string): string {
    const found = this.#defaults.get(columnKey(table, column))
    if (found === undefined) throw new TypeError(`The column ${column} of ${table} has no default`)
    return found
  }

  /** Parts of the key have backticks between them, which no name has. */
  #text(key: string, make: () => StatementText): StatementText {
    const kept = this.#compiled.get(key)
    this.#count(kept !== undefined)
    if (kept !== undefined) return kept
    const compiled = make()
    this.#compiled.set(key, compiled)
    return compiled
  }

  #count(isKept: boolean): void {
    if (isKept) this.#use.hits += 1
    else this.#use.misses += 1
  }

  #where({ of, conditions, versions }: Match): WhereOptions {
    const { table } = of
    if (
      comparisonsOf(conditions)
        .flatMap(pathsOf)
        .some(({ through }) => through !== null)
    ) {
      throw new TypeError(`A change of ${table} can be conditioned on its own columns alone`)
    }
    const all = whereAll(conditions, { dialect: this.#dialect, root: table })
    if (versions === 0) return all
    const names = Array.from({ length: versions }, (_, index) => `$e${index}`)
    const version = versionExpression(table, of, this.#dialect)
    return { [Op.and]: [all, where(version, Op.in, literal(`(${names.join(', ')})`))] }
  }
}

function numberIf({ guards }: SqlDialect, condition: string): string {
  if (guards === undefined) throw new TypeError('This database has no guards')
  return guards.numberIf(condition)
}

/** A column of a table as the key of a map. */
export function columnKey(table: string, column: string): string {
  return `${quotedIdentifier(table)}.${quotedIdentifier(column)}`
}

function matchShape({ of, conditions, versions }: Match): string {
  return `${of.table}\`${shapeOf(conditions)}\`${versions}`
}
