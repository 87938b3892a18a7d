import type { Refusal } from '../entity/refuse.js'
import { MAX_MEMBERS_BYTES } from '../../shared/conflict-metadata.js'
import { DomainError } from '../../shared/domain-error.js'

/** An entity's own no as an error. */
export function refused(refusal: Refusal): DomainError {
  const { detail } = refusal
  switch (refusal.refusal) {
    case 'state':
      return new DomainError('state.invalid', detail)
    case 'input':
      return new DomainError('body.invalid', detail, {
        faults: [{ code: 'body.invalid', detail, place: { in: 'pointer', name: refusal.pointer } }]
      })
    case 'conflict':
      if (Buffer.byteLength(JSON.stringify(refusal.members)) > MAX_MEMBERS_BYTES) {
        throw new TypeError(`the members of a conflict have more than ${MAX_MEMBERS_BYTES} bytes`)
      }
      return new DomainError('conflict', detail, { title: refusal.title, members: refusal.members })
  }
}
