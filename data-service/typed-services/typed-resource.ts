import type { Resource } from '../../shared/gen/entity/v1/Resource.js'
import type { Numbers } from './numbers.js'
import type { RowType } from './rows.js'
import type { FieldSpec } from './schema.js'
import { type Message, scalarText, type ValueType } from './values.js'

/** What the rpcs of one resource are made of. */
export interface ResourceTypes {
  /** Route segment. */
  readonly name: string
  readonly numbers: Numbers
  readonly resource: Resource
  readonly row: RowType
  /** `StockItems` */
  readonly plural: string
  readonly idType: ValueType
}

/** The id as it stands in a path; empty where none was sent, which is no id. */
export function idText({ idType }: ResourceTypes, request: Message): string {
  const { id } = request
  return id === undefined ? '' : idType.toText(id)
}

/** The owner whose rows are asked for, where the resource has an owner filter. */
export function ownerFields({ ownerProperty = '' }: Resource): FieldSpec[] {
  if (ownerProperty === '') return []
  return [{ key: 'owner', type: 'int64', comment: `Whose rows, by ${ownerProperty}; those of the caller without it.` }]
}

export function ownerOf({ owner }: Message): { readonly ownerParameter?: string } {
  return owner === undefined ? {} : { ownerParameter: scalarText(owner) }
}
