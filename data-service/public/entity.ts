/** What an application writes its entity files in. */
export { allOf, anyOf, everyone, ownRows, permission } from '../entity/access.js'
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
} from '../entity/action.js'
export { defineEntity } from '../entity/define-entity.js'
export type { Children, Column, Entity, StoreName } from '../entity/entity.js'
export {
  bool,
  column,
  dateTime,
  decimal,
  defaultTo,
  type Field,
  freeText,
  guid,
  hidden,
  int,
  long,
  money,
  onCreate,
  optional,
  readableBy,
  readOnly,
  type Operand,
  requiredNullable,
  text,
  unique,
  type Value
} from '../entity/field.js'
export type { Permission } from '../entity/names.js'
export { fitsDigits, lessPercent, sumOf, times } from '../entity/numbers.js'
