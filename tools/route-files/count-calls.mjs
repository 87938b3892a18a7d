import { Session } from 'node:inspector/promises'
import { projectRoot } from '../project-root.mjs'

// Preloaded (`node --import`) into the processes that counted-process.mjs starts over an IPC channel. Any message from
// the parent is answered with the compiled modules, as paths from the project's folder, of which a function was called
// since the message before.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', () => void session.post('Profiler.takePreciseCoverage').then(tell))
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The channel alone must not keep the process alive.
process.channel?.unref()

/** @param {import('node:inspector').Profiler.TakePreciseCoverageReturnType} coverage counts since it was last taken */
function tell({ result }) {
  const root = `file://${projectRoot}/`
  const called = result
    .filter(({ url, functions }) => url.startsWith(root) && functions.some(({ ranges }) => ranges[0]?.count))
    .map(({ url }) => url.slice(root.length))
  process.send?.(called)
}
