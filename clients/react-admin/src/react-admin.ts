export {
  type AuthProviderOptions,
  type LoginParams,
  type Permissions,
  type UniformRestAuthProvider,
  uniformRestAuthProvider
} from './auth-provider.js'
export {
  type ActParams,
  type ChangesParams,
  type DataProviderOptions,
  type ExportParams,
  type FurtherMethods,
  type HistoryEntry,
  type HistoryParams,
  type LookupAnswer,
  type LookupParams,
  type TotalsParams,
  type UniformRestDataProvider,
  uniformRestDataProvider
} from './data-provider.js'
export {
  type Conflict,
  ConflictError,
  type ErrorBody,
  type FailedRow,
  type FieldErrors,
  ManyError,
  UniformRestError
} from './errors.js'
export type { FilterOf } from './filters.js'
export type { AnyApplication, ReadMeta } from './reads.js'
export type { WriteMeta } from './writes.js'
