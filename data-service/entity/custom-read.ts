import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ListRequest__Output } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest__Output } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest__Output } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { ReadRequest__Output } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { ReadAccess } from './access.js'
import type { CallContext } from './caller.js'
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

/**
 * One read or write in an entity's own way. `standard` is the operation as every entity has it, access rules included:
 * call it with the request or a changed one, and answer what it answers or something made of it. An override that never
 * calls it takes the access rules upon itself.
 */
export type Override<Request, Response> = (
  context: CallContext,
  request: Request,
  standard: (request: Request) => Response
) => Response

export interface Overrides {
  readonly list?: Override<ListRequest__Output, Promise<ListResponse>>
  readonly paged?: Override<PageRequest__Output, Promise<PageResponse>>
  readonly lookup?: Override<LookupRequest__Output, Promise<LookupResponse>>
  readonly get?: Override<GetRequest__Output, Promise<GetResponse>>
  readonly export?: Override<ExportRequest__Output, AsyncIterable<ExportResponse>>
  /** All custom reads. */
  readonly read?: Override<ReadRequest__Output, Promise<ReadResponse>>
  readonly create?: Override<CreateRequest__Output, Promise<CreateResponse>>
  readonly update?: Override<UpdateRequest__Output, Promise<UpdateResponse>>
  readonly delete?: Override<DeleteRequest__Output, Promise<DeleteResponse>>
  readonly act?: Override<ActRequest__Output, Promise<ActResponse>>
}
