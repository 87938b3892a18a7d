/**
 * A column's value as the rest of the service sees it, alike for every database: string as text; bool as boolean; int
 * as number; long and decimal as exact digits in a string (decimal with its column's scale); dateTime as
 * `2026-01-31T08:00:00.000Z`; guid as lower-case text; byte arrays as Buffer. It is also the value's form on the wire,
 * where only byte arrays change, into base64.
 */
export type Value = string | number | boolean | Buffer | null

/** A filter operand or an id: as Value, never null, never bytes. */
export type Operand = string | number | boolean

/**
 * The types of columns and the words an entity file declares them with: `unique(text(64))`,
 * `readOnly(optional(dateTime()))`. How each type looks on the wire is contract.md section 3.
 */
export type FieldType = 'string' | 'bool' | 'int' | 'long' | 'decimal' | 'dateTime' | 'guid'

/** Who sets a column: requests on create and update, requests on create only, or the service alone. */
export type Writability = 'always' | 'onCreate' | 'never'

/** What a value of the type is inside (value.ts). */
export type ValueOfType<T extends FieldType> = T extends 'bool' ? boolean : T extends 'int' ? number : string

export interface Field<
  T extends FieldType = FieldType,
  Hidden extends boolean = boolean,
  Nullable extends boolean = boolean,
  W extends Writability = Writability
> {
  readonly type: T
  readonly nullable: Nullable
  readonly writability: W
  /** Never on the wire in any direction, and no different from an unknown name to a caller. */
  readonly hidden: Hidden
  readonly unique: boolean
  /** The value may be null, but a request must not leave the member out. */
  readonly requiredNullable: boolean
  /** Characters of a string; at least one where `required` text may not be empty. */
  readonly minLength: number
  readonly maxLength: number
  /** Digits in all and after the point of a decimal. */
  readonly precision: number
  readonly scale: number
  /** Inclusive bounds a request must keep for numbers. */
  readonly minimum: string | undefined
  readonly maximum: string | undefined
  /** The value of a create request that leaves it out. */
  readonly defaultTo: string | number | boolean | undefined
}

type Plain<T extends FieldType> = Field<T, false, false, 'always'>

function field<T extends FieldType>(type: T, more: Partial<Plain<T>> = {}): Plain<T> {
  return {
    type,
    nullable: false,
    writability: 'always',
    hidden: false,
    unique: false,
    requiredNullable: false,
    minLength: 0,
    maxLength: 0,
    precision: 0,
    scale: 0,
    minimum: undefined,
    maximum: undefined,
    defaultTo: undefined,
    ...more
  }
}

export const text = (maxLength: number, minLength = 1): Plain<'string'> => field('string', { maxLength, minLength })
export const freeText = (maxLength = 2000): Plain<'string'> => field('string', { maxLength })
export const bool = (): Plain<'bool'> => field('bool')
/** 32 bits, signed. */
export const int = (range: { min?: number; max?: number } = {}): Plain<'int'> =>
  field('int', { minimum: range.min?.toString(), maximum: range.max?.toString() })
/** 64 bits, signed; a string on the wire. */
export const long = (): Plain<'long'> => field('long')
/** Exact digits; a string on the wire. */
export const decimal = (precision: number, scale: number): Plain<'decimal'> => field('decimal', { precision, scale })
/** An amount that is not negative. */
export const money = (precision: number, scale: number): Plain<'decimal'> =>
  field('decimal', { precision, scale, minimum: '0' })
/** UTC with milliseconds. */
export const dateTime = (): Plain<'dateTime'> => field('dateTime')
export const guid = (): Plain<'guid'> => field('guid')

export const optional = <T extends FieldType, H extends boolean, W extends Writability>(
  of: Field<T, H, boolean, W>
): Field<T, H, true, W> => ({ ...of, nullable: true })
/** May be null, but never left out: `requiredNullable(int())`. */
export const requiredNullable = <T extends FieldType, H extends boolean, W extends Writability>(
  of: Field<T, H, boolean, W>
): Field<T, H, true, W> => ({ ...of, nullable: true, requiredNullable: true })
export const unique = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W>
): Field<T, H, N, W> => ({ ...of, unique: true })
export const onCreate = <T extends FieldType, H extends boolean, N extends boolean>(
  of: Field<T, H, N>
): Field<T, H, N, 'onCreate'> => ({ ...of, writability: 'onCreate' })
export const readOnly = <T extends FieldType, H extends boolean, N extends boolean>(
  of: Field<T, H, N>
): Field<T, H, N, 'never'> => ({ ...of, writability: 'never' })
export const hidden = <T extends FieldType, N extends boolean>(
  of: Field<T, boolean, N>
): Field<T, true, N, 'never'> => ({ ...of, hidden: true, writability: 'never' })
export const defaultTo = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W>,
  value: ValueOfType<T>
): Field<T, H, N, W> => ({ ...of, defaultTo: value })

/** A column of a table and the DTO property it is served as. */
export interface Column {
  /** DTO property, `categoryId`. */
  readonly name: string
  /** Column, `category_id`. */
  readonly column: string
  readonly field: Field
}

/** A property worked out from columns of its own row: read-only, neither filterable nor sortable nor selectable. */
export interface Computed {
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly from: readonly Column[]
  /** Gets the values of `from`, in order. */
  readonly value: (values: readonly Value[]) => Value
}

/** A read-only property that is a column of a referenced row: a DTO name mapped to a nested path. */
export interface Joined {
  readonly name: string
  readonly through: Reference
  /** Property of the referenced entity. */
  readonly property: string
  readonly field: Field
}

/** A foreign key, served under `name` with `includeFKs`. */
export interface Reference {
  readonly name: string
  /** The referenced resource. */
  readonly to: string
  readonly via: Column
}

/** Rows of the aggregate, served under `name` with `includeChildren`, in order of id. */
export interface Children {
  readonly name: string
  readonly table: string
  /** Column of the child table that holds the root's id. */
  readonly foreignKey: string
  /** Own columns, the id first. Every child has a row version besides. */
  readonly columns: readonly Column[]
  /** `second`: another database that cannot be joined. */
  readonly store: StoreName
}

export type StoreName = 'primary' | 'second'

/** What the fields of an entity file tell the compiler. */
export type Fields = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid', false> }

export type VisibleName<F> = { [K in keyof F]: F[K] extends { hidden: true } ? never : K }[keyof F] & string
export type NameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false> ? K : never
}[keyof F] &
  string
/** What may stand for a row in a list of names: always there, and read as it is written. */
export type LabelName<F> = {
  [K in keyof F]: F[K] extends Field<'string' | 'int' | 'long' | 'guid', false, false> ? K : never
}[keyof F] &
  string
export type TypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never

/** A value of a column as it is inside (value.ts), null where the column may be null. */
export type ValueOf<One> =
  One extends Field<infer T, boolean, infer N> ? ValueOfType<T> | (N extends true ? null : never) : never

/** A row by property name, hidden columns included. */
export type RowOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> }

/** Columns that requests may set at all, and on an update too. */
export type SetOnCreate<F> = Writable<F, 'always' | 'onCreate'>
export type SetOnUpdate<F> = Writable<F, 'always'>
/** Columns that the service alone sets; the id is the database's. */
export type SetByService<F> = Writable<F, 'never'>

type Writable<F, W extends Writability> = {
  [K in keyof F]: F[K] extends { writability: W } ? (K extends 'id' ? never : K) : never
}[keyof F]

/** Columns to change. */
export type SomeOf<F> = { readonly [K in Exclude<keyof F, 'id'>]?: ValueOf<F[K]> }

/** Columns of a new row among `Names`: those that may be null may be left out. */
export type NewRowOf<F, Names extends keyof F = Exclude<keyof F, 'id'>> = {
  readonly [K in Names as F[K] extends { nullable: true } ? never : K]: ValueOf<F[K]>
} & { readonly [K in Names as F[K] extends { nullable: true } ? K : never]?: ValueOf<F[K]> }

export interface ChildrenDefinition {
  readonly table: string
  readonly foreignKey: string
  readonly fields: Fields
  readonly store?: StoreName
}

/** Children that a write can reach: those of the second store are no part of its transaction. */
export type ChildName<C> = { [K in keyof C]: C[K] extends { store: 'second' } ? never : K }[keyof C] & string
export type ChildFields<C, K> = K extends keyof C ? (C[K] extends { fields: infer F } ? F : never) : never

declare const rowVersion: unique symbol

/**
 * The version of a row, 8 bytes: another one after every write, and never one it had before. A token that a client
 * sent may be of any length; one of another length matches no row.
 */
export type RowVersion = Buffer & { readonly [rowVersion]: true }

const BYTES = 8

/** What a client sent as a version. Empty means no token, and is none. */
export function asRowVersion(bytes: Uint8Array): RowVersion | undefined {
  return bytes.length === 0 ? undefined : brand(Buffer.from(bytes))
}

/** Starts at a random place, so that the tag of one row is no likely tag of another. */
export function firstRowVersion(randomBytes: (size: number) => Buffer): RowVersion {
  return brand(Buffer.concat([randomBytes(BYTES / 2), Buffer.alloc(BYTES / 2)]))
}

/** Counts up, so that no version comes twice for a row in 2^64 writes. */
export function nextRowVersion(current: Buffer): RowVersion {
  const next = Buffer.alloc(BYTES)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return brand(next)
}

function brand(bytes: Buffer): RowVersion {
  // The only maker of the brand, which exists in the types alone.
  return bytes as RowVersion
}
