/** Who calls, as the data service's own token validation found; nothing here comes from the gateway's word. */
export type Caller = Anonymous | Authenticated

export interface Anonymous {
  readonly kind: 'anonymous'
}

export interface Authenticated {
  readonly kind: 'authenticated'
  /** A caller is issuer and subject together. */
  readonly issuer: string
  readonly subject: string
  readonly roles: readonly string[]
  readonly permissions: ReadonlySet<string>
  /** The owner claim, 64 bits signed; null where it is missing or anything but an integer. */
  readonly owner: bigint | null
}

export const anonymous: Anonymous = { kind: 'anonymous' }
