import type { ReadAccess } from './access.js'
import type { NamedValues } from './action.js'
import type { Column } from './fields/columns.js'
import type { Field, ComparableType, Operand } from './fields/field.js'
import type { NameOfType, OpenNameOfType, RowOf, ValueOf, VisibleName } from './fields/rows.js'
import type { RowsCall, RowsWanted } from './row-predicate.js'

interface ReadOf<F> {
  /** One sentence for people. */
  readonly description: string
  /** Default: the access of `list`. */
  readonly access?: ReadAccess<OpenNameOfType<F, 'int' | 'long'>, F>
  /** The id is the last sort key unless it is named here. */
  readonly sort?: readonly VisibleName<F>[]
}

type ItemsOf<F> =
  | { readonly item: VisibleName<F>; readonly items?: never }
  | { readonly items: readonly [VisibleName<F>, ...VisibleName<F>[]]; readonly item?: never }

/** A custom read in an entity file, `GET /{resource}/{name}`: an array of at most 1000 values or objects. */
type CustomReadDefinition<F> = ReadOf<F> &
  ItemsOf<F> & {
    readonly params?: never
    /** Only rows with these values are shown. */
    readonly where?: {
      readonly [K in NameOfType<F, 'string' | 'bool' | 'int'>]?: NonNullable<ValueOf<F[K]>>
    }
  }

/** Parameters of a request in the words of fields, without those that only columns have. */
export type ParamFields = Readonly<Record<string, Field<ComparableType, false, boolean, 'always', undefined>>>

/** A custom read with parameters. `P` are the parameters. */
type ReadWithParams<F, P extends ParamFields> = ReadOf<F> &
  ItemsOf<F> & {
    /**
     * Query parameters by name (over gRPC a map): required, unless they are `optional(…)` or have a default. A value that
     * the field does not take is 400.
     */
    readonly params: P
    /** The rows that the parameters ask for, in the words of row scopes. The access of the read narrows them further. */
    readonly where?: (call: ReadCall<F, P>) => RowsWanted
    /** The parameter that says how many items are answered at most; its `max` is 1000 or less. */
    readonly limit?: NameOfType<P, 'int'>
  }

/** What `where` of a custom read gets. An optional parameter that was not sent is null. */
interface ReadCall<F, P> extends Pick<RowsCall<F, never>, 'where' | 'anyOf' | 'allOf'> {
  readonly params: RowOf<P>
}

/** Ties the types of parameters and condition of one read together. */
export type DefineRead<F> = <const P extends ParamFields>(definition: ReadWithParams<F, P>) => DefinedRead

declare const definedRead: unique symbol

/** A custom read with parameters, which only the function `read` makes. */
interface DefinedRead {
  readonly [definedRead]: true
}

export type CustomReads<F> =
  | Readonly<Record<string, CustomReadDefinition<F>>>
  | ((read: DefineRead<F>) => Readonly<Record<string, CustomReadDefinition<F> | DefinedRead>>)

/** The function that `customReads` of an entity file is called with. The types hold: `where` gets the parameters' values. */
export const defineRead: DefineRead<object> = (definition) => definition as unknown as DefinedRead

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
  /** In the order of the entity file. */
  readonly params: readonly Column[]
  /** The rows that the values of the parameters ask for. */
  readonly rows: ((call: UntypedReadCall) => RowsWanted) | undefined
  /** The parameter that says how many items are answered at most. */
  readonly limit: string | undefined
}

/** What a predicate gets, without the types of names. */
interface UntypedReadCall extends Pick<RowsCall<never, never>, 'anyOf' | 'allOf'> {
  readonly where: (property: string, operator: string, ...operands: readonly unknown[]) => RowsWanted
  readonly params: NamedValues
}

/** A custom read of an entity file without the types of its names. */
export interface UntypedCustomRead {
  readonly description: string
  readonly access?: ReadAccess | undefined
  readonly sort?: readonly string[]
  readonly where?: Readonly<Record<string, Operand | undefined>> | ((call: UntypedReadCall) => RowsWanted)
  readonly item?: string
  readonly items?: readonly string[]
  readonly params?: Readonly<Record<string, Field>>
  readonly limit?: string
}

export function resolveCustomRead(
  name: string,
  definition: UntypedCustomRead,
  of: {
    readonly listAccess: ReadAccess
    readonly column: (name: string) => Column
    readonly columnOf: (name: string, field: Field) => Column
  }
): CustomRead {
  const {
    description,
    access = of.listAccess,
    sort = [],
    where = {},
    item,
    items = [],
    params = {},
    limit
  } = definition
  const values = typeof where === 'function' ? {} : where
  return {
    name,
    description,
    access,
    items: (item === undefined ? items : [item]).map(of.column),
    bare: item !== undefined,
    sort: sort.map(of.column),
    where: Object.entries(values).flatMap(([property, value]) =>
      value === undefined ? [] : [{ column: of.column(property), value }]
    ),
    params: Object.entries(params).map(([param, field]) => of.columnOf(param, field)),
    rows: typeof where === 'function' ? where : undefined,
    limit
  }
}
