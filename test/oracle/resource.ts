/** The types of properties, as Describe names them. */
export type WireType =
  | 'string'
  | 'bool'
  | 'int'
  | 'long'
  | 'decimal'
  | 'double'
  | 'dateTime'
  | 'date'
  | 'time'
  | 'guid'
  | 'enum'
  | 'set'
  | 'json'
  | 'binary'
  | 'base64url'

export interface OracleProperty {
  readonly name: string
  readonly type: WireType
  readonly nullable: boolean
  readonly scale: number
  /** Digits of a second's fraction that the column has; milliseconds for a dateTime without this member. */
  readonly fraction?: number
  /** Whether the column is one of 64 unsigned bits. */
  readonly unsigned?: boolean
  /** Whether text is compared by its exact characters, as in row scopes. */
  readonly exact?: true
  /** The words of an enum or a set. */
  readonly words?: readonly string[]
  /** The least and the greatest integer that the column can hold, where it has not the usual range of its type. */
  readonly range?: { readonly min: bigint; readonly max: bigint }
  /** Expression in the hand-written SELECT. */
  readonly sql: string
  /** Whether `fields` takes it. */
  readonly selectable: boolean
  /** Whether filters take it; they do without this member. */
  readonly filterable?: boolean
  /** Whether `sortColumn` takes it; it does without this member. */
  readonly sortable?: boolean
}

export interface OracleResource {
  readonly name: string
  /** FROM clause of the hand-written SELECT. */
  readonly from: string
  readonly properties: readonly OracleProperty[]
  /** The properties of its key, in order; the first property without this member. */
  readonly key?: readonly string[]
  /** Names of the properties that `search` looks into. */
  readonly searchable: readonly string[]
  /** Whether `search` finds words by their beginnings, as a full-text index does. */
  readonly fullText?: boolean
}
