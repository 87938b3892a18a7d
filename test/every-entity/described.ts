import type { Entity } from '../../data-service/entity/entity.js'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Property__Output } from '../../shared/gen/entity/v1/Property.js'
import type { Resource__Output } from '../../shared/gen/entity/v1/Resource.js'
import { isFailure } from '../stack/grpc-caller.js'
import type { WireType } from '../oracle/resource.js'
import { ADMIN, type Caller } from './caller.js'
import type { EveryStore } from './every-store.js'

/** A property as the service tells it, its type one that filters know; `rowVersion` is text then. */
export type Described = Omit<Property__Output, 'type'> & { readonly type: WireType }

/** The catalogue as a client gets it. */
export async function describedResources(store: EveryStore, caller: Caller): Promise<readonly Resource__Output[]> {
  const token = store.tokenOf(caller)
  const answer = await store.rpc.unary('Describe', {}, token === undefined ? {} : { token })
  if (isFailure(answer)) throw new Error(answer.message)
  return (answer as DescribeResponse__Output).resources // of the proto
}

/** The properties of one resource, as the bypass role sees them. */
export async function describedResource(store: EveryStore, { name }: Entity): Promise<readonly Described[]> {
  const resource = (await describedResources(store, ADMIN)).find((one) => one.name === name)
  if (resource === undefined) throw new Error(`Describe lacks ${name}`)
  return resource.properties.map((property) => ({ ...property, type: wireType(property.type) }))
}

const TYPES: readonly string[] = ['string', 'bool', 'int', 'long', 'decimal', 'dateTime', 'guid'] satisfies WireType[]

function wireType(type: string): WireType {
  const known = TYPES.includes(type) ? type : 'string'
  return known as WireType // one of TYPES
}
