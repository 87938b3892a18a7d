import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Preloaded (`node --import`) into the processes of a soak: on SIGUSR2 such a process collects its garbage and logs what
 * memory it has left, and for how long its event loop stood still since it was last asked.
 */
setFlagsFromString('--expose-gc')
// The flag gives new contexts the function; V8's types know nothing of it.
const collect = runInNewContext('gc') as () => void

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()

process.on('SIGUSR2', () => {
  const standstill = { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }
  collect()
  collect()
  process.stdout.write(`${JSON.stringify({ msg: 'memory', ...process.memoryUsage(), ...standstill })}\n`)
  delay.reset()
})
