import * as http from 'node:http'
import * as https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

const INTERVAL_MS = 50

/**
 * Resolves when `GET <base>/health` answers 200, which the gateway does once it serves. Rejects when the signal aborts.
 *
 * @param {string} base
 * @param {AbortSignal} signal
 */
export async function healthy(base, signal) {
  while (!(await answers(`${base}/health`, signal))) await pause(INTERVAL_MS, undefined, { signal })
}

/**
 * @param {string} url
 * @param {AbortSignal} signal
 */
async function answers(url, signal) {
  try {
    /** @type {import('node:http').IncomingMessage} */
    const response = await new Promise((resolve, reject) => {
      // Whoever answers at our own gateway's address tells us no secret: its certificate may be for any name.
      const sent = url.startsWith('https:')
        ? https.get(url, { signal, rejectUnauthorized: false }, resolve)
        : http.get(url, { signal }, resolve)
      sent.once('error', reject)
    })
    response.resume()
    return response.statusCode === 200
  } catch {
    signal.throwIfAborted()
    return false
  }
}
