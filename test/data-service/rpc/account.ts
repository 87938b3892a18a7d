import type { Caller } from '../../../data-service/entity/caller.js'

/** Somebody with a token, who has no rights. */
export const account = (subject: string): Caller => ({
  kind: 'authenticated',
  claims: {},
  issuer: 'test',
  subject,
  roles: [],
  permissions: new Set(),
  owner: null
})

/** For shares whose memory is not what a test is about. */
export const ENOUGH_MEMORY = { check: () => undefined }
