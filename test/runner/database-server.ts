/** A MySQL or MariaDB server that tests may make databases on. */
export interface DatabaseServer {
  /** `mysql://user:password@host:port` with all rights. */
  readonly url: string
  /** For people: which server it is. */
  readonly description: string
  stop(): Promise<void>
}
