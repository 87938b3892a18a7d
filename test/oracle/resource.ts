/** The types of properties, as Describe names them. */
export type WireType = 'string' | 'bool' | 'int' | 'long' | 'decimal' | 'dateTime' | 'guid'

export interface OracleProperty {
  readonly name: string
  readonly type: WireType
  readonly nullable: boolean
  readonly scale: number
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
  /** Names of the properties that `search` looks into. */
  readonly searchable: readonly string[]
}
