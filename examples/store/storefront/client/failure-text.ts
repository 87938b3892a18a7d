import { ApiFailure } from './api-failure.js'

/** A text for people about what went wrong. */
export function failureText(error: unknown): string {
  if (!(error instanceof ApiFailure)) return 'The store cannot be reached at the moment. Try again soon.'
  if (error.status === 412) return 'This was changed meanwhile. Here it is as it is now; please try again.'
  if (error.status === 429) return `Too many tries. Try again in ${waitingTime(error.retryAfter)}.`
  if (error.status >= 500) return 'The store cannot be reached at the moment. Try again soon.'
  return error.message
}

function waitingTime(seconds = 60): string {
  if (seconds < 100) return `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}
