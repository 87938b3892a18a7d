import type { JsonSchema } from './json-schema.js'
import type { Permission } from './names.js'

/**
 * A column's value in the service, the same for every database: a string is text; bool is boolean; int and double are
 * numbers; long and decimal are exact digits in a string (decimal in its column's scale); dateTime is
 * `2026-01-31T08:00:00.000Z`, date `2026-01-31`, time `08:00:00` (with a fraction as its column has one); guid is
 * lower-case text; enum is one of its words; set is a list of its words; json is the text of a JSON value; binary and row
 * versions are a Buffer. On the wire it is the same, except that bytes are base64 and json is the JSON value itself.
 */
export type Value = string | number | boolean | Buffer | readonly string[] | null

/** A filter operand or an id: a Value that is neither null, nor bytes, nor a list. */
export type Operand = string | number | boolean

/**
 * The types of columns and the words an entity file declares them with: `unique(text(64))`,
 * `readOnly(optional(dateTime()))`. How each type looks on the wire is contract.md section 3.
 */
export type FieldType =
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

/** Types whose values can be compared in filters and can order rows. */
export type ComparableType = Exclude<FieldType, 'set' | 'json' | 'binary'>

/**
 * How a column stores its values, where its type has several ways: `int` in 8, 16, 24 or 32 bits or as a year, `double` in
 * 32 bits, `bool`, `int` and `long` as flags of bits. `usual` for the one that the type has by itself.
 */
export type Storage = 'usual' | 'tinyInt' | 'smallInt' | 'mediumInt' | 'year' | 'float' | 'bits'

/**
 * Who sets a column: requests on create and update, requests on create only, the service alone (`never`), or the database
 * alone (`generated`), so that no INSERT or UPDATE of the service names it.
 */
type Writability = 'always' | 'onCreate' | 'never' | 'generated'

/** What `readOnly` and `hidden` leave of it. */
type SetByNoRequest<W extends Writability> = W extends 'generated' ? 'generated' : 'never'

/** The type of a value of the column type. `Words` are those of an enum or a set. */
export type ValueOfType<T extends FieldType, Words extends string = string> = T extends 'set'
  ? readonly Words[]
  : T extends 'binary'
    ? Buffer
    : OperandOfType<T, Words>

/** The same for types whose values are operands. */
export type OperandOfType<T extends FieldType, Words extends string = string> = T extends 'bool'
  ? boolean
  : T extends 'int' | 'double'
    ? number
    : T extends 'enum'
      ? Words
      : string

export interface Field<
  T extends FieldType = FieldType,
  Hidden extends boolean = boolean,
  Nullable extends boolean = boolean,
  W extends Writability = Writability,
  Reader extends Permission | undefined = Permission | undefined,
  Words extends string = string
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
  /** The smallest and largest number of characters in a string, and of bytes in a binary. */
  readonly minLength: number
  readonly maxLength: number
  /** The largest number of bytes of a string in UTF-8; undefined where only characters are counted. */
  readonly maxBytes: number | undefined
  /**
   * Number of digits of a decimal: in all, and after the point. `precision` is also the number of digits of a second's
   * fraction that a dateTime or time column has, and the number of bits of `bits(…)`.
   */
  readonly precision: number
  readonly scale: number
  readonly storage: Storage
  /** Whether an int or long has no negative values and twice as many positive ones. */
  readonly unsigned: boolean
  /** The words of an enum or set, in the order in which the column has them; none for other types. */
  readonly words: readonly Words[]
  /** What the values of a json must be; undefined for any JSON value. */
  readonly schema: JsonSchema | undefined
  /** Inclusive bounds for numbers and moments in requests. */
  readonly minimum: string | undefined
  readonly maximum: string | undefined
  /** The value when a create request leaves the member out. */
  readonly defaultTo: Exclude<Value, null> | undefined
  /** Whether a new row without a value gets the default that the column has in the database. */
  readonly filledByDatabase: boolean
  /** What the value means, in one sentence for people; undefined where its name says enough. */
  readonly description: string | undefined
  /** The application's own type of the value; undefined for a plain one. */
  readonly custom: CustomType | undefined
}

/** A type of the application's own over one of the engine's, which stays the type in the database and in JSON (custom-type.ts). */
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
export type PlainField<T extends FieldType, Words extends string = string> = Field<
  T,
  false,
  false,
  'always',
  undefined,
  Words
>

function field<T extends FieldType, Words extends string = string>(
  type: T,
  more: Partial<PlainField<T, Words>> = {}
): PlainField<T, Words> {
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
    maxBytes: undefined,
    precision: 0,
    scale: 0,
    storage: 'usual',
    unsigned: false,
    words: [],
    schema: undefined,
    minimum: undefined,
    maximum: undefined,
    defaultTo: undefined,
    filledByDatabase: false,
    description: undefined,
    custom: undefined,
    ...more
  }
}

export const text = (maxLength: number, minLength = 1): PlainField<'string'> =>
  field('string', { maxLength, minLength })
export const freeText = (maxLength = 2000): PlainField<'string'> => field('string', { maxLength })
/**
 * Text that is counted in bytes, as the TEXT columns of MySQL do: 255 of a TINYTEXT, 65535 of a TEXT, 16777215 of a
 * MEDIUMTEXT, 4294967295 of a LONGTEXT.
 */
export const longText = (maxBytes = 65_535): PlainField<'string'> => field('string', { maxLength: maxBytes, maxBytes })
export const bool = (): PlainField<'bool'> => field('bool')

/** Inclusive bounds of a number, within those of its type. */
interface NumberRange {
  readonly min?: number
  readonly max?: number
}

function integer(storage: Storage, { min, max }: NumberRange): PlainField<'int'> {
  return field('int', { storage, minimum: min?.toString(), maximum: max?.toString() })
}

/** 32 bits, signed. */
export const int = (range: NumberRange = {}): PlainField<'int'> => integer('usual', range)
/** 8 bits, signed: -128 to 127. */
export const tinyInt = (range: NumberRange = {}): PlainField<'int'> => integer('tinyInt', range)
/** 16 bits, signed: -32768 to 32767. */
export const smallInt = (range: NumberRange = {}): PlainField<'int'> => integer('smallInt', range)
/** 24 bits, signed: -8388608 to 8388607. */
export const mediumInt = (range: NumberRange = {}): PlainField<'int'> => integer('mediumInt', range)
/** A year from 1901 to 2155, which a YEAR column takes one byte for. */
export const year = (range: NumberRange = {}): PlainField<'int'> => integer('year', range)
/** 64 bits, signed; a string on the wire. */
export const long = (): PlainField<'long'> => field('long')
/** The integer without negative values: `unsigned(int())` goes to 4294967295, `unsigned(long())` to 2^64-1. */
export const unsigned = <T extends 'int' | 'long'>(of: PlainField<T>): PlainField<T> => ({ ...of, unsigned: true })

/**
 * Flags in a BIT column: `bits(1)` is a bool, up to 32 bits are a number, and more of them a string of digits, up to 64.
 */
export function bits(count: 1): PlainField<'bool'>
export function bits<N extends number>(count: N): PlainField<BitsType<N>>
export function bits(count: number): PlainField<'bool' | 'int' | 'long'> {
  const more = { storage: 'bits', precision: count, unsigned: true } as const
  return count === 1 ? field('bool', more) : count <= 32 ? field('int', more) : field('long', more)
}

type BitsOfLong = 33 | 34 | 35 | 36 | 37 | 38 | 39 | 40 | 41 | 42 | 43 | 44 | 45 | 46 | 47 | 48 | BitsAbove48
type BitsAbove48 = 49 | 50 | 51 | 52 | 53 | 54 | 55 | 56 | 57 | 58 | 59 | 60 | 61 | 62 | 63 | 64
type BitsType<N extends number> = N extends BitsOfLong ? 'long' : 'int'

/** Exact digits; a string on the wire. */
export const decimal = (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale })
/** An amount that is not negative. */
export const money = (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale, minimum: '0' })
/** A number of 64 bits as IEEE 754 has it; on the wire the shortest one that reads back the same. */
export const double = (range: NumberRange = {}): PlainField<'double'> =>
  field('double', { minimum: range.min?.toString(), maximum: range.max?.toString() })
/** The same of 32 bits, a FLOAT column. */
export const float = (range: NumberRange = {}): PlainField<'double'> => ({ ...double(range), storage: 'float' })

/** Digits of a second's fraction that a column has, 0 to 6. */
interface SecondsPrecision {
  readonly precision?: 0 | 1 | 2 | 3 | 4 | 5 | 6
}

/** UTC. Values have milliseconds, or as many digits as a column of a higher precision. */
export const dateTime = ({ precision = 3 }: SecondsPrecision = {}): PlainField<'dateTime'> =>
  field('dateTime', { precision })
/** A moment that a TIMESTAMP column of MySQL can hold: from 1970 to January 2038. */
export const timestamp = (precision: SecondsPrecision = {}): PlainField<'dateTime'> => ({
  ...dateTime(precision),
  minimum: '1970-01-01T00:00:01Z',
  maximum: '2038-01-19T03:14:07.999999Z'
})
/** A day of the calendar, `2026-01-31`, from the year 0001 to 9999. */
export const date = (): PlainField<'date'> => field('date')
/** A time of the day, `08:00:00`, with a fraction of as many digits as the column has. */
export const time = ({ precision = 0 }: SecondsPrecision = {}): PlainField<'time'> => field('time', { precision })
export const guid = (): PlainField<'guid'> => field('guid')
/** One of these words, letter by letter: `oneOf(['draft', 'sent'])`. The column is an ENUM. */
export const oneOf = <const Words extends string>(words: readonly Words[]): PlainField<'enum', Words> =>
  field('enum', { words })
/** Some of these words, each at most once, in any order: `setOf(['new', 'used'])`. The column is a SET. */
export const setOf = <const Words extends string>(words: readonly Words[]): PlainField<'set', Words> =>
  field('set', { words })
/**
 * A JSON value, which entity files get as its text. Values of requests must meet the JSON schema (draft 2020-12), if there
 * is one. All digits of numbers are kept.
 */
export const json = (schema?: JsonSchema): PlainField<'json'> => field('json', { schema })
/** Bytes, base64 on the wire. `binary(16, 16)` for a BINARY column, whose values have one length. */
export const binary = (maxBytes: number, minBytes = 0): PlainField<'binary'> =>
  field('binary', { maxLength: maxBytes, minLength: minBytes })

export const optional = <
  T extends FieldType,
  H extends boolean,
  W extends Writability,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, boolean, W, R, V>
): Field<T, H, true, W, R, V> => ({ ...of, nullable: true })
/** May be null, but a request must not leave it out: `requiredNullable(int())`. */
export const requiredNullable = <
  T extends FieldType,
  H extends boolean,
  W extends Writability,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, boolean, W, R, V>
): Field<T, H, true, W, R, V> => ({ ...of, nullable: true, requiredNullable: true })
/** A column by permission cannot be unique: the conflict of a value would tell of a column that the caller may not read. */
export const unique = <
  T extends ComparableType,
  H extends boolean,
  N extends boolean,
  W extends Writability,
  V extends string
>(
  of: Field<T, H, N, W, undefined, V>
): Field<T, H, N, W, undefined, V> => ({ ...of, unique: true })
export const onCreate = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, N, Exclude<Writability, 'generated'>, R, V>
): Field<T, H, N, 'onCreate', R, V> => ({ ...of, writability: 'onCreate' })
export const readOnly = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  W extends Writability,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, N, W, R, V>
): Field<T, H, N, SetByNoRequest<W>, R, V> => ({ ...of, writability: setByNoRequest(of.writability) })
export const hidden = <T extends FieldType, N extends boolean, W extends Writability, V extends string>(
  of: Field<T, boolean, N, W, Permission | undefined, V>
): Field<T, true, N, SetByNoRequest<W>, undefined, V> => ({
  ...of,
  hidden: true,
  writability: setByNoRequest(of.writability),
  readableBy: undefined
})

function setByNoRequest<W extends Writability>(writability: W): SetByNoRequest<W> {
  // The compiler does not follow the condition of the type.
  return (writability === 'generated' ? writability : 'never') as SetByNoRequest<W>
}

/**
 * A column that the database fills in every row that is written, whoever writes it: computed of others (VIRTUAL or STORED),
 * a timestamp with ON UPDATE, or set by a trigger. No statement of the service names it; what it holds after a write is
 * read in the write's transaction.
 */
export const generated = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, N, Writability, R, V>
): Field<T, H, N, 'generated', R, V> => ({ ...of, writability: 'generated' })
/**
 * A column with a default in the database, which a new row without a value gets: an expression, CURRENT_TIMESTAMP, a number
 * of AUTO_INCREMENT. It stands around the other words: `filledByDatabase(readOnly(dateTime()))`. A create may leave the
 * member out. So may a PUT, and the column then takes its default again, or null where it may be null.
 */
export const filledByDatabase = <F extends Field>(of: F): F & { readonly filledByDatabase: true } => ({
  ...of,
  filledByDatabase: true
})
export const defaultTo = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  W extends Writability,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, N, W, R, V>,
  value: ValueOfType<T, NoInfer<V>>
): Field<T, H, N, W, R, V> => ({ ...of, defaultTo: value })
/**
 * A column that takes a permission to read, `readableBy('products:manage', optional(int()))`. For any other caller it is
 * an unknown name in every read and body, a PUT keeps its value, and a create gives it its default or null. Rules of the
 * entity file see it always.
 */
export const readableBy = <T extends FieldType, N extends boolean, W extends Writability, V extends string>(
  permission: Permission,
  of: Field<T, false, N, W, Permission | undefined, V>
): Field<T, false, N, W, Permission, V> => ({ ...of, readableBy: permission })

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

/** The columns of a key, or of a foreign key that refers to one, in the order of the key. */
export type KeyColumns = readonly [Column, ...Column[]]

/** A foreign key, served under `name` with `includeFKs`. */
export interface Reference {
  readonly name: string
  /** The referenced resource. */
  readonly to: string
  /** A column for each column of the key of that resource. */
  readonly via: KeyColumns
}

/** Rows of the aggregate, served under `name` with `includeChildren`, in order of id. */
export interface Children {
  readonly name: string
  readonly table: string
  /**
   * Columns of the child table that hold the key of the root. Their names are those of the foreign key as properties,
   * `productId`, whether or not the child has such a property.
   */
  readonly foreignKey: KeyColumns
  /** Those of its own key: `id`, or several columns, of which some may be properties in columns of the foreign key. */
  readonly key: KeyColumns
  /** Own columns, those of the key first. */
  readonly columns: readonly Column[]
  /** The column of the row version. undefined for children without one, which no write touches. */
  readonly versionColumn: string | undefined
  /** `second`: another database that cannot be joined. */
  readonly store: StoreName
}

export type StoreName = 'primary' | 'second'

/** The fields of an entity file. */
export type Fields = Readonly<Record<string, Field>>

/** The types that a key, and so a reference to it, can have. */
export type KeyType = 'int' | 'long' | 'guid' | 'string' | 'date' | 'enum'

type KeyField = Field<KeyType, false, false, Writability, undefined>

/** The key of an entity file: a field `id`, or two or more fields by name and no field `id`. */
export type KeyDefinition<F> =
  | { readonly fields: { readonly id: KeyField }; readonly key?: never }
  | { readonly fields: { readonly id?: never }; readonly key: readonly [KeyName<F>, KeyName<F>, ...KeyName<F>[]] }

/** Fields that no update changes, that are never null, and that every reader of the row sees. */
type KeyName<F> = {
  [K in keyof F]: F[K] extends Field<KeyType, false, false, 'onCreate' | 'never', undefined> ? K : never
}[keyof F] &
  string

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
  One extends Field<infer T, boolean, infer N, Writability, Permission | undefined, infer V>
    ? ValueOfType<T, V> | (N extends true ? null : never)
    : never

/** A row by property name, hidden columns included. */
export type RowOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> }

/** Names of fields that a create request may set, and that an update may set. */
export type SettableOnCreate<F> = Writable<F, 'always' | 'onCreate'>
export type SettableOnUpdate<F> = Writable<F, 'always'>
/** Names of fields that only the service sets, without an id that the database or the service makes. */
export type ReadOnlyName<F> =
  Writable<F, 'never'> | (F extends { readonly id: Field<'string'> } ? RuleMadeId<F> : never)

type RuleMadeId<F> = F extends { readonly id: { readonly writability: 'onCreate' } } ? never : 'id' & keyof F

type Writable<F, W extends Writability> = {
  [K in keyof F]: F[K] extends { writability: W } ? (K extends MadeId<F> ? never : K) : never
}[keyof F]

/** `id`, unless the request that creates a row names it or a rule does. */
type MadeId<F> = F extends { readonly id: { readonly writability: 'onCreate' } } ? never : 'id'
/** The same for rules, which name a string too. */
type MadeOfRule<F> = F extends { readonly id: Field<'string'> } ? never : MadeId<F>

/** Values of some columns of a row, without those that the database alone sets. */
export type PartialRowOf<F> = {
  readonly [K in Exclude<keyof F, 'id'> as F[K] extends Generated ? never : K]?: ValueOf<F[K]>
}

/** Values of the columns `Names` of a new row: a column that may be null or that has a default can be left out. */
export type NewRowOf<F, Names extends keyof F = Exclude<keyof F, MadeOfRule<F>>> = {
  readonly [K in Names as F[K] extends Generated | Dispensable ? never : K]: ValueOf<F[K]>
} & { readonly [K in Names as F[K] extends Generated ? never : F[K] extends Dispensable ? K : never]?: ValueOf<F[K]> }

interface Generated {
  readonly writability: 'generated'
}
type Dispensable = { readonly nullable: true } | { readonly filledByDatabase: true }

/** The members of a body by property name: undefined for one that was left out and that the database fills. */
export type MembersOf<F> = {
  readonly [K in keyof F]: F[K] extends { readonly filledByDatabase: true } ? ValueOf<F[K]> | undefined : ValueOf<F[K]>
}

export interface ChildrenDefinition {
  readonly table: string
  /** As a property, `productId`, for the column `product_id`; a list, in the order of the key, for a composite key. */
  readonly foreignKey: string | readonly [string, ...string[]]
  /** Where the column has another name, or the columns have. */
  readonly foreignKeyColumn?: string | readonly [string, ...string[]]
  readonly fields: Fields
  /** The properties of a composite key of the child, which then has no field `id`. */
  readonly key?: readonly [string, string, ...string[]]
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
