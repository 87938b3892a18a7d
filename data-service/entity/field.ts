/**
 * The types of columns and the words an entity file declares them with: `unique(text(64))`,
 * `serverSet(optional(dateTime()))`. How each type looks on the wire is contract.md section 3.
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
  /** Whether a request has to say it even where it is null. */
  readonly stated: boolean
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
    stated: false,
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
/** May be null, but never left out: `stated(optional(int()))`. */
export const stated = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W>
): Field<T, H, N, W> => ({ ...of, stated: true })
export const unique = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W>
): Field<T, H, N, W> => ({ ...of, unique: true })
export const onCreate = <T extends FieldType, H extends boolean, N extends boolean>(
  of: Field<T, H, N>
): Field<T, H, N, 'onCreate'> => ({ ...of, writability: 'onCreate' })
export const serverSet = <T extends FieldType, H extends boolean, N extends boolean>(
  of: Field<T, H, N>
): Field<T, H, N, 'never'> => ({ ...of, writability: 'never' })
export const hidden = <T extends FieldType, N extends boolean>(
  of: Field<T, boolean, N>
): Field<T, true, N, 'never'> => ({ ...of, hidden: true, writability: 'never' })
export const defaultTo = <T extends FieldType, H extends boolean, N extends boolean, W extends Writability>(
  of: Field<T, H, N, W>,
  value: ValueOfType<T>
): Field<T, H, N, W> => ({ ...of, defaultTo: value })
