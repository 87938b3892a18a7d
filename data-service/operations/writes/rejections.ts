import { DomainError } from '../../../shared/errors.js'
import { MAX_MEMBERS_BYTES } from '../../../shared/transport/rpc-status.js'
import type { Rejection } from '../../entity/action.js'
import { notFound } from '../reads.js'

/** The error for a rejection by a rule of the entity. */
export function rejectionError(rejection: Rejection): DomainError {
  switch (rejection.rejection) {
    case 'forbidden':
      return new DomainError('ownership.denied', rejection.detail)
    case 'notFound':
      return notFound()
    case 'state':
      return new DomainError('state.invalid', rejection.detail)
    case 'input': {
      const { detail, pointer } = rejection
      return new DomainError('body.invalid', detail, {
        violations: [{ code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }]
      })
    }
    case 'conflict':
      if (Buffer.byteLength(JSON.stringify(rejection.members)) > MAX_MEMBERS_BYTES) {
        throw new TypeError(`the members of a conflict have more than ${MAX_MEMBERS_BYTES} bytes`)
      }
      return new DomainError('conflict', rejection.detail, { title: rejection.title, members: rejection.members })
  }
}

/** Throws the error of one row of a batch, with the row's place in the body. */
export function throwAt(index: number, error: unknown): never {
  if (!(error instanceof DomainError) || error.code === 'conflict') throw error
  const { code, message, cause, violations } = error
  const moved = violations.map((one) =>
    one.place.in === 'pointer' ? { ...one, place: { in: 'pointer', name: `/${index}${one.place.name}` } as const } : one
  )
  throw new DomainError(code, `Row ${index}, counted from 0: ${message}`, { violations: moved, cause })
}
