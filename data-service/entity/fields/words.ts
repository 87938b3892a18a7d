import type {
  ComparableType,
  Field,
  FieldType,
  PlainField,
  SetByNoRequest,
  Storage,
  ValueOfType,
  Writability
} from './field.js'
import { checkOptions, definitionWords } from './definition-words.js'
import type { JsonSchema } from './json-schema.js'
import { checkPermission, type Permission } from './names.js'

// The words with which an entity file declares its fields: `unique(text(64))`, `readOnly(optional(dateTime()))`.

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
    writableBy: undefined,
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
    preset: undefined,
    description: undefined,
    example: undefined,
    custom: undefined,
    ...more
  }
}

/** The word, which refuses arguments that nothing would read: `money(10, 2, { min: 1 })` has no such bound. */
function taking<Word extends (...given: never[]) => unknown>(most: number, name: string, word: Word): Word {
  const checked = (...given: never[]): unknown => {
    if (given.length <= most) return word(...given)
    throw new TypeError(`${name}(…) takes ${most} argument${most === 1 ? '' : 's'}, and got ${given.length}.`)
  }
  return checked as Word
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

const NUMBER_RANGE = definitionWords<NumberRange>({ min: 'number', max: 'number' })

function integer(storage: Storage, range: NumberRange): PlainField<'int'> {
  checkOptions('int', range, NUMBER_RANGE)
  const { min, max } = range
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
export const long = taking(0, 'long', (): PlainField<'long'> => field('long'))
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
export const decimal = taking(2, 'decimal', (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale })
)
/** An amount that is not negative. */
export const money = taking(2, 'money', (precision: number, scale: number): PlainField<'decimal'> =>
  field('decimal', { precision, scale, minimum: '0' })
)
/** A number of 64 bits as IEEE 754 has it; on the wire the shortest one that reads back the same. */
export const double = (range: NumberRange = {}): PlainField<'double'> => {
  checkOptions('double', range, NUMBER_RANGE)
  return field('double', { minimum: range.min?.toString(), maximum: range.max?.toString() })
}
/** The same of 32 bits, a FLOAT column. */
export const float = (range: NumberRange = {}): PlainField<'double'> => ({ ...double(range), storage: 'float' })

/** Digits of a second's fraction that a column has, 0 to 6. */
interface SecondsPrecision {
  readonly precision?: 0 | 1 | 2 | 3 | 4 | 5 | 6
}

const SECONDS_PRECISION = definitionWords<SecondsPrecision>({ precision: 'number' })

function secondsPrecision(word: string, given: SecondsPrecision): number | undefined {
  checkOptions(word, given, SECONDS_PRECISION)
  return given.precision
}

/** UTC. Values have milliseconds, or as many digits as a column of a higher precision. */
export const dateTime = (precision: SecondsPrecision = {}): PlainField<'dateTime'> =>
  field('dateTime', { precision: secondsPrecision('dateTime', precision) ?? 3 })
/** A moment that a TIMESTAMP column of MySQL can hold: from 1970 to January 2038. */
export const timestamp = (precision: SecondsPrecision = {}): PlainField<'dateTime'> => ({
  ...dateTime(precision),
  minimum: '1970-01-01T00:00:01Z',
  maximum: '2038-01-19T03:14:07.999999Z'
})
/** A day of the calendar, `2026-01-31`, from the year 0001 to 9999. */
export const date = (): PlainField<'date'> => field('date')
/** A time of the day, `08:00:00`, with a fraction of as many digits as the column has. */
export const time = (precision: SecondsPrecision = {}): PlainField<'time'> =>
  field('time', { precision: secondsPrecision('time', precision) ?? 0 })
export const guid = (): PlainField<'guid'> => field('guid')
/** One of these words, letter by letter: `oneOf(['draft', 'sent'])`. The column is an ENUM, or text with a CHECK. */
export const oneOf = <const Words extends string>(words: readonly Words[]): PlainField<'enum', Words> =>
  field('enum', { words: checkedWords('oneOf', words) })
/** Some of these words, each at most once, in any order: `setOf(['new', 'used'])`. The column is a SET. */
export const setOf = <const Words extends string>(words: readonly Words[]): PlainField<'set', Words> =>
  field('set', { words: checkedWords('setOf', words) })

/** Throws TypeError for words that no compiler has checked and that are no list of texts. */
function checkedWords<Words extends string>(word: string, words: readonly Words[]): readonly Words[] {
  const given: unknown = words
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return words
  throw new TypeError(`${word}(…) takes a list of texts, such as ${word}(['open', 'closed']).`)
}

/**
 * A JSON value, which entity files get as its text. Values of requests must meet the JSON schema (draft 2020-12), if there
 * is one. All digits of numbers are kept.
 */
export const json = (...given: [schema?: JsonSchema]): PlainField<'json'> => {
  const [schema] = given
  // A misspelt constant would take any value.
  if (given.length > 0 && schema === undefined) throw new TypeError('json(…) got a schema that is undefined.')
  return field('json', { schema })
}
/** Bytes, base64 on the wire. `binary(16, 16)` for a BINARY column, whose values have one length. */
export const binary = (maxBytes: number, minBytes = 0): PlainField<'binary'> =>
  field('binary', { maxLength: maxBytes, minLength: minBytes })
/**
 * Bytes that can be a key and refer to one: base64url without padding on the wire. `base64url(16, 16)` for a column
 * BINARY(16).
 */
export const base64url = (maxBytes: number, minBytes = 0): PlainField<'base64url'> =>
  field('base64url', { maxLength: maxBytes, minLength: minBytes })

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
  of: Field<T, H, N, 'always' | 'onCreate', R, V>
): Field<T, H, N, 'onCreate', R, V> => {
  const { writability }: Field = of
  if (writability !== 'always' && writability !== 'onCreate')
    throw new TypeError(
      'onCreate(…) takes a field that requests set: not one of readOnly(…), hidden(…) or generated(…).'
    )
  return { ...of, writability: 'onCreate' }
}
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

/**
 * A column that requests set and no answer shows, such as a password that a create needs. Bodies of requests have it;
 * everywhere else it is as a `hidden(…)` column. A PUT without the member keeps its value.
 */
export const writeOnly = taking(
  1,
  'writeOnly',
  <T extends FieldType, N extends boolean, W extends 'always' | 'onCreate', V extends string>(
    of: Field<T, false, N, W, undefined, V>
  ): Field<T, true, N, W, undefined, V> => {
    checkReadableByAll('writeOnly', of)
    return { ...of, hidden: true }
  }
)

/** Throws a TypeError where the word would drop a permission: callers without it could set the column. */
function checkReadableByAll(word: string, { readableBy: permission }: Field): void {
  if (permission !== undefined) throw new TypeError(`${word}(…) takes no field that says readableBy(…) already.`)
}

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
/** A word that gives a field a value of its own type, and leaves all else of it as it is. */
type WithValue = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  W extends Writability,
  R extends Permission | undefined,
  V extends string
>(
  of: Field<T, H, N, W, R, V>,
  value: ValueOfType<T, NoInfer<V>>
) => Field<T, H, N, W, R, V>

export const defaultTo: WithValue = (of, value) => {
  // A column without its default would take null, or be a member that each create needs.
  if (value === undefined)
    throw new TypeError('defaultTo(…) takes the value as its second argument, and got undefined.')
  return { ...of, defaultTo: value }
}
/**
 * A column that takes a permission to read, `readableBy('products:manage', optional(int()))`. For any other caller it is
 * an unknown name in every read and body, a PUT keeps its value, and a create gives it its default or null. Rules of the
 * entity file see it always.
 */
export const readableBy = taking(
  2,
  'readableBy',
  <T extends FieldType, N extends boolean, W extends Writability, V extends string>(
    permission: Permission,
    of: Field<T, false, N, W, undefined, V>
  ): Field<T, false, N, W, Permission, V> => {
    checkPermission('readableBy', permission)
    checkReadableByAll('readableBy', of)
    return { ...of, readableBy: permission }
  }
)

/**
 * A column that takes a permission to write, `writableBy('prices:manage', optional(money(10, 2)))`. Other callers read it as
 * any column, and no body of theirs has it: there it is an unknown member, a PUT keeps its value, and a create gives it its
 * default or null. Rules of the entity file set it always.
 */
export const writableBy = taking(
  2,
  'writableBy',
  <
    T extends FieldType,
    H extends boolean,
    N extends boolean,
    W extends 'always' | 'onCreate',
    R extends Permission | undefined,
    V extends string
  >(
    permission: Permission,
    of: Field<T, H, N, W, R, V>
  ): Field<T, H, N, W, R, V> => {
    checkPermission('writableBy', permission)
    const { writableBy: first }: Field = of
    if (first !== undefined) throw new TypeError('writableBy(…) takes no field that says writableBy(…) already.')
    return { ...of, writableBy: permission }
  }
)

/** What a value means, for the OpenAPI document: `described('The day of the first delivery, UTC.', dateTime())`. */
export const described = <F extends Field>(description: string, of: F): F => ({ ...of, description })

/**
 * What the documents show as a value, in the form in which rows have it: `example(money(10, 2), '19.90')`. A column without
 * one has an example that is made from its type and name.
 */
export const example: WithValue = (of, value) => ({ ...of, example: value })

/** A property in a column of another name: `sku: column('stock_keeping_unit', text(64))`. */
export const column = <F extends Field>(name: string, of: F): F => ({ ...of, column: name })
