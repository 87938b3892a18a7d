import { dateTime } from '../../entity/fields/words.js'
import { firstRowVersion } from '../../entity/fields/row-version.js'
import type { AuditEntry } from '../../plan/model/stores.js'
import { type BoundValues, type SqlDialect, type StatementText, statementText } from '../engines/statement.js'
import type { WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'

const AT = dateTime()

/** The trail of writes, an entry for each row that is written, in the transaction of the write. */
export class AuditEntries {
  readonly #insert: StatementText
  readonly #insertAfterChange: StatementText
  readonly #dialect: SqlDialect
  readonly #randomBytes: (size: number) => Buffer

  constructor({ sql }: OwnTables, dialect: SqlDialect, randomBytes: (size: number) => Buffer) {
    const into = `INSERT INTO ${sql.audit_entries} (at, subject, resource, row_id, action, request_id, row_version)`
    const values = '$at, $subject, $resource, $rowId, $action, $requestId, $version'
    this.#insert = statementText(`${into} VALUES (${values})`)
    this.#insertAfterChange = statementText(dialect.insertAfterChange(into, values))
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

  #values({ at, ...entry }: AuditEntry): BoundValues {
    return { ...entry, at: this.#dialect.bind(at, AT), version: firstRowVersion(this.#randomBytes) }
  }
}
