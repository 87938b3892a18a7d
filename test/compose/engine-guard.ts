import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { EngineMessage } from './engine.js'

// This process holds a private dockerd. It lives as long as the channel to its parent is open, so containers, images and
// the daemon are gone in every case: when the parent asks for it, ends, crashes, or is killed. What the daemon changed of
// the machine's network is taken back.

const run = promisify(execFile)
const START_MS = 60_000
const STOP_MS = 30_000
const FORWARDING = '/proc/sys/net/ipv4/ip_forward'
const TABLES = ['filter', 'nat'] as const

// Not in TMPDIR, which the runner of the tests removes: that might be while overlays are still mounted below it.
const folder = await mkdtemp('/var/tmp/uniform-rest-engine-')
const host = `unix://${join(folder, 'docker.sock')}`
const env = { ...process.env, DOCKER_HOST: host }
const parentGone = once(process, 'disconnect')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (process.connected) process.disconnect()
  })
}

const network = await networkBefore()
let daemon: ChildProcess | undefined
try {
  await Promise.race([start(), parentGone])
  tell({ host })
  await parentGone
} catch (error) {
  const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '')
  tell({ error: `${String(error)}\n${log.split('\n').slice(-20).join('\n')}` })
  process.exitCode = 1
} finally {
  await stop()
  await restoreNetwork(network)
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

async function start(): Promise<void> {
  const log = await open(join(folder, 'log'), 'w')
  const own = (name: string): string => join(folder, name)
  daemon = spawn(
    'dockerd',
    [
      `--host=${host}`,
      `--data-root=${own('data')}`,
      `--exec-root=${own('exec')}`,
      `--pidfile=${own('pid')}`,
      `--mtu=${await machineMtu()}`
    ],
    { env, stdio: ['ignore', log.fd, log.fd] }
  )
  const child = daemon
  const ended = once(child, 'exit').then(() => {
    throw new Error(`dockerd ended with code ${child.exitCode}`)
  })
  await log.close()
  const end = AbortSignal.timeout(START_MS)
  const answering = async (): Promise<void> => {
    for (;;) {
      try {
        await run('docker', ['info'], { env, signal: end })
        return
      } catch (error) {
        if (end.aborted) throw error
        await pause(100)
      }
    }
  }
  await Promise.race([answering(), ended])
  ended.catch(() => undefined)
}

/** Removes all containers, which the daemon would leave running, and ends the daemon by its own process id. */
async function stop(): Promise<void> {
  const child = daemon
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    const { stdout } = await run('docker', ['ps', '--all', '--quiet'], { env })
    const ids = stdout.split('\n').filter((id) => id !== '')
    if (ids.length > 0) await run('docker', ['rm', '--force', '--volumes', ...ids], { env })
    await run('docker', ['network', 'prune', '--force'], { env })
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const inTime = await Promise.race([ended.then(() => true), pause(STOP_MS, false, { ref: false })])
    if (!inTime) child.kill('SIGKILL')
    await ended
  }
}

/** The rules of the packet filter and whether the machine forwards packets, before the daemon changes both. */
async function networkBefore(): Promise<{ readonly rules: string; readonly forwarding: string }> {
  const { stdout: rules } = await run('iptables-save')
  return { rules, forwarding: await readFile(FORWARDING, 'utf8') }
}

async function restoreNetwork({ rules, forwarding }: Awaited<ReturnType<typeof networkBefore>>): Promise<void> {
  await run('ip', ['link', 'delete', 'docker0']).catch(() => undefined)
  await writeFile(FORWARDING, forwarding)
  await writeFile(join(folder, 'rules'), rules)
  await run('iptables-restore', [join(folder, 'rules')])
  // A table that had no rule is not in what was saved.
  for (const table of TABLES.filter((name) => !rules.includes(`*${name}\n`))) {
    if (table === 'filter') await run('iptables', ['--policy', 'FORWARD', 'ACCEPT'])
    for (const what of ['--flush', '--delete-chain']) await run('iptables', ['--table', table, what])
  }
}

/** The largest packet of the interface that the default route takes: a build fetches packages through it. */
async function machineMtu(): Promise<number> {
  const routes = (await readFile('/proc/net/route', 'utf8')).split('\n').map((line) => line.split('\t'))
  const [name] = routes.find(([, destination]) => destination === '00000000') ?? []
  return name === undefined ? 1500 : Number(await readFile(`/sys/class/net/${name}/mtu`, 'utf8'))
}

function tell(message: EngineMessage): void {
  if (process.connected) process.send?.(message)
}
