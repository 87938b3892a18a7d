/** What stands between this process and the shared ring. `foreign` and `unwrapped`: keys that no retry will make fit. */
export interface Trouble {
  readonly at: 'store' | 'wrap' | 'unwrap' | 'foreign' | 'unwrapped'
  /** For the log, without secrets. */
  readonly detail: string
}
