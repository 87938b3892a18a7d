/**
 * `uniform-rest/testing`: what the mocha tests of an application need (docs/testing.md). It starts processes of the
 * installed package; mocha and chai are installed by the project itself.
 */
export { describeEveryEntity } from '../every-entity/every-entity.js'
export type { EveryEntityOptions } from '../every-entity/tested-application.js'
export type { EntityValues, Made, Members, Values } from '../every-entity/made-values.js'
export type { CustomReadRule, EntityRule, Guard, OwnerFilter, Predicated, States } from '../every-entity/rule.js'
export type { Caller } from '../every-entity/callers.js'
export type { Row } from '../every-entity/transports.js'
export {
  type Stack,
  type StackAnswer,
  type StackOptions,
  type StackRequest,
  startProcesses,
  startStack
} from '../stack/stack.js'
export type { LogEntry, Server } from '../stack/server-log.js'
export type { ServiceProcess } from '../stack/service-process.js'
export {
  type DatabaseKind,
  databaseKinds,
  eachDatabase,
  type FreshDatabase,
  freshDatabase
} from '../stack/databases.js'
export { TokenMint } from '../stack/token-mint.js'
export { filter } from '../stack/http-call.js'
export { openTestDatabase, type RawRow, type TestDatabase, withTestDatabase } from '../oracle/test-database.js'
export { loadEntityRows, readOracle } from '../oracle/entity-oracle.js'
export type { OracleRow } from '../oracle/load-rows.js'
export type { OracleAnswer, OracleQuery } from '../oracle/read-oracle.js'
export type { WireValue } from '../oracle/wire-value.js'
