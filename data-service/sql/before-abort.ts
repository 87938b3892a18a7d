/** The work's outcome, or a rejection with the signal's reason as soon as that is aborted; the work itself goes on. */
export function beforeAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const settled = (): void => signal.removeEventListener('abort', abort)
    work.then(
      (result) => {
        settled()
        resolve(result)
      },
      (error: unknown) => {
        settled()
        reject(error)
      }
    )
  })
}
