import { dateTime } from '../../entity/fields/words.js'
import { firstRowVersion } from '../../entity/fields/row-version.js'
import type { AuditEntry } from '../../plan/model/stores.js'
import { type SqlDialect, type StatementText, statementText } from '../engines/statement.js'
import type { WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'

const AT = dateTime()

/** The trail of writes, an entry for each row that is written, in the transaction of the write. */
export class AuditEntries {
  readonly #insert: StatementText
  readonly #dialect: SqlDialect
  readonly #randomBytes: (size: number) => Buffer

  constructor({ sql }: OwnTables, dialect: SqlDialect, randomBytes: (size: number) => Buffer) {
    this.#insert = statementText(
      `INSERT INTO ${sql.audit_entries} (at, subject, resource, row_id, action, request_id, row_version) ` +
        'VALUES ($at, $subject, $resource, $rowId, $action, $requestId, $version)'
    )
    this.#dialect = dialect
    this.#randomBytes = randomBytes
  }

  async insert(session: WriteSession, { at, ...entry }: AuditEntry): Promise<void> {
    const version = firstRowVersion(this.#randomBytes)
    await session.change(this.#insert, { ...entry, at: this.#dialect.bind(at, AT), version })
  }
}
