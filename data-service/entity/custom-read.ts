import type { ReadAccess } from './access.js'
import type { Column, NameOfType, Operand, ValueOf, VisibleName } from './field.js'

interface ReadOf<F> {
  /** One sentence for people. */
  readonly description: string
  /** Default: that of `list`. */
  readonly access?: ReadAccess<NameOfType<F, 'int' | 'long'>> | undefined
  /** The id comes last, wherever it is not among them. */
  readonly sort?: readonly VisibleName<F>[]
  /** Rows with these values alone. */
  readonly where?: {
    readonly [K in NameOfType<F, 'string' | 'bool' | 'int'>]?: NonNullable<ValueOf<F[K]>>
  }
}

/** A read of a resource's own, `GET /{resource}/{name}`: an array of at most 1000 values, or of objects. */
export type CustomReadDefinition<F> = ReadOf<F> &
  (
    | { readonly item: VisibleName<F>; readonly items?: never }
    | { readonly items: readonly [VisibleName<F>, ...VisibleName<F>[]]; readonly item?: never }
  )

/** A custom read as the service works with it. */
export interface CustomRead {
  /** kebab-case. */
  readonly name: string
  readonly description: string
  readonly access: ReadAccess
  /** What an item shows. */
  readonly items: readonly Column[]
  /** Whether an item is the one column's value itself. */
  readonly bare: boolean
  readonly sort: readonly Column[]
  readonly where: readonly { readonly column: Column; readonly value: Operand }[]
}

/** A custom read of an entity file, its types forgotten. */
export interface ErasedCustomRead {
  readonly description: string
  readonly access?: ReadAccess | undefined
  readonly sort?: readonly string[]
  readonly where?: Readonly<Record<string, Operand | undefined>>
  readonly item?: string
  readonly items?: readonly string[]
}

export function resolveCustomRead(
  name: string,
  definition: ErasedCustomRead,
  of: { readonly listAccess: ReadAccess; readonly column: (name: string) => Column }
): CustomRead {
  const { description, access = of.listAccess, sort = [], where = {}, item, items = [] } = definition
  return {
    name,
    description,
    access,
    items: (item === undefined ? items : [item]).map(of.column),
    bare: item !== undefined,
    sort: sort.map(of.column),
    where: Object.entries(where).flatMap(([property, value]) =>
      value === undefined ? [] : [{ column: of.column(property), value }]
    )
  }
}
