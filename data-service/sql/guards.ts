import { createHash } from 'node:crypto'
import type { Column, Entity } from '../entity/entity.js'
import type { Operand, Value } from '../entity/field.js'
import { padToPowerOfTwo } from './conditions.js'
import type { SqlDialect } from './engines/engine.js'
import { type BoundValues, statementText } from './engines/statement.js'
import type { TransactionAttempt } from './transactions.js'

/** Keys are hashed to so many guards: the table stays small, and two keys that share one cost a retry at most. */
const GUARDS = 65_536

/** Rows of one guard. A node of the cluster shares a guard by the row of its own, so nodes that only look at a row never collide. */
const ROWS_OF_GUARD = 4

/** Rows of one statement. */
const ROWS_AT_ONCE = 256

type Hold = 'shared' | 'exclusive'

interface GuardOptions {
  readonly dialect: SqlDialect
  /** The table of a resource's rows. */
  readonly tableOf: (resource: string) => string
}

/**
 * Guards what a transaction rests on, in a cluster that takes writes on several nodes (docs/decisions/016). There the
 * lock of a row holds on its own node alone, and two transactions of two nodes collide only where both write one row. So
 * each transaction also writes guard rows: all rows of the guard of a row that a single server would lock for changing
 * it, and one row of the guard of a row that a single server would lock for looking at it or for referring to it. On a
 * single server, whose locks do the same, nothing is written.
 */
export class Guards {
  readonly #transaction: TransactionAttempt
  readonly #dialect: SqlDialect
  readonly #tableOf: (resource: string) => string
  readonly #wanted = new Map<string, Hold>()
  readonly #held = new Map<string, Hold>()

  constructor(transaction: TransactionAttempt, { dialect, tableOf }: GuardOptions) {
    this.#transaction = transaction
    this.#dialect = dialect
    this.#tableOf = tableOf
  }

  /** A row that is looked at and has to stay as it is; others may look at it too. */
  shareRow(table: string, id: Operand): void {
    this.#want([table, id], 'shared')
  }

  /** A row that is changed or kept from others, or an id whose row is not there and must not be made. */
  excludeRow(table: string, id: Operand): void {
    this.#want([table, id], 'exclusive')
  }

  /** A value of a unique column that no row has, and that none must get. */
  excludeValue({ table }: Entity, column: Column, value: Operand): void {
    this.#want(valueKey(table, column, value), 'exclusive')
  }

  /** Columns that are written: others may look for their values in vain, or count what they refer to, until then. */
  shareWritten({ table, columns: [id], references }: Entity, values: ReadonlyMap<Column, Value>): void {
    for (const [column, value] of values) {
      if (value === null || Buffer.isBuffer(value)) continue
      if (column.column === id?.column) this.shareRow(table, value)
      else if (column.field.unique) this.#want(valueKey(table, column, value), 'shared')
      const reference = references.find(({ via }) => via.column === column.column)
      if (reference !== undefined) this.shareRow(this.#tableOf(reference.to), value)
    }
  }

  /**
   * Writes the guards that are wanted and not written yet, in the same order in every transaction. To be called before a
   * second look at a row that was not there, and at the end of the transaction. Answers whether the database is a cluster.
   */
  async writeGuards(): Promise<boolean> {
    const node = await this.#transaction.node()
    if (node === undefined) return false
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
    const insert = `INSERT INTO look_up_guards (slot, turn) VALUES ${places}`
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

/** Texts that are equal in their column's collation differ in bytes, so all texts of a column share one key. */
function valueKey(table: string, { column, field }: Column, value: Operand): readonly unknown[] {
  return [table, column, field.type === 'string' ? '' : String(value)]
}

function slotsOf(key: string, hold: Hold, node: number): number[] {
  const first = (createHash('sha256').update(key).digest().readUInt32BE() % GUARDS) * ROWS_OF_GUARD
  if (hold === 'shared') return [first + (node % ROWS_OF_GUARD)]
  return Array.from({ length: ROWS_OF_GUARD }, (_, index) => first + index)
}
