import { createHash } from 'node:crypto'
import type { Column, Entity } from '../../entity/entity.js'
import type { Operand, Value } from '../../entity/fields/field.js'
import { keyOfValues, type RowKey } from '../../entity/key.js'
import { type BoundValues, padToPowerOfTwo, type SqlDialect, statementText } from '../engines/statement.js'
import type { OwnTables } from '../engines/own-tables.js'
import type { TransactionAttempt } from '../transactions.js'

/** Keys are hashed to this many guards. The table stays small, and two keys with the same guard cost at most a retry. */
const GUARDS = 65_536

/** Rows of one guard. Each node shares a guard by a row of its own, so that nodes which only read a row never collide. */
const ROWS_OF_GUARD = 4

/** Rows of one statement. */
const ROWS_AT_ONCE = 256

type Hold = 'shared' | 'exclusive'

interface GuardOptions {
  readonly tables: OwnTables
  readonly dialect: SqlDialect
  /** The resource of this name. */
  readonly entityNamed: (resource: string) => Entity
}

/**
 * Makes locks hold in a cluster that takes writes on several nodes (docs/decisions/016). There a row lock holds on one
 * node only, and transactions on two nodes collide only if both write the same row. So each transaction also writes
 * guard rows. For a row that a single server would lock exclusively, it writes all rows of the row's guard. For a row
 * that a single server would lock in shared mode, because it is read or referred to, it writes one row of the guard. On
 * a single server nothing is written, since its locks are enough.
 */
export class Guards {
  readonly #transaction: TransactionAttempt
  readonly #tables: OwnTables
  readonly #dialect: SqlDialect
  readonly #entityNamed: (resource: string) => Entity
  /** What was asked for since guards were written last. Their keys are made then, which on a single server is never. */
  readonly #asked: (() => void)[] = []
  readonly #wanted = new Map<string, Hold>()
  readonly #held = new Map<string, Hold>()

  constructor(transaction: TransactionAttempt, { tables, dialect, entityNamed }: GuardOptions) {
    this.#transaction = transaction
    this.#tables = tables
    this.#dialect = dialect
    this.#entityNamed = entityNamed
  }

  /** A row that is read and must not change. Other transactions may read it too. */
  shareRow(rows: GuardedRows, key: RowKey): void {
    this.#asked.push(() => this.#want(rowKey(rows, key), 'shared'))
  }

  /** A row that is changed or locked exclusively, or a key without a row that must not get one. */
  excludeRow(rows: GuardedRows, key: RowKey): void {
    this.#asked.push(() => this.#want(rowKey(rows, key), 'exclusive'))
  }

  /** A value of a unique column that no row has and no row must get. */
  excludeValue({ table }: Entity, column: Column, value: Operand): void {
    this.#asked.push(() => this.#want(valueKey(table, column, value), 'exclusive'))
  }

  /** Written columns: other transactions may look for their values, or count the rows that refer to one row. */
  shareWritten(entity: Entity, of: WrittenColumns): void {
    this.#asked.push(() => this.#shareWritten(entity, of))
  }

  #shareWritten(entity: Entity, { written, key }: WrittenColumns): void {
    const { table, references } = entity
    if (key !== undefined) this.#want(rowKey(entity, key), 'shared')
    for (const [column, value] of written) {
      if (typeof value === 'object') continue
      if (column.field.unique) this.#want(valueKey(table, column, value), 'shared')
    }
    for (const { to, via } of references) {
      const referred = keyOfValues(via.map((column) => written.get(column)))
      if (referred !== undefined) this.#want(rowKey(this.#entityNamed(to), referred), 'shared')
    }
  }

  /**
   * Writes the requested guards that are not written yet, in the same order in every transaction. Call it before a
   * second look for a missing row, and at the end of the transaction. Returns whether the database is a cluster.
   */
  async writeGuards(): Promise<boolean> {
    const node = await this.#transaction.node()
    if (node === undefined) return false
    for (const ask of this.#asked.splice(0)) ask()
    const slots = new Set<number>()
    for (const [key, hold] of this.#wanted) {
      for (const slot of slotsOf(key, hold, node)) slots.add(slot)
      this.#held.set(key, hold)
    }
    this.#wanted.clear()
    const ordered = [...slots].toSorted((one, other) => one - other)
    for (let start = 0; start < ordered.length; start += ROWS_AT_ONCE) {
      await this.#write(ordered.slice(start, start + ROWS_AT_ONCE))
    }
    return true
  }

  async #write(slots: readonly number[]): Promise<void> {
    const padded = padToPowerOfTwo(slots)
    const values: BoundValues = Object.fromEntries(padded.map((slot, index) => [`s${index}`, BigInt(slot)]))
    const places = padded.map((_, index) => `($s${index}, 0)`).join(', ')
    const insert = `INSERT INTO ${this.#tables.sql.look_up_guards} (slot, turn) VALUES ${places}`
    await this.#transaction.change(
      statementText(this.#dialect.insertOrUpdate(insert, 'slot', 'turn = turn + 1')),
      values
    )
  }

  #want(parts: readonly unknown[], hold: Hold): void {
    const key = JSON.stringify(parts)
    const known = this.#held.get(key) ?? this.#wanted.get(key)
    if (known !== 'exclusive' && known !== hold) this.#wanted.set(key, hold)
  }
}

interface WrittenColumns {
  readonly written: ReadonlyMap<Column, Value>
  /** Of the row, where it is known. */
  readonly key?: RowKey
}

/** A table whose rows are guarded by their key. */
type GuardedRows = Pick<Entity, 'table' | 'key'>

function rowKey({ table, key: columns }: GuardedRows, key: RowKey): readonly unknown[] {
  return [table, ...key.map((part, at) => (columns[at]?.field.type === 'string' ? '' : part))]
}

/** Texts with different bytes can be equal in the column's collation, so all texts of a column share one key. */
function valueKey(table: string, { column, field }: Column, value: Operand): readonly unknown[] {
  return [table, column, field.type === 'string' ? '' : String(value)]
}

function slotsOf(key: string, hold: Hold, node: number): number[] {
  const first = (createHash('sha256').update(key).digest().readUInt32BE() % GUARDS) * ROWS_OF_GUARD
  if (hold === 'shared') return [first + (node % ROWS_OF_GUARD)]
  return Array.from({ length: ROWS_OF_GUARD }, (_, index) => first + index)
}
