import { Failure } from '../failure.mjs'

const OLDEST = /** @type {const} */ ([20, 19])

/** Refuses a Node that is too old, in words, before anything else can fail on it. */
export function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new Failure(
    `Node ${OLDEST.join('.')} or later is needed; this is ${process.versions.node} (${process.execPath}).`
  )
}
