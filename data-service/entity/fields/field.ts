import type { JsonSchema } from './json-schema.js'
import type { Permission } from './names.js'

/**
 * A column's value in the service, the same for every database: a string is text; bool is boolean; int and double are
 * numbers; long and decimal are exact digits in a string (decimal in its column's scale); dateTime is
 * `2026-01-31T08:00:00.000Z`, date `2026-01-31`, time `08:00:00` (with a fraction as its column has one); guid is
 * lower-case text; base64url is the text that stands for its bytes; enum is one of its words; set is a list of its words;
 * json is the text of a JSON value; binary and row versions are a Buffer. On the wire it is the same, except that bytes are base64 and json is the JSON value itself.
 */
export type Value = string | number | boolean | Buffer | readonly string[] | null

/** A filter operand or an id: a Value that is neither null, nor bytes, nor a list. */
export type Operand = string | number | boolean

/** The types of columns, for which words.ts has the words of entity files. Section 3 of contract.md has their forms on the wire. */
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
  | 'base64url'

/** Types whose values can be compared in filters and can order rows. */
export type ComparableType = Exclude<FieldType, 'set' | 'json' | 'binary'>

/**
 * How a column stores its values, where its type has several ways: `int` in 8, 16, 24 or 32 bits or as a year, `double` in
 * 32 bits, `bool`, `int` and `long` as flags of bits, `bool` as 0 and 1 and nothing else (`flag`). `usual` for the one that
 * the type has by itself.
 */
export type Storage = 'usual' | 'tinyInt' | 'smallInt' | 'mediumInt' | 'year' | 'float' | 'bits' | 'flag'

/**
 * Who sets a column: requests on create and update, requests on create only, the service alone (`never`), or the database
 * alone (`generated`), so that no INSERT or UPDATE of the service names it.
 */
export type Writability = 'always' | 'onCreate' | 'never' | 'generated'

/** The writability after `readOnly` or `hidden`. */
export type SetByNoRequest<W extends Writability> = W extends 'generated' ? 'generated' : 'never'

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
  /**
   * Never in an answer, filter, sort, search, export or label: a caller cannot tell it from an unknown name. The bodies of
   * requests may set it where its writability says so, as `writeOnly(…)` has it, and no others can.
   */
  readonly hidden: Hidden
  /** For a caller without this permission the column is an unknown name. undefined: for whoever may read the row. */
  readonly readableBy: Reader
  /** For a caller without this permission no body has the column. undefined: for whoever may write the row. */
  readonly writableBy: Permission | undefined
  readonly unique: boolean
  /** The column in the database; undefined for the property's name in snake_case. */
  readonly column: string | undefined
  /** The value may be null, but a request must not leave the member out. */
  readonly requiredNullable: boolean
  /** The smallest and largest number of characters in a string, and of bytes in a binary or base64url. */
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
  /** What a create gives the column, by its caller (entity/preset.ts); undefined where the request says it. */
  readonly preset: Preset | undefined
  /** What the value means, in one sentence for people; undefined where its name says enough. */
  readonly description: string | undefined
  /** A value for documents, as rows have it; undefined where one is made from type and name (entity/types). */
  readonly example: Exclude<Value, null> | undefined
  /** The application's own type of the value; undefined for a plain one. */
  readonly custom: CustomType | undefined
}

/** A function of a PresetCall (entity/preset.ts), of which fields know nothing. */
export type Preset = (call: never) => unknown

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
