import type { Caller } from '../entity/caller.js'
import type { OwnershipPolicy } from './authorize.js'
import type { Catalogue } from './catalogue.js'
import type { Planned } from './plans.js'
import { type Violations, quoted } from './violations.js'

/** What the planning functions work with: the catalogue and the limits of this service. */
export interface Planning {
  readonly catalogue: Catalogue
  readonly ownership: OwnershipPolicy
  readonly maxPageSize: number
  readonly maxExportRows: number
}

/** Unpaginated rows of any request (source.md, limits). */
export const UNPAGED_LIMIT = 1000

/** One call's inputs besides its request. */
export interface PlanningCall {
  readonly planning: Planning
  readonly caller: Caller
}

export interface Unplaced {
  readonly parameters: readonly string[]
}

/** What the transport could not place is refused with everything else. */
export function refuseUnplaced(unplaced: Unplaced | null, violations: Violations): void {
  for (const parameter of unplaced?.parameters ?? []) {
    violations.add('parameter.unknown', parameter, `${quoted(parameter)} is no parameter of this request.`)
  }
}

/** The only maker of plans: called by the planning functions of this folder, each with a scope from readableRows. */
export function planned<Shape>(shape: Shape): Planned<Shape> {
  // The brand exists in the types alone.
  return shape as Planned<Shape>
}
