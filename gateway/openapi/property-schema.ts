import type { Property } from '../data/data-client.js'

type Bounded = Pick<Property, 'minimum' | 'maximum'>

/** `from 1 to 1000`, `at least 0`, `at most 9`; empty if only the type limits the number. */
export function boundsInWords({ minimum, maximum }: Bounded): string {
  if (minimum !== '' && maximum !== '') return `from ${minimum} to ${maximum}`
  if (minimum !== '') return `at least ${minimum}`
  return maximum === '' ? '' : `at most ${maximum}`
}

/** The bounds as JSON schema keywords, which apply to JSON numbers only. */
function boundKeywords({ minimum, maximum }: Bounded): { readonly minimum?: number; readonly maximum?: number } {
  return {
    ...(minimum === '' ? {} : { minimum: Number(minimum) }),
    ...(maximum === '' ? {} : { maximum: Number(maximum) })
  }
}

/** The part of a pattern that stands for the sign; empty if no negative value is allowed. */
function signPattern({ minimum }: Bounded): string {
  return minimum === '' || minimum.startsWith('-') ? '-?' : ''
}

/** The same for a request, which may write a zero with a sign. */
function givenSign(property: Bounded): string {
  return signPattern(property) === '' ? '(?:-(?=[0.]+$))?' : '-?'
}

const INT32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 } as const

interface ValueSchema {
  /** Left out for JSON, which is of any type. */
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly [keyword: string]: unknown
}

/**
 * The schema of a property in a response (contract.md section 3). The bounds that all writes respect are in its description
 * alone: a row that was in the table before, or that somebody else wrote, may be beyond them, and is answered as it is.
 */
export function propertySchema(property: Property): object {
  const { description = boundsOfWrites(property) } = boundedSchema(property)
  const schema = { ...valueSchema(property), ...(description === '' ? {} : { description }) }
  return withOwnType(schema, property, property.nullable ? ['null'] : [])
}

/** The schema of a member of an operation's answer, with its bounds: the service sends no answer that is beyond them. */
export function answerSchema(property: Property): object {
  return withOwnType(boundedSchema(property), property, property.nullable ? ['null'] : [])
}

function boundsOfWrites(property: Property): string {
  const { type, minLength } = property
  if (type === 'string') {
    return minLength === 0 ? '' : `Writes take at least ${minLength} character${minLength === 1 ? '' : 's'}.`
  }
  const bounds = type === 'int' || type === 'double' ? boundsInWords(property) : ''
  return bounds === '' ? '' : `Writes take ${bounds}.`
}

/** The schema with the description and the own type that the application declares, and further types of its value. */
function withOwnType(schema: ValueSchema, property: Property, types: readonly string[]): object {
  const own: OwnKeywords = property.schema === '' ? {} : (JSON.parse(property.schema) as OwnKeywords)
  const description = [property.description, own.description, schema.description]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(' ')
  const isNullable = types.includes('null')
  if (property.type === 'json' && isNullable && property.schema !== '') {
    return {
      anyOf: [own, { type: 'null' }],
      ...(property.description === '' ? {} : { description: property.description })
    }
  }
  const values = own.enum ?? schema.enum
  return {
    ...schema,
    ...own,
    ...(values !== undefined && isNullable ? { enum: [...values, null] } : {}),
    ...(description === '' ? {} : { description }),
    ...(property.defaultValue === '' ? {} : { default: JSON.parse(property.defaultValue) as unknown }),
    ...(schema.type === undefined ? {} : { type: types.length === 0 ? schema.type : [schema.type, ...types] })
  }
}

/** As entity_service.proto, Property, says. */
interface OwnKeywords {
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** The schema of a query or path parameter: the text of a value, in every form that the data service takes. */
export function parameterSchema(property: Property): object {
  return withOwnType(parameterText(property), { ...property, description: '' }, [])
}

function parameterText(property: Property): ValueSchema {
  switch (property.type) {
    case 'dateTime':
      return {
        type: 'string',
        pattern: `^${DATE_PATTERN}(?:${momentPattern(Math.max(3, property.fractionDigits))})?$`,
        description: 'RFC 3339 with any offset, none being UTC, or a date alone, which is its midnight in UTC.'
      }
    case 'long':
      return { type: 'string', pattern: '^[+-]?0*[0-9]{1,20}$', description: withBounds(property, 'A 64-bit integer.') }
    case 'decimal':
      return {
        type: 'string',
        pattern: '^[+-]?[0-9]+(?:\\.[0-9]+)?$',
        description: withBounds(property, digitsInWords(property))
      }
    case 'time':
    case 'guid':
      return inputValueSchema(property)
    default:
      return boundedSchema(property)
  }
}

/** The schema of the id in a path. It has no bounds: a value out of bounds is simply not found. */
export function idSchema(property: Property): object {
  return parameterSchema({ ...property, minimum: '', maximum: '', minLength: 0 })
}

/** The schema of a member of a request, which accepts more forms than a response has (contract.md section 3). */
export function inputSchema(property: Property): object {
  const { type: kind, nullable } = property
  const schema = inputValueSchema(property)
  const types = [
    ...(kind === 'long' ? ['integer'] : kind === 'decimal' ? ['number'] : []),
    ...(nullable ? ['null'] : [])
  ]
  const notes = [
    ...(property.preset ? [PRESET] : []),
    ...(property.writableBy === '' ? [] : [`For callers with \`${property.writableBy}\`.`])
  ]
  const told = { ...property, description: [property.description, ...notes].join(' ').trim() }
  return { ...withOwnType(schema, told, types), ...(property.writeOnly ? { writeOnly: true } : {}) }
}

const PRESET = 'The token of the caller gives the value; no other one is taken.'

const DATE_PATTERN = '(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
const TIME_PATTERN = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]'
const OFFSET_PATTERN = '(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?'

/** A fraction of a second of that many digits at most, those that are zero at its end apart. */
function fractionPattern(digits: number): string {
  return digits === 0 ? '(?:\\.0+)?' : `(?:\\.[0-9]{1,${digits}}0*)?`
}

/** What follows the day: no offset is UTC. */
function momentPattern(digits: number): string {
  return `[Tt]${TIME_PATTERN}${fractionPattern(digits)}${OFFSET_PATTERN}`
}

function inputValueSchema(property: Property): ValueSchema {
  switch (property.type) {
    case 'decimal':
      return {
        type: 'string',
        pattern: givenDecimal(property),
        ...precisionKeywords(property),
        ...boundKeywords(property),
        description: withBounds(property, `${digitsInWords(property)} A number of up to 15 digits is taken too.`)
      }
    case 'long': {
      const { minimum = -Number.MAX_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = boundKeywords(property)
      return {
        type: 'string',
        pattern: `^${givenSign(property)}0*[0-9]{1,${property.maximum.length > 19 ? 20 : 19}}$`,
        minimum: Math.max(minimum, -Number.MAX_SAFE_INTEGER),
        maximum: Math.min(maximum, Number.MAX_SAFE_INTEGER),
        description: withBounds(property, 'A string of digits; a number within ±(2^53−1) is taken too.')
      }
    }
    case 'dateTime': {
      const { fractionDigits } = property
      const digits = fractionDigits === 3 ? 'milliseconds' : `${fractionDigits} digits of a second's fraction`
      return {
        type: 'string',
        pattern: `^${DATE_PATTERN}${momentPattern(fractionDigits)}$`,
        description: `RFC 3339 with any offset, none being UTC; at most ${digits}.`
      }
    }
    case 'date':
      return { type: 'string', format: 'date', pattern: `^${DATE_PATTERN}$` }
    case 'time':
      return { type: 'string', pattern: `^${TIME_PATTERN}${fractionPattern(property.fractionDigits)}$` }
    case 'guid':
      return { type: 'string', format: 'uuid', pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' }
    default:
      return boundedSchema(property)
  }
}

/** The bounds of a decimal that is sent as a JSON number, where the entity file sets none. */
function precisionKeywords({ precision, scale, minimum, maximum }: Property): object {
  if (precision === 0) return {}
  const beyond = 10 ** (precision - scale)
  return {
    ...(minimum === '' ? { exclusiveMinimum: -beyond } : {}),
    ...(maximum === '' ? { exclusiveMaximum: beyond } : {})
  }
}

/** A decimal as a request may write it, in no more digits than the column has. */
function givenDecimal(property: Property): string {
  const { precision, scale } = property
  if (precision === 0) return anyDecimal(property)
  const whole = precision > scale ? `0*[0-9]{1,${precision - scale}}` : '0+'
  return `^${givenSign(property)}${whole}${scale > 0 ? `(?:\\.[0-9]{1,${scale}})?` : ''}$`
}

function anyDecimal(property: Property): string {
  return `^${signPattern(property)}[0-9]+(\\.[0-9]+)?$`
}

function digitsInWords({ precision, scale }: Property): string {
  return `At most ${precision} digits, ${scale} of them after the point.`
}

/** The bounds in words before the advice: no keyword can express them for a number that is sent as a string. */
function withBounds(property: Property, advice: string): string {
  const bounds = boundsInWords(property)
  return bounds === '' ? advice : `${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}. ${advice}`
}

/** The schema of a value in a response, without bounds but for the range of its type. */
export function valueSchema(property: Property): ValueSchema {
  const isUnsigned = property.type === 'long' ? property.maximum.length > 19 : Number(property.maximum) > INT32.maximum
  const maximum = isUnsigned && property.type !== 'double' ? property.maximum : ''
  return boundedSchema({ ...property, minimum: '', maximum, minLength: 0 })
}

function boundedSchema(property: Property): ValueSchema {
  const { minLength, maxLength } = property
  switch (property.type) {
    case 'bool':
      return { type: 'boolean' }
    case 'int':
      return { type: 'integer', ...boundedInteger(property) }
    case 'long':
      return {
        type: 'string',
        pattern: longPattern(property),
        description: withBounds(property, 'A 64-bit integer in exact digits.')
      }
    case 'decimal':
      return {
        type: 'string',
        pattern: decimalPattern(property),
        description: withBounds(property, 'Exact digits, scale kept.')
      }
    case 'dateTime':
      return {
        type: 'string',
        format: 'date-time',
        pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{${Math.max(3, property.fractionDigits)}}Z$`
      }
    case 'date':
      return { type: 'string', format: 'date' }
    case 'time': {
      const { fractionDigits } = property
      const fraction = fractionDigits === 0 ? '' : `\\.[0-9]{${fractionDigits}}`
      return {
        type: 'string',
        pattern: `^-?[0-9]{2,3}:[0-5][0-9]:[0-5][0-9]${fraction}$`,
        description: 'A time of the day. A database may hold one below 0 or beyond 24 hours, which no request may set.'
      }
    }
    case 'double':
      return { type: 'number', format: 'double', ...boundKeywords(property) }
    case 'enum':
      return { type: 'string', enum: property.words }
    case 'set':
      return { type: 'array', items: { type: 'string', enum: property.words }, uniqueItems: true }
    case 'json':
      return {}
    case 'binary':
      return {
        type: 'string',
        contentEncoding: 'base64',
        ...(maxLength > 0 ? { description: `${binarySize(property)} in padded standard base64.` } : {})
      }
    case 'base64url':
      return {
        type: 'string',
        contentEncoding: 'base64url',
        pattern: '^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$',
        description: `${maxLength > 0 ? `${binarySize(property)} in` : 'Bytes in'} base64url without padding.`
      }
    case 'guid':
      return { type: 'string', format: 'uuid' }
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64' }
    default:
      return { type: 'string', ...(minLength > 0 ? { minLength } : {}), ...(maxLength > 0 ? { maxLength } : {}) }
  }
}

/** Numbers beyond 32 signed bits have no format of their own. */
function boundedInteger(property: Property): object {
  const bounds = { ...INT32, ...boundKeywords(property) }
  return bounds.minimum < INT32.minimum || bounds.maximum > INT32.maximum ? bounds : { format: 'int32', ...bounds }
}

function binarySize({ minLength, maxLength }: Property): string {
  return minLength === maxLength ? `${maxLength} bytes` : `At most ${maxLength} bytes`
}

function longPattern(property: Property): string {
  return `^${signPattern(property)}[0-9]{1,${property.maximum.length > 19 ? 20 : 19}}$`
}

function decimalPattern(property: Property): string {
  const { precision, scale } = property
  // A computed decimal has no column that would bound its digits.
  if (precision === 0) return anyDecimal(property)
  const digits = `^${signPattern(property)}[0-9]{1,${Math.max(1, precision - scale)}}`
  return scale > 0 ? `${digits}\\.[0-9]{${scale}}$` : `${digits}$`
}
