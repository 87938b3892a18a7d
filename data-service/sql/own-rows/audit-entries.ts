import { dateTime } from '../../entity/fields/words.js'
import { firstRowVersion } from '../../entity/fields/row-version.js'
import type { AuditEntry } from '../../plan/model/stores.js'
import { type BoundValues, type SqlDialect, type StatementText, statementText } from '../engines/statement.js'
import type { BatchStatement, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'

const AT = dateTime()

/** The trail of writes, an entry for each row that is written, in the transaction of the write. */
export class AuditEntries {
  readonly #insert: StatementText
  readonly #insertAfterChange: StatementText
  /** Of a row that is inserted by the statement before: with its id, and with the number that it was given. */
  readonly #insertInTransaction: Readonly<Record<'named' | 'numbered', StatementText>> | undefined
  readonly #dialect: SqlDialect
  readonly #randomBytes: (size: number) => Buffer

  constructor({ sql }: OwnTables, dialect: SqlDialect, randomBytes: (size: number) => Buffer) {
    const into = `INSERT INTO ${sql.audit_entries} (at, subject, resource, row_id, action, request_id, row_version)`
    const values = '$at, $subject, $resource, $rowId, $action, $requestId, $version'
    this.#insert = statementText(`${into} VALUES (${values})`)
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

  #values({ at, ...entry }: AuditEntry): BoundValues {
    return { ...entry, at: this.#dialect.bind(at, AT), version: firstRowVersion(this.#randomBytes) }
  }
}
