/** A secret as only the key-encryption key can read it. */
export interface WrappedSecret {
  /** Names the key that wrapped it, its version included. */
  readonly by: string
  readonly bytes: Buffer
}

/** The key-encryption key: it never leaves where it is, which may refuse or be out of reach at any time. */
export interface KeyEncryption {
  /** For the log, without secrets. */
  readonly place: string
  wrap(secret: Buffer): Promise<WrappedSecret>
  unwrap(wrapped: WrappedSecret): Promise<Buffer>
  /** Whether it is this key, in whatever version, that has wrapped a secret. */
  hasWrapped(wrapped: WrappedSecret): boolean
}
