import { dateTime } from '../../entity/fields/words.js'
import { firstRowVersion } from '../../entity/fields/row-version.js'
import type { HistoryPlan } from '../../plan/model/plans.js'
import type { AuditEntry, HistoryEntry } from '../../plan/model/stores.js'
import { type BoundValues, type SqlDialect, type StatementText, statementText } from '../engines/statement.js'
import type { BatchStatement, ReadSession, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { deleteListed } from './idempotency-keys.js'
import { digits, orNull, type Select, select, selectedRows, textOfColumn } from './account-rows.js'

const AT = dateTime()

/** The trail of writes, an entry for each row that is written, in the transaction of the write. */
export class AuditEntries {
  readonly #insert: StatementText
  readonly #insertMany: (entries: number) => StatementText
  readonly #insertAfterChange: StatementText
  /** Of a row that is inserted by the statement before: with its id, and with the number that it was given. */
  readonly #insertInTransaction: Readonly<Record<'named' | 'numbered', StatementText>> | undefined
  readonly #dialect: SqlDialect
  readonly #randomBytes: (size: number) => Buffer

  constructor({ sql }: OwnTables, dialect: SqlDialect, randomBytes: (size: number) => Buffer) {
    const into = `INSERT INTO ${sql.audit_entries} (at, subject, resource, row_id, action, request_id, row_version, changes)`
    const values = '$at, $subject, $resource, $rowId, $action, $requestId, $version, $changes'
    this.#insert = statementText(`${into} VALUES (${values})`)
    const kept = new Map<number, StatementText>()
    this.#insertMany = (entries) => {
      const found = kept.get(entries)
      if (found !== undefined) return found
      const rows = Array.from({ length: entries }, (_, at) => `(${values.replaceAll(/\$\w+/g, (name) => name + at)})`)
      const text = statementText(`${into} VALUES ${rows.join(', ')}`)
      kept.set(entries, text)
      return text
    }
    this.#insertAfterChange = statementText(dialect.insertAfterChange(into, values))
    const { guards } = dialect
    if (guards !== undefined) {
      const guarded = (rowId: string): StatementText => {
        const number = guards.numberIf(guards.inTransaction)
        const text = statementText(
          `${into.replace('(at,', '(id, at,')} VALUES (${number}, ${values.replace('$rowId', rowId)})`
        )
        return { ...text, inTransaction: text.sql }
      }
      this.#insertInTransaction = { named: guarded('$rowId'), numbered: guarded(guards.lastNumber) }
    }
    this.#dialect = dialect
    this.#randomBytes = randomBytes
  }

  async insert(session: WriteSession, entry: AuditEntry): Promise<void> {
    await session.change(this.#insert, this.#values(entry))
  }

  /** Inserts entries in their order. */
  async insertAll(session: WriteSession, entries: readonly AuditEntry[]): Promise<void> {
    for (let start = 0; start < entries.length;) {
      // A power of two, so that there are few different texts.
      const count = Math.min(ENTRIES_PER_INSERT, 2 ** Math.floor(Math.log2(entries.length - start)))
      const bound: BoundValues = {}
      for (const [at, entry] of entries.slice(start, start + count).entries()) {
        for (const [name, value] of Object.entries(this.#values(entry))) bound[`${name}${at}`] = value
      }
      await session.change(this.#insertMany(count), bound)
      start += count
    }
  }

  /** The same for the statement after the one of the write itself (`SqlDialect.insertAfterChange`). Returns whether it was inserted. */
  async insertAfterChange(session: WriteSession, entry: AuditEntry): Promise<boolean> {
    return (await session.change(this.#insertAfterChange, this.#values(entry))).rows > 0
  }

  /**
   * The entry of a row that the statement before it on the connection inserts, which may be sent before the answer to that
   * one: it fails outside of a transaction. Without an id it is of the number that the row was given.
   */
  inTransaction(entry: Omit<AuditEntry, 'rowId'> & { readonly rowId?: string | undefined }): BatchStatement {
    const texts = this.#insertInTransaction
    if (texts === undefined) throw new TypeError('This database has no guards')
    const { rowId = '' } = entry
    const text = entry.rowId === undefined ? texts.numbered : texts.named
    return { kind: 'change', text, values: this.#values({ ...entry, rowId }) }
  }

  #values({
    at,
    changes = null,
    ...entry
  }: Omit<AuditEntry, 'changes'> & { changes?: string | null | undefined }): BoundValues {
    return { ...entry, changes, at: this.#dialect.bind(at, AT), version: firstRowVersion(this.#randomBytes) }
  }
}

/** Each has 64 KiB at most. */
const ENTRIES_PER_INSERT = 32

/** The entries of single rows, which a history shows. */
export class RowHistories {
  readonly #page: Select<ReturnType<typeof entryColumns>>
  readonly #start: (properties: number) => Select<typeof START>

  constructor({ sql: { audit_entries: table } }: OwnTables, dialect: SqlDialect) {
    // Collations equate ids that differ, of which each is another row (decision 024).
    const ofRow = `FROM ${table} WHERE resource = $resource AND row_id = $rowId AND HEX(row_id) = HEX($rowId)`
    const page = `${ofRow} AND id >= $first AND id < $before ORDER BY id DESC LIMIT $limit`
    this.#page = select(entryColumns(dialect), page)
    const starts = new Map<number, Select<typeof START>>()
    this.#start = (properties) => {
      // Quotes within the texts of values are escaped, so that only the name of a member is found.
      const changed = Array.from({ length: properties }, (_, at) => ` OR INSTR(changes, $p${at}) > 0`).join('')
      const any = properties === 0 ? '' : ` OR changes IS NULL${changed}`
      const made = starts.get(properties)
      if (made !== undefined) return made
      const start = select(START, `${ofRow} AND (action IN ('create', 'delete')${any}) ORDER BY id DESC LIMIT 1`)
      starts.set(properties, start)
      return start
    }
  }

  async read(
    session: ReadSession,
    { entity, rowId, from, before = AFTER_ALL, limit }: HistoryPlan
  ): Promise<readonly HistoryEntry[]> {
    const row = { resource: entity.name, rowId }
    const start = from === 'the first entry' ? undefined : await this.#startOf(session, row, from.lastChangeOf)
    const first = BigInt(start?.id ?? 0) + (start?.action === 'delete' ? 1n : 0n)
    const values = { ...row, first, before: BigInt(before), limit: BigInt(limit + 1) }
    const rows = await selectedRows(session, this.#page, values)
    // What the row was before the first entry that is shown is not.
    return rows.map(({ request_id: requestId, ...entry }) => ({ ...entry, requestId, isFirst: entry.id === start?.id }))
  }

  async #startOf(session: ReadSession, row: BoundValues, properties: readonly string[]) {
    const values: BoundValues = { ...row }
    properties.forEach((name, at) => {
      values[`p${at}`] = `${JSON.stringify(name)}:[`
    })
    const [start] = await selectedRows(session, this.#start(properties.length), values)
    return start
  }
}

const START = { id: digits, action: textOfColumn }

/** No number of an entry is greater. */
const AFTER_ALL = '9223372036854775807'

function entryColumns(dialect: SqlDialect) {
  const text = orNull(textOfColumn)
  const at = dialect.decode(AT)
  return {
    id: digits,
    at: (raw: unknown) => String(at(raw)),
    subject: textOfColumn,
    action: textOfColumn,
    request_id: text,
    changes: text
  }
}

/** Entries of one transaction: each has 64 KiB at most. */
const ENTRIES_AT_ONCE = 100

/** What a purge takes away: the changes of an entry, which itself stays. */
export interface PurgedChanges extends Pick<AuditEntry, 'at' | 'resource' | 'rowId' | 'action' | 'subject'> {
  readonly id: string
  readonly changes: string
}

export interface PurgeSteps {
  /** Gets the entries before the COMMIT that takes their changes away, perhaps several times. */
  readonly purging: (entries: readonly PurgedChanges[]) => Promise<void>
  /** How many a COMMIT has taken away. */
  readonly purged: (count: number) => void
}

/**
 * Takes away the changes of all entries before a moment (`2026-01-31T08:00:00.000Z`), the oldest first and in small
 * transactions. Each statement looks at the next entries, whatever they hold, so that none is long.
 */
export async function purgeChanges(
  run: <Result>(work: (session: WriteSession) => Promise<Result>) => Promise<Result>,
  { tables, dialect, before }: { readonly tables: OwnTables; readonly dialect: SqlDialect; readonly before: string },
  { purging, purged }: PurgeSteps
): Promise<void> {
  const table = tables.sql.audit_entries
  const text = textOfColumn
  const at = dialect.decode(AT)
  const columns = {
    id: digits,
    at: (raw: unknown) => String(at(raw)),
    resource: text,
    row_id: text,
    action: text,
    subject: text,
    changes: orNull(text)
  }
  const old = select(
    columns,
    `FROM ${table} WHERE at >= $at AND at < $before AND (at > $at OR id > $id) ORDER BY at, id LIMIT $limit`
  )
  let last = { at: FIRST_MOMENT, id: '0' }
  for (;;) {
    const { at: from, id } = last
    const values = {
      at: dialect.bind(from, AT),
      before: dialect.bind(before, AT),
      id: BigInt(id),
      limit: BigInt(ENTRIES_AT_ONCE)
    }
    const { rows, kept } = await run(async (session) => {
      const found = await selectedRows(session, old, values)
      const kept = found.flatMap(({ row_id: rowId, changes, ...entry }) =>
        changes === null ? [] : [{ ...entry, rowId, changes }]
      )
      await purging(kept)
      const keys = kept.map((row) => BigInt(row.id))
      await deleteListed(session, `UPDATE ${table} SET changes = NULL WHERE id IN`, { keys, now: 0 })
      return { rows: found, kept }
    })
    if (kept.length > 0) purged(kept.length)
    const end = rows.at(-1)
    if (end === undefined) return
    last = end
  }
}

/** Before every entry. */
const FIRST_MOMENT = '1970-01-01T00:00:00.000Z'
