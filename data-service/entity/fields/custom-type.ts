import type { ComparableType, CustomType, Operand, OperandOfType, PlainField, SchemaKeywords } from './field.js'
import { checkOptions, definitionWords } from './definition-words.js'
import type { OperatorOf } from './operators.js'

/** A field type of an application's own: a currency code, a colour, an IBAN. */
interface CustomTypeDefinition<T extends ComparableType> {
  /** camelCase, `currencyCode`. Describe names it. */
  readonly name: string
  /** The type in the database, in JSON and for the operators: `text(3)`. Its bounds hold too, before and after `parse`. */
  readonly base: PlainField<T>
  /**
   * Gets a value of the base type that a request sent, in a body, a filter or a parameter. Answers it in the form in which
   * it is stored, or undefined if it is not of this type. It must take what it has answered.
   */
  readonly parse: (value: OperandOfType<T>) => OperandOfType<T> | undefined
  /** Completes "must be …" in the 400: `a currency code such as EUR`. */
  readonly expected: string
  /** For the OpenAPI document. */
  readonly schema?: SchemaKeywords
  /** The operators of filterable properties of this type; all of the base type without it. */
  readonly operators?: readonly OperatorOf<T>[]
  /** Some values of the type as they are stored, for documents and for made rows of tests. Unique columns need several. */
  readonly examples: readonly [OperandOfType<T>, ...OperandOfType<T>[]]
}

const CUSTOM_TYPE = definitionWords<CustomTypeDefinition<ComparableType>>({
  name: 'text',
  base: 'object',
  parse: 'function',
  expected: 'text',
  schema: 'object',
  operators: 'list',
  examples: 'list'
})

/**
 * Makes a word for entity files, `const currencyCode = defineFieldType({ … })`, which is used like every other one:
 * `optional(currencyCode())`. The migration of the column is that of the base. `contains`, `starts with` and `ends with`
 * compare with any text, since a part of a value is no value.
 */
export function defineFieldType<T extends ComparableType>(definition: CustomTypeDefinition<T>): () => PlainField<T> {
  checkOptions('defineFieldType', definition, CUSTOM_TYPE)
  const { name, base, parse, expected, schema = {}, operators, examples } = definition
  const custom: CustomType = {
    name,
    // Callers pass values of the base type only.
    parse: (value: Operand) => parse(value as OperandOfType<T>),
    expected,
    schema,
    operators,
    examples
  }
  return () => ({ ...base, custom })
}
