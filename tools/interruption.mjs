const INTERVAL_MS = 500

/**
 * Resolves when this command is to end: on Ctrl-C, on SIGTERM or SIGHUP, or when the npm that runs it is gone, killed
 * without a chance to tell. Later signals change nothing: stopping is under way.
 *
 * @returns {Promise<void>}
 */
export function interruption() {
  return new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => resolve())
    if (process.env['npm_lifecycle_event'] === undefined) return
    const npm = process.ppid
    const timer = setInterval(() => process.ppid === npm || resolve(), INTERVAL_MS)
    timer.unref()
  })
}
