/**
 * The package's main entry point, `uniform-rest`: all that entity files, migrations and `uniform-rest.config.ts` import.
 * It starts nothing, and reaches neither a driver nor a transport.
 */
export { type Application, defineApplication } from './application.js'
export type { Account, SampleAccounts } from '../../data-service/auth/accounts/accounts.js'
export type { Roles } from '../../data-service/auth/tokens/claims.js'
export { allOf, anyOf, authenticated, everyone, ownRows, permission } from '../../data-service/entity/access.js'
export {
  type CountReferencing,
  type FindByIds,
  type FindByUnique,
  type FindReferencing,
  type GetAggregate,
  type InputRejection,
  intOf,
  type NamedValues,
  reject,
  type Rejection,
  type RootUpdate,
  type StateRejection,
  textOf
} from '../../data-service/entity/action.js'
export { compositeId } from '../../data-service/entity/key.js'
export { preset } from '../../data-service/entity/preset.js'
export type { TokenCaller as Caller } from '../../data-service/entity/row-predicate.js'
export { defineFieldType } from '../../data-service/entity/fields/custom-type.js'
export {
  defineEvent,
  type EventHandler,
  type EventType,
  type LinkPurpose,
  oneTimeLink,
  onEvent,
  type OutboxEvent,
  type OutboxTarget,
  type Webhook,
  webhook
} from '../../data-service/entity/event.js'
export { defineEntity, fullText } from '../../data-service/entity/define-entity.js'
export type { Children, Column, Entity, StoreName } from '../../data-service/entity/entity.js'
export {
  base64url,
  binary,
  bits,
  bool,
  column,
  date,
  dateTime,
  decimal,
  defaultTo,
  described,
  double,
  example,
  float,
  freeText,
  guid,
  filledByDatabase,
  generated,
  hidden,
  int,
  json,
  long,
  longText,
  mediumInt,
  money,
  onCreate,
  oneOf,
  optional,
  readableBy,
  readOnly,
  requiredNullable,
  setOf,
  smallInt,
  text,
  time,
  timestamp,
  tinyInt,
  unique,
  unsigned,
  writableBy,
  writeOnly,
  year
} from '../../data-service/entity/fields/words.js'
export type { Field, Operand, Value } from '../../data-service/entity/fields/field.js'
export type { Permission } from '../../data-service/entity/fields/names.js'
export { fitsDigits, lessPercent, sumOf, times } from '../../data-service/entity/fields/numbers.js'
export { defineOperation, type Operation } from '../../data-service/entity/define-operation.js'
export { list, object } from '../../data-service/entity/fields/shape.js'
export type { SampleAggregate, SampleDatabase, SampleRow } from '../../schema/sample-rows.js'
export type { Migration, MigrationDatabase } from '../../schema/migrations/migration.js'
export { type Migrations, migrationsIn } from '../../schema/migrations/migration-folder.js'
export {
  addColumns,
  addForeignKeys,
  addIndexes,
  alterColumn,
  createTable,
  dropColumns,
  dropForeignKeys,
  dropIndexes,
  dropTable,
  renameColumn,
  renameTable,
  run,
  sql
} from '../../schema/migrations/builders.js'
