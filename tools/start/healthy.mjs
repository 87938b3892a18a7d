import { setTimeout as pause } from 'node:timers/promises'

const INTERVAL_MS = 50

/**
 * Resolves when `GET <base>/health` answers 200, which the gateway does once it serves. Rejects when the signal aborts.
 *
 * @param {() => string | undefined} base undefined while the port is not known yet
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the base
 */
export async function healthy(base, signal) {
  for (;;) {
    const url = base()
    if (url !== undefined && (await answers(`${url}/health`, signal))) return url
    await pause(INTERVAL_MS, undefined, { signal })
  }
}

/**
 * @param {string} url
 * @param {AbortSignal} signal
 */
async function answers(url, signal) {
  try {
    const response = await fetch(url, { signal })
    await response.arrayBuffer()
    return response.ok
  } catch {
    signal.throwIfAborted()
    return false
  }
}
