import { checkOptions, definitionWords } from './definition-words.js'
import type { Column } from './columns.js'
import type { Field, FieldType } from './field.js'
import type { ValueOf } from './rows.js'
import { snakeCase } from './names.js'

/** A value in a body, an answer or a query, in the words of fields, without those that only columns have. */
type ShapeField = Field<FieldType, false, boolean, 'always', undefined>

/** The members of a JSON object in the words of fields, `{ warehouseId: int(), lines: list({ … }) }`. */
export interface Shape {
  readonly [member: string]: ShapeField | ListOf | ObjectOf
}

/** An array of values or of objects. */
interface ListOf<Item extends ShapeField | Shape = ShapeField | Shape> {
  readonly kind: 'list'
  readonly item: Item
  readonly min: number
  readonly max: number
}

/** An object inside of another. */
interface ObjectOf<Members extends Shape = Shape> {
  readonly kind: 'object'
  readonly members: Members
}

/** What the list of an answer or a body holds at most where nothing else is said. */
const DEFAULT_MAX = 1000

interface ListOptions {
  readonly min?: number
  readonly max?: number
}

const LIST_OPTIONS = definitionWords<ListOptions>({ min: 'number', max: 'number' })

/** An array of values, `list(int())`, or of objects, `list({ productId: int() })`, of 0 to 1000 unless it says otherwise. */
export const list = <const Item extends ShapeField | Shape>(item: Item, options: ListOptions = {}): ListOf<Item> => {
  checkOptions('list', options, LIST_OPTIONS)
  const { min = 0, max = DEFAULT_MAX } = options
  return { kind: 'list', item, min, max }
}

/** An object as a member of another: `object({ city: text(100) })`. */
export const object = <const Members extends Shape>(members: Members): ObjectOf<Members> => ({
  kind: 'object',
  members
})

/** What an operation answers: an object, or an array. */
export type AnswerShape = Shape | ListOf

/** The value of a member or an item, as handlers get and answer it. */
type ValueOfMember<One> = One extends { readonly writability: 'always' }
  ? ValueOf<One>
  : One extends ListOf<infer Item>
    ? readonly ValueOfMember<Item>[]
    : One extends ObjectOf<infer Members>
      ? ValueOfShape<Members>
      : ValueOfShape<One>

/** The value of an object or an array. */
export type ValueOfShape<S> = S extends ListOf ? ValueOfMember<S> : { readonly [K in keyof S]: ValueOfMember<S[K]> }

/** A shape with its parts told apart, as the service works with it. */
export type ResolvedShape = { readonly kind: 'object'; readonly members: readonly ResolvedMember[] } | ResolvedList

/** Items are objects, or values of a field. */
interface ResolvedList {
  readonly kind: 'list'
  readonly item: ResolvedShape | Field
  readonly min: number
  readonly max: number
}

/** A member that is a value is a column without a table: what reads bodies of rows reads it too. */
export type ResolvedMember =
  | { readonly kind: 'value'; readonly column: Column }
  | { readonly kind: 'nested'; readonly name: string; readonly shape: ResolvedShape }

export function resolveShape(shape: AnswerShape): ResolvedShape {
  if (isList(shape)) {
    const { item, min, max } = shape
    return { kind: 'list', item: isField(item) ? item : resolveShape(item), min, max }
  }
  return {
    kind: 'object',
    members: Object.entries(shape).map(([name, member]): ResolvedMember => {
      if (isField(member)) return { kind: 'value', column: valueColumn(name, member) }
      return { kind: 'nested', name, shape: resolveShape(isList(member) ? member : member.members) }
    })
  }
}

/** A value of a request or an answer that no table holds. */
export function valueColumn(name: string, field: Field): Column {
  return { name, column: snakeCase(name), field }
}

/** A shape may have a member named `type`, but that member is an object. */
function isField(one: ShapeField | Shape | ListOf | ObjectOf): one is ShapeField {
  return 'type' in one && typeof one.type === 'string'
}

function isList(one: ShapeField | Shape | ListOf | ObjectOf): one is ListOf {
  return 'kind' in one && one.kind === 'list'
}
