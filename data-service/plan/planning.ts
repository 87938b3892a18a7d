import type { Caller } from '../entity/caller.js'
import type { Catalogue } from './model/catalogue.js'
import type { Planned } from './model/plans.js'
import { quoted, type Violations } from './parsing/violations.js'

/** What planning a request needs besides the request and its caller. Made once, when the service starts. */
export interface Planning {
  readonly catalogue: Catalogue
  readonly ownership: OwnershipPolicy
  /** The largest page; a request for a larger one gets this size. */
  readonly maxPageSize: number
  readonly maxExportRows: number
  /** The resource of the audit entries. undefined: the application has none, and nobody reads the audit trail. */
  readonly auditTrail?: string | undefined
}

export interface OwnershipPolicy {
  /** The role that sees every owner's rows. undefined: every use of an ownership rule is a configuration error. */
  readonly bypassRole: string | undefined
  /** The parameter of owner filters that name none of their own. `id` is the id of the route where it has one. */
  readonly parameterName: string
}

/** What the planning of one call gets besides its request. */
export interface PlanningContext {
  readonly planning: Planning
  readonly caller: Caller
}

/** The most rows of a read without pages (source.md, limits). */
export const UNPAGED_LIMIT = 1000

/** Parameters that the transport found in a request and that its message has no field for. */
export interface UnknownParameters {
  readonly parameters: readonly string[]
}

/** Each unknown parameter is a violation, reported together with all others. `explain` may know better what is wrong with one. */
export function rejectUnknownParameters(
  unknown: UnknownParameters | null,
  violations: Violations,
  explain?: (parameter: string) => string | undefined
): void {
  for (const parameter of unknown?.parameters ?? []) {
    const detail = explain?.(parameter) ?? `${quoted(parameter)} is no parameter of this request.`
    violations.add('parameter.unknown', parameter, detail)
  }
}

/**
 * Marks a plan as made by this folder. Only the planning functions call it. The type of each plan says whether it has
 * to carry a scope: reads, locks and writes do. Three kinds reach every row: the finds of actions (FindPlan and its
 * relatives; what an action shows of them is up to the action), the locks of getAggregate, findReferencing and
 * countReferencing, and what rules and hooks write besides the row of the request (everyRowOfRules).
 */
export function planned<Shape>(shape: Shape): Planned<Shape> {
  // The brand exists in the types only.
  return shape as Planned<Shape>
}
