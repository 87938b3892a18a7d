import type { Authenticated } from '../auth/caller.js'
import type { OwnerFilter } from '../entity/owner-filter.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import { anotherOwner, bypasses, noOwner, type OwnershipPolicy } from './ownership.js'
import { RANGES } from './parse-value.js'

/** Where a request may name an owner, besides the id of its route; a member of its body does not count. */
export interface OwnerTexts {
  /** Of the query; several are their values joined by commas. */
  readonly ownerParameter?: string
}

/** The owner that a request named; `malformed` is no integer, and only the bypass role gets that far. */
export type NamedOwner = bigint | 'malformed' | undefined

const DIGITS = /^-?\d{1,100}$/

/** The owner filter of source.md before a route of the resource. Throws `ownership.denied` and `configuration`. */
export function passOwnerFilter(
  request: {
    readonly resource: Resource
    readonly route: string
    readonly texts: OwnerTexts
    /** Of the route, where it has one. */
    readonly id: string | undefined
  },
  caller: Authenticated,
  policy: OwnershipPolicy
): NamedOwner {
  const { resource, route, texts, id } = request
  const filter = resource.entity.ownerFilter
  if (filter === undefined || !filter.routes.has(route)) return undefined
  const parameter = ownerParameter(filter, policy)
  const owner = namedOwner(isRouteId(parameter) ? (id ?? texts.ownerParameter) : texts.ownerParameter)
  if (bypasses(caller, policy)) return owner
  if (caller.owner === null) throw noOwner()
  if (owner === undefined && filter.routes.get(route) !== undefined) return undefined
  if (owner === undefined || owner === 'malformed') throw unresolved(parameter)
  if (owner !== caller.owner) throw anotherOwner()
  return owner
}

/** Name of the parameter that a filter compares to the owner claim. */
export function ownerParameter({ parameter }: OwnerFilter, { parameterName }: OwnershipPolicy): string {
  return parameter ?? parameterName
}

/** Whether the parameter is the id of the route, where the route has one. */
export function isRouteId(parameter: string): boolean {
  return parameter.toLowerCase() === 'id'
}

function namedOwner(text: string | undefined): NamedOwner {
  if (text === undefined) return undefined
  const owner = DIGITS.test(text) ? BigInt(text) : undefined
  return owner === undefined || owner < RANGES.long.min || owner > RANGES.long.max ? 'malformed' : owner
}

function unresolved(parameter: string): DomainError {
  return new DomainError(
    'ownership.denied',
    `This needs ${parameter}, the owner that the access token names, in digits.`
  )
}
