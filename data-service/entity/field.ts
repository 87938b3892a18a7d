import type { Permission } from './names.js'

/**
 * A column's value in the service, the same for every database: a string is text; bool is boolean; int is a number; long
 * and decimal are exact digits in a string (decimal in its column's scale); dateTime is `2026-01-31T08:00:00.000Z`; guid
 * is lower-case text; bytes are a Buffer. On the wire it is the same, except that bytes are base64.
 */
export type Value = string | number | boolean | Buffer | null

/** A filter operand or an id: a Value that is neither null nor bytes. */
export type Operand = string | number | boolean

/**
 * The types of columns and the words an entity file declares them with: `unique(text(64))`,
 * `readOnly(optional(dateTime()))`. How each type looks on the wire is contract.md section 3.
 */
export type FieldType = 'string' | 'bool' | 'int' | 'long' | 'decimal' | 'dateTime' | 'guid'

/** Who sets a column: requests on create and update, requests on create only, or the service alone. */
type Writability = 'always' | 'onCreate' | 'never'

/** The type of a value of the column type. */
export type ValueOfType<T extends FieldType> = T extends 'bool' ? boolean : T extends 'int' ? number : string

export interface Field<
  T extends FieldType = FieldType,
  Hidden extends boolean = boolean,
  Nullable extends boolean = boolean,
  W extends Writability = Writability,
  Reader extends Permission | undefined = Permission | undefined
> {
  readonly type: T
  readonly nullable: Nullable
  readonly writability: W
  /** Never on the wire in any direction: a caller cannot tell it from an unknown name. */
  readonly hidden: Hidden
  /** For a caller without this permission the column is an unknown name. undefined: for whoever may read the row. */
  readonly readableBy: Reader
  readonly unique: boolean
  /** The column in the database; undefined for the property's name in snake_case. */
  readonly column: string | undefined
  /** The value may be null, but a request must not leave the member out. */
  readonly requiredNullable: boolean
  /** The smallest and largest number of characters in a string. */
  readonly minLength: number
  readonly maxLength: number
  /** Number of digits of a decimal: in all, and after the point. */
  readonly precision: number
  readonly scale: number
  /** Inclusive bounds for numbers in requests. */
  readonly minimum: string | undefined
  readonly maximum: string | undefined
  /** The value when a create request leaves the member out. */
  readonly defaultTo: string | number | boolean | undefined
  /** What the value means, in one sentence for people; undefined where its name says enough. */
  readonly description: string | undefined
  /** The application's own type of the value; undefined for a plain one. */
  readonly custom: CustomType | undefined
}

/** A type of the application's own over one of the seven, which stays the type in the database and in JSON (custom-type.ts). */
export interface CustomType {
  /** camelCase. */
  readonly name: string
  /** The value in the form in which it is stored; undefined for a value that is not of the type. */
  readonly parse: (value: Operand) => Operand | undefined
  /** Completes "must be …" and "… is not …": `a colour such as #ff8800`. */
  readonly expected: string
  /** Keywords of JSON schema (OpenAPI 3.1) besides those of the base type. */
  readonly schema: SchemaKeywords
  /** The operators of properties that name none of their own; undefined for all of the base type. */
  readonly operators: readonly string[] | undefined
  /** Values of the type, in the form in which they are stored. */
  readonly examples: readonly Operand[]
}

/** What the OpenAPI document may say of an own type. Values of requests and of answers both meet it. */
export interface SchemaKeywords {
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly Operand[]
  readonly description?: string
}

/** A field as its word makes it, before `optional(…)` and the like. */
export type PlainField<T extends FieldType> = Field<T, false, false, 'always', undefined>

function field<T extends FieldType>(type: T, more: Partial<PlainField<T>> = {}): PlainField<T> {
  return {
    type,
    nullable: false,
    writability: 'always',
    hidden: false,
    readableBy: undefined,
    unique: false,
    column: undefined,
    requiredNullable: false,
    minLength: 0,
    maxLength: 0,
    precision: 0,
    scale: 0,
    minimum: undefined,
    maximum: undefined,
    defaultTo: undefined,
    description: undefined,
    custom: undefined,
    ...more
  }
}

export const text = (maxLength: number, minLength = 1): PlainField<'string'> =>
  field('string', { maxLength, minLength })
export const freeText = (maxLength = 2000): PlainField<'string'> => field('string', { maxLength })
export const bool = (): PlainField<'bool'> => field('bool')
/** 32 bits, signed. */
export const int = (range: { min?: number; max?: number } = {}): PlainField<'int'> =>
  field('int', { minimum: range.min?.toString(), maximum: range.max?.toString() })
/** 64 bits, signed; a string on the wire. */
export const long = (): PlainField<'long'> => field('long')
/** Exact digits; a string on the wire. */
export const decimal = (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale })
/** An amount that is not negative. */
export const money = (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale, minimum: '0' })
/** UTC with milliseconds. */
export const dateTime = (): PlainField<'dateTime'> => field('dateTime')
export const guid = (): PlainField<'guid'> => field('guid')

export const optional = <
  T extends FieldType,
  H extends boolean,
  W extends Writability,
  R extends Permission | undefined
>(
  of: Field<T, H, boolean, W, R>
): Field<T, H, true, W, R> => ({ ...of, nullable: true })
/** May be null, but a request must not leave it out: `requiredNullable(int())`. */
export const requiredNullable = <
  T extends FieldType,
  H extends boolean,
  W extends Writability,
  R extends Permission | undefined
>(
  of: Field<T, H, boolean, W, R>
): Field<T, H, true, W, R> => ({ ...of, nullable: true, requiredNullable: true })
/** A column by permission cannot be unique: the conflict of a value would tell of a column that the caller may not read. */
export const unique = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W, undefined>
): Field<T, H, N, W, undefined> => ({ ...of, unique: true })
export const onCreate = <T extends FieldType, H extends boolean, N extends boolean, R extends Permission | undefined>(
  of: Field<T, H, N, Writability, R>
): Field<T, H, N, 'onCreate', R> => ({ ...of, writability: 'onCreate' })
export const readOnly = <T extends FieldType, H extends boolean, N extends boolean, R extends Permission | undefined>(
  of: Field<T, H, N, Writability, R>
): Field<T, H, N, 'never', R> => ({ ...of, writability: 'never' })
export const hidden = <T extends FieldType, N extends boolean>(
  of: Field<T, boolean, N>
): Field<T, true, N, 'never', undefined> => ({ ...of, hidden: true, writability: 'never', readableBy: undefined })
export const defaultTo = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  W extends Writability,
  R extends Permission | undefined
>(
  of: Field<T, H, N, W, R>,
  value: ValueOfType<T>
): Field<T, H, N, W, R> => ({ ...of, defaultTo: value })
/**
 * A column that takes a permission to read, `readableBy('products:manage', optional(int()))`. For any other caller it is
 * an unknown name in every read and body, a PUT keeps its value, and a create gives it its default or null. Rules of the
 * entity file see it always.
 */
export const readableBy = <T extends FieldType, N extends boolean, W extends Writability>(
  permission: Permission,
  of: Field<T, false, N, W>
): Field<T, false, N, W, Permission> => ({ ...of, readableBy: permission })

/** What a value means, for the OpenAPI document: `described('The day of the first delivery, UTC.', dateTime())`. */
export const described = <F extends Field>(description: string, of: F): F => ({ ...of, description })

/** A property in a column of another name: `sku: column('stock_keeping_unit', text(64))`. */
export const column = <F extends Field>(name: string, of: F): F => ({ ...of, column: name })

/** A column of a table and the DTO property it is served as. */
export interface Column {
  /** DTO property, `categoryId`. */
  readonly name: string
  /** Column, `category_id`. */
  readonly column: string
  readonly field: Field
}

/** A property computed from columns of its own row: read-only, and it cannot be filtered, sorted or selected. */
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
  /** The first reference of the path. */
  readonly through: Reference
  /** Names of further references, each of the resource that the one before it leads to. */
  readonly further: readonly string[]
  /** Property of the entity that the path leads to. */
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
  /** The name of that column as a property, `productId`. */
  readonly rootProperty: string
  /** Own columns, the id first. */
  readonly columns: readonly Column[]
  /** The column of the row version. undefined for children without one, which no write touches. */
  readonly versionColumn: string | undefined
  /** `second`: another database that cannot be joined. */
  readonly store: StoreName
}

export type StoreName = 'primary' | 'second'

/** The fields of an entity file. */
export type Fields = Readonly<Record<string, Field>> & { readonly id: KeyField }

type KeyField = Field<'int' | 'long' | 'guid', false, boolean, Writability, undefined>

export type VisibleName<F> = { [K in keyof F]: F[K] extends { hidden: true } ? never : K }[keyof F] & string
export type NameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false> ? K : never
}[keyof F] &
  string
/** Names of fields of the type that need no permission to be read, and so may decide what a caller is told. */
export type OpenNameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false, boolean, Writability, undefined> ? K : never
}[keyof F] &
  string
/** Names of fields that can be the label of a row: visible to all its readers, never null, and shown as text. */
export type LabelName<F> = {
  [K in keyof F]: F[K] extends Field<'string' | 'int' | 'long' | 'guid', false, false, Writability, undefined>
    ? K
    : never
}[keyof F] &
  string
export type TypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never

/** The type of a field's value, with null if the field may be null. */
export type ValueOf<One> =
  One extends Field<infer T, boolean, infer N> ? ValueOfType<T> | (N extends true ? null : never) : never

/** A row by property name, hidden columns included. */
export type RowOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> }

/** Names of fields that a create request may set, and that an update may set. */
export type SettableOnCreate<F> = Writable<F, 'always' | 'onCreate'>
export type SettableOnUpdate<F> = Writable<F, 'always'>
/** Names of fields that only the service sets, without the id, which the database sets. */
export type ReadOnlyName<F> = Writable<F, 'never'>

type Writable<F, W extends Writability> = {
  [K in keyof F]: F[K] extends { writability: W } ? (K extends 'id' ? never : K) : never
}[keyof F]

/** Values of some columns of a row. */
export type PartialRowOf<F> = { readonly [K in Exclude<keyof F, 'id'>]?: ValueOf<F[K]> }

/** Values of the columns `Names` of a new row: a column that may be null can be left out. */
export type NewRowOf<F, Names extends keyof F = Exclude<keyof F, 'id'>> = {
  readonly [K in Names as F[K] extends { nullable: true } ? never : K]: ValueOf<F[K]>
} & { readonly [K in Names as F[K] extends { nullable: true } ? K : never]?: ValueOf<F[K]> }

export interface ChildrenDefinition {
  readonly table: string
  /** As a property, `productId`, for the column `product_id`. */
  readonly foreignKey: string
  /** Where the column has another name. */
  readonly foreignKeyColumn?: string
  readonly fields: Fields
  /** `none`: the children have no version and are only read. */
  readonly rowVersion?: 'none'
  /** The column of the row version where it is not `row_version`: 8 bytes, BINARY(8) or a BLOB. */
  readonly rowVersionColumn?: string
  readonly store?: StoreName
}

/**
 * Names of the children that a write can change: those of the second store are not in its transaction, and of children
 * without a version no statement could tell which one was meant.
 */
export type ChildName<C> = {
  [K in keyof C]: C[K] extends { store: 'second' } | { rowVersion: 'none' } ? never : K
}[keyof C] &
  string
export type ChildFields<C, K> = K extends keyof C ? (C[K] extends { fields: infer F } ? F : never) : never

declare const rowVersion: unique symbol

/**
 * The version of a row, 8 bytes. Every write gives the row a version that it never had before. A client may send a token
 * of any length; one that is not 8 bytes long matches no row.
 */
export type RowVersion = Buffer & { readonly [rowVersion]: true }

export const ROW_VERSION_BYTES = 8

/** The column of the row version unless the entity file names another. */
export const ROW_VERSION_COLUMN = 'row_version'

/** A version that a client sent or that a row has; undefined for no bytes, which means no version. */
export function asRowVersion(bytes: Uint8Array): RowVersion | undefined {
  return bytes.length === 0 ? undefined : brand(Buffer.from(bytes))
}

/** The version of a new row. Its first half is random, so that two rows are unlikely to share a version. */
export function firstRowVersion(randomBytes: (size: number) => Buffer): RowVersion {
  return brand(Buffer.concat([randomBytes(ROW_VERSION_BYTES / 2), Buffer.alloc(ROW_VERSION_BYTES / 2)]))
}

/**
 * The version after the stored one: it counts up, so that no version of a row repeats within 2^64 writes. A database that
 * has no expression for it calls this within its UPDATE.
 */
export function nextRowVersion(stored: Buffer): RowVersion {
  const next = Buffer.alloc(ROW_VERSION_BYTES)
  const current = Buffer.concat([next, stored]).subarray(-ROW_VERSION_BYTES)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return brand(next)
}

function brand(bytes: Buffer): RowVersion {
  // The brand exists only in the types, and only this function gives it.
  return bytes as RowVersion
}
