import { DomainError, type Fault } from '../../shared/domain-error.js'

/** A JSON object out of the bytes of a body. Throws `body.malformed`, or `body.invalid` for any other JSON. */
export function jsonMembers(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = parse(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new DomainError('body.invalid', 'The body must be a JSON object.', {
    faults: [bodyFault('', 'The body must be a JSON object.')]
  })
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // Without its cause: what V8 says of bad JSON quotes it, and this body may hold a password.
    throw new DomainError('body.malformed', 'The body is not well-formed JSON.')
  }
}

/** `pointer` is a JSON pointer. */
export function bodyFault(pointer: string, detail: string): Fault {
  return { code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }
}
