import { createHash } from 'node:crypto'
import type { Column, Entity } from '../entity/entity.js'
import type { Operand, Value } from '../entity/field.js'
import type { WorkTransaction } from './attempts.js'
import { type BoundValues, type StatementText, statementText } from './engines/statement.js'

/** Keys are hashed to so many guards: the table stays small, and two keys that share one cost a retry at most. */
const GUARDS = 65_536

/** Rows of one guard. A node of the cluster shares a guard by the row of its own, so nodes that only look never meet. */
const ROWS_OF_GUARD = 4

/** Rows of one statement. */
const ROWS_AT_ONCE = 256

type Hold = 'shared' | 'exclusive'

/**
 * What a transaction rests on, for a Galera cluster that takes writes on several nodes (docs/decisions/016). The lock of
 * a row holds on its own node alone, and two transactions of two nodes collide only where both write one row. So each
 * transaction there also writes guard rows: where one node would lock a row for changing it, every row of its guard,
 * and where it would lock a row for looking at it, or for referring to it, one row of the guard. On a server by itself,
 * whose locks do the same, nothing is written.
 */
export class Guards {
  readonly #transaction: WorkTransaction
  readonly #tableOf: (resource: string) => string
  readonly #wanted = new Map<string, Hold>()
  readonly #held = new Map<string, Hold>()

  constructor(transaction: WorkTransaction, tableOf: (resource: string) => string) {
    this.#transaction = transaction
    this.#tableOf = tableOf
  }

  /** A row that is looked at and has to stay as it is, while others look at it too. */
  look(table: string, id: Operand): void {
    this.#want([table, id], 'shared')
  }

  /** A row that is changed, or kept from others, or the place of one that is not there and must not come. */
  keep(table: string, id: Operand): void {
    this.#want([table, id], 'exclusive')
  }

  /** The place of a row that has the value in a unique column, and is not there. */
  keepValue({ table }: Entity, column: Column, value: Operand): void {
    this.#want(valueKey(table, column, value), 'exclusive')
  }

  /** What others may look for in vain, or count, until these columns are written: their values and what they refer to. */
  write({ table, columns: [id], references }: Entity, values: ReadonlyMap<Column, Value>): void {
    for (const [column, value] of values) {
      if (value === null || Buffer.isBuffer(value)) continue
      if (column.column === id?.column) this.look(table, value)
      else if (column.field.unique) this.#want(valueKey(table, column, value), 'shared')
      const reference = references.find(({ via }) => via.column === column.column)
      if (reference !== undefined) this.look(this.#tableOf(reference.to), value)
    }
  }

  /**
   * Writes the guards that are wanted and not held yet, in one order for everybody. Before a look at what is not there,
   * and at the end of the transaction for all that is. Whether the database is a cluster at all.
   */
  async hold(): Promise<boolean> {
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
    // One text for many lengths: the last one stands in for those that are missing.
    const length = 2 ** Math.ceil(Math.log2(slots.length))
    const values: BoundValues = {}
    for (let index = 0; index < length; index++) values[`s${index}`] = BigInt(slots[index] ?? slots.at(-1) ?? 0)
    await this.#transaction.change(writeText(length), values)
  }

  #want(parts: readonly unknown[], hold: Hold): void {
    const key = JSON.stringify(parts)
    const known = this.#held.get(key) ?? this.#wanted.get(key)
    if (known !== 'exclusive' && known !== hold) this.#wanted.set(key, hold)
  }
}

/** Texts that a column takes for one another differ in bytes: of those the column alone is the key. */
function valueKey(table: string, { column, field }: Column, value: Operand): readonly unknown[] {
  return [table, column, field.type === 'string' ? '' : String(value)]
}

function slotsOf(key: string, hold: Hold, node: number): number[] {
  const first = (createHash('sha256').update(key).digest().readUInt32BE() % GUARDS) * ROWS_OF_GUARD
  if (hold === 'shared') return [first + (node % ROWS_OF_GUARD)]
  return Array.from({ length: ROWS_OF_GUARD }, (_, index) => first + index)
}

function writeText(rows: number): StatementText {
  const places = Array.from({ length: rows }, (_, index) => `($s${index}, 0)`).join(', ')
  return statementText(
    `INSERT INTO look_up_guards (slot, turn) VALUES ${places} ON DUPLICATE KEY UPDATE turn = turn + 1`
  )
}
