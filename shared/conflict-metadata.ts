import type { DomainError, DomainErrorOptions, ProblemMembers } from './domain-error.js'
import { shortened } from './shortened.js'

/** Room beside the rest of the details (rpc-details.ts), in characters and in bytes of JSON. */
const MAX_TITLE = 100
export const MAX_MEMBERS_BYTES = 512

type Conflict = Pick<DomainErrorOptions, 'guarded' | 'title' | 'members'>

/** What is particular of a conflict, as ErrorInfo metadata: `guarded`, `title`, and `members` as JSON. */
export function conflictMetadata({ guarded, title, members }: DomainError): Readonly<Record<string, string>> {
  const json = JSON.stringify(members)
  const fits = json !== '{}' && Buffer.byteLength(json) <= MAX_MEMBERS_BYTES
  return {
    ...(guarded ? { guarded: 'true' } : {}),
    ...(title === undefined ? {} : { title: shortened(title, MAX_TITLE) }),
    ...(fits ? { members: json } : {})
  }
}

export function conflictOf(metadata: Readonly<Record<string, string>>): Conflict {
  const { guarded, title, members } = metadata
  return {
    ...(guarded === 'true' ? { guarded: true } : {}),
    ...(title === undefined ? {} : { title }),
    ...(members === undefined ? {} : { members: parseMembers(members) })
  }
}

function parseMembers(json: string): ProblemMembers {
  try {
    const parsed: unknown = JSON.parse(json)
    if (typeof parsed !== 'object' || parsed === null) return {}
    return Object.fromEntries(Object.entries(parsed).filter((entry): entry is [string, string] => isPlain(entry[1])))
  } catch {
    return {}
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
