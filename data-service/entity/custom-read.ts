import type { ReadAccess } from './access.js'
import type { Column, NameOfType, OpenNameOfType, Operand, ValueOf, VisibleName } from './field.js'

interface ReadOf<F> {
  /** One sentence for people. */
  readonly description: string
  /** Default: the access of `list`. */
  readonly access?: ReadAccess<OpenNameOfType<F, 'int' | 'long'>, F> | undefined
  /** The id is the last sort key unless it is named here. */
  readonly sort?: readonly VisibleName<F>[]
  /** Only rows with these values are shown. */
  readonly where?: {
    readonly [K in NameOfType<F, 'string' | 'bool' | 'int'>]?: NonNullable<ValueOf<F[K]>>
  }
}

/** A custom read in an entity file, `GET /{resource}/{name}`: an array of at most 1000 values or objects. */
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
  /** Whether an item is the value of its one column and no object. */
  readonly bare: boolean
  readonly sort: readonly Column[]
  readonly where: readonly { readonly column: Column; readonly value: Operand }[]
}

/** A custom read of an entity file without the types of its names. */
export interface UntypedCustomRead {
  readonly description: string
  readonly access?: ReadAccess | undefined
  readonly sort?: readonly string[]
  readonly where?: Readonly<Record<string, Operand | undefined>>
  readonly item?: string
  readonly items?: readonly string[]
}

export function resolveCustomRead(
  name: string,
  definition: UntypedCustomRead,
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
