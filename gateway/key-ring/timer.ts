/** Runs something once, after milliseconds, unless the answered function is called first. */
export type Timer = (milliseconds: number, run: () => void) => () => void

/** Keeps no process alive. */
export const systemTimer: Timer = (milliseconds, run) => {
  const timeout = setTimeout(run, milliseconds).unref()
  return () => clearTimeout(timeout)
}
