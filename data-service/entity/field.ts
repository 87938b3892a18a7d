/**
 * The types of columns and the words an entity file declares them with: `unique(text(64))`,
 * `serverSet(optional(dateTime()))`. How each type looks on the wire is contract.md section 3.
 */
export type FieldType = 'string' | 'bool' | 'int' | 'long' | 'decimal' | 'dateTime' | 'guid'

/** Who sets a column: requests on create and update, requests on create only, or the service alone. */
export type Writability = 'always' | 'onCreate' | 'never'

export interface Field<T extends FieldType = FieldType, Hidden extends boolean = boolean> {
  readonly type: T
  readonly nullable: boolean
  readonly writability: Writability
  /** Never on the wire in any direction, and no different from an unknown name to a caller. */
  readonly hidden: Hidden
  readonly unique: boolean
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

function field<T extends FieldType>(type: T, more: Partial<Field<T, false>> = {}): Field<T, false> {
  return {
    type,
    nullable: false,
    writability: 'always',
    hidden: false,
    unique: false,
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

export const text = (maxLength: number, minLength = 1): Field<'string', false> =>
  field('string', { maxLength, minLength })
export const freeText = (maxLength = 2000): Field<'string', false> => field('string', { maxLength })
export const bool = (): Field<'bool', false> => field('bool')
/** 32 bits, signed. */
export const int = (range: { min?: number; max?: number } = {}): Field<'int', false> =>
  field('int', { minimum: range.min?.toString(), maximum: range.max?.toString() })
/** 64 bits, signed; a string on the wire. */
export const long = (): Field<'long', false> => field('long')
/** Exact digits; a string on the wire. */
export const decimal = (precision: number, scale: number): Field<'decimal', false> =>
  field('decimal', { precision, scale })
/** An amount that is not negative. */
export const money = (precision: number, scale: number): Field<'decimal', false> =>
  field('decimal', { precision, scale, minimum: '0' })
/** UTC with milliseconds. */
export const dateTime = (): Field<'dateTime', false> => field('dateTime')
export const guid = (): Field<'guid', false> => field('guid')

export const optional = <T extends FieldType, H extends boolean>(of: Field<T, H>): Field<T, H> => ({
  ...of,
  nullable: true
})
export const unique = <T extends FieldType, H extends boolean>(of: Field<T, H>): Field<T, H> => ({
  ...of,
  unique: true
})
export const onCreate = <T extends FieldType, H extends boolean>(of: Field<T, H>): Field<T, H> => ({
  ...of,
  writability: 'onCreate'
})
export const serverSet = <T extends FieldType, H extends boolean>(of: Field<T, H>): Field<T, H> => ({
  ...of,
  writability: 'never'
})
export const hidden = <T extends FieldType>(of: Field<T>): Field<T, true> => ({
  ...of,
  hidden: true,
  writability: 'never'
})
export const defaultTo = <T extends FieldType, H extends boolean>(
  of: Field<T, H>,
  value: string | number | boolean
): Field<T, H> => ({ ...of, defaultTo: value })
