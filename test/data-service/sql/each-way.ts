import type { Suite } from 'mocha'
import { connect } from '../../../data-service/sql/connect.js'
import type { Database } from '../../../data-service/sql/engines/engine.js'
import { type DriverWay, innerWay, publicWay } from '../../../data-service/sql/engines/mysql/driver/mysql-ways.js'
import { MysqlLocation, parseMysqlUrl } from '../../../data-service/sql/engines/mysql/mysql.js'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'

/** As `connect`. */
export type Open = (url: string, poolSize?: number) => Database

/** A kind of database, and one of the ways in which statements are handed to its driver (docs/decisions/053). */
export interface TestedWay {
  readonly kind: DatabaseKind
  /** For titles. */
  readonly name: string
  readonly open: Open
}

interface MysqlWay extends TestedWay {
  readonly way: DriverWay
}

const MYSQL_WAYS: readonly MysqlWay[] = [
  mysqlWay('mysql', innerWay),
  mysqlWay('mysql by public functions of its driver', publicWay)
]

/** Its databases hand statements to the driver in this way, whatever way the installed driver would take. */
function mysqlWay(name: string, way: DriverWay): MysqlWay {
  const open: Open = (url, poolSize) => new MysqlLocation({ ...parseMysqlUrl(url, ''), way }).open(poolSize)
  return { kind: 'mysql', name, way, open }
}

/** Declares the same tests for SQLite, and for both ways to hand statements to the driver of MySQL and MariaDB. */
export function eachWay(define: (way: TestedWay) => void): void {
  eachDatabase((kind) => {
    for (const way of kind === 'sqlite' ? [{ kind, name: kind, open: connect }] : MYSQL_WAYS) define(way)
  })
}

/** The same without SQLite, as a `describe` for each way. */
export function describeMysqlWays(subject: string, define: (this: Suite, way: MysqlWay) => void): void {
  for (const way of MYSQL_WAYS) {
    describe(`${subject} ${way.name}`, function () {
      define.call(this, way)
    })
  }
}
