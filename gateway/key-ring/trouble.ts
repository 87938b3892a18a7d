/** What stands between this process and the shared ring. `foreign`: keys that no retry will open. */
export interface Trouble {
  readonly at: 'store' | 'wrap' | 'unwrap' | 'foreign'
  /** For the log, without secrets. */
  readonly detail: string
}
