import { asRowVersion, type RowVersion } from '../entity/row-version.js'
import { DomainError } from '../../shared/domain-error.js'
import type { ExpectedVersions } from './write-plan.js'

/** What the transport found of If-Match, decoded; the kinds are those of the proto. */
export type PreconditionFound = { readonly kind: string; readonly versions: readonly Uint8Array[] } | null

/** The versions a guarded write expects; throws `precondition.required` or `precondition.malformed`. */
export function requiredVersions(found: PreconditionFound): ExpectedVersions {
  const versions = optionalVersions(found)
  if (versions !== 'unconditional') return versions
  throw new DomainError(
    'precondition.required',
    'This needs If-Match with the ETag that the row was last read with; `*` is not enough.',
    { faults: [{ code: 'precondition.required', detail: 'If-Match is missing.', place: HEADER }] }
  )
}

/** As requiredVersions, for a write that may go without: `*` then asks no more than that the row exists. */
export function optionalVersions(found: PreconditionFound): ExpectedVersions | 'unconditional' {
  const { kind, versions } = found ?? { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
  if (kind === 'PRECONDITION_KIND_ANY') return 'unconditional'
  // Versions without their kind are a guard that its caller forgot to name, not one to do without.
  if (kind === 'PRECONDITION_KIND_UNSPECIFIED' && versions.length === 0) return 'unconditional'
  const [first, ...others] = kind === 'PRECONDITION_KIND_TAGS' ? versions.map(asRowVersion) : []
  if (first === undefined || !others.every((version): version is RowVersion => version !== undefined)) {
    const detail = 'If-Match must be entity tags as in ETag: W/"<base64>", in double quotes, with commas between them.'
    throw new DomainError('precondition.malformed', detail, {
      faults: [{ code: 'precondition.malformed', detail, place: HEADER }]
    })
  }
  return [first, ...others]
}

const HEADER = { in: 'header', name: 'If-Match' } as const
