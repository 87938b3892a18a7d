/** A call as its transport hands it over: everything the interceptors judge, nothing of the transport's own. */
export interface IncomingCall {
  /** Every value of `authorization` metadata. */
  readonly authorization: readonly string[]
  readonly requestId: string | undefined
  /** IP address of whoever opened the connection; undefined where there is none, as on a Unix socket. */
  readonly peerAddress: string | undefined
  /** What the other end says is the IP address of its client. */
  readonly clientAddress: string | undefined
  /** Every value of the metadata that gateways send their secret in. */
  readonly gatewaySecrets: readonly string[]
  /** The certificate of the connection's other end in DER, where one was asked for and the authority vouches for it. */
  peerCertificate(): Buffer | undefined
  readonly traceparent: string | undefined
  /** Milliseconds since the epoch; Infinity for none. */
  readonly deadline: number
  /** Aborted by the transport with a DomainError as its reason. */
  readonly signal: AbortSignal
}
