import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readlink } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Failure } from '../../test/runner/programs.js'

const run = promisify(execFile)

/** The machine of one node: it has an address that no other node and not this machine has. */
export interface Place {
  readonly host: string
  /** Stands before a program that is to run there. */
  readonly prefix: readonly string[]
}

/** A switch that joins places and this machine. It goes with this process, whatever becomes of that. */
export interface Network {
  readonly places: readonly Place[]
  /** Nothing gets from one of the two places to the other any more, and what is on the way is lost. */
  cut(one: Place, other: Place): Promise<void>
  /** Nothing gets from the place to this machine any more: its clients wait. */
  cutFromClients(place: Place): Promise<void>
  /** Ends all cuts of a place. */
  join(place: Place): Promise<void>
  close(): Promise<void>
}

/** Starts with so many places. It takes root and iproute2. */
export async function startNetwork(size: number): Promise<Network> {
  if (process.getuid?.() !== 0) throw new Failure('The nodes of a cluster in networks of their own take root.')
  // 198.18.0.0/15 is for measurements between networks (RFC 2544), so that nothing else has addresses of it.
  const net = `198.${randomInt(18, 20)}.${randomInt(256)}`
  const here = `${net}.254`
  const holders: ChildProcess[] = []
  const close = async (): Promise<void> => {
    await Promise.all(holders.map(end))
  }
  try {
    const hub = await hold(holders)
    const link = `ur${randomBytes(5).toString('hex')}`
    await inside(hub, ['link', 'add', 'hub', 'type', 'bridge'])
    await inside(hub, ['link', 'set', 'hub', 'up'])
    await ip(['link', 'add', link, 'type', 'veth', 'peer', 'name', 'outside', 'netns', String(hub)])
    await inside(hub, ['link', 'set', 'outside', 'master', 'hub', 'up'])
    await ip(['address', 'add', `${here}/24`, 'dev', link])
    await ip(['link', 'set', link, 'up'])
    const places: (Place & { readonly holder: number })[] = []
    for (let n = 1; n <= size; n++) {
      const holder = await hold(holders)
      const host = `${net}.${n}`
      await inside(hub, ['link', 'add', `node${n}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(holder)])
      await inside(hub, ['link', 'set', `node${n}`, 'master', 'hub', 'up'])
      await inside(holder, ['link', 'set', 'lo', 'up'])
      await inside(holder, ['address', 'add', `${host}/24`, 'dev', 'eth0'])
      await inside(holder, ['link', 'set', 'eth0', 'up'])
      places.push({ host, holder, prefix: ['nsenter', `--target=${holder}`, '--net', '--'] })
    }
    const holderOf = (place: Place): number => places.find(({ host }) => host === place.host)?.holder ?? 0
    // What a place sends to such an address is dropped without a word.
    const drop = (from: Place, to: string) => inside(holderOf(from), ['route', 'replace', 'blackhole', `${to}/32`])
    return {
      places,
      async cut(one, other) {
        await Promise.all([drop(one, other.host), drop(other, one.host)])
      },
      cutFromClients: (place) => drop(place, here),
      async join(place) {
        const others = places.filter(({ host }) => host !== place.host)
        await inside(holderOf(place), ['route', 'flush', 'type', 'blackhole'])
        for (const { holder } of others) {
          // There is none where the two were not cut.
          await inside(holder, ['route', 'del', 'blackhole', `${place.host}/32`]).catch(() => undefined)
        }
      },
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts a process that does nothing but hold a network of its own, until its input ends. Answers its id. */
async function hold(holders: ChildProcess[]): Promise<number> {
  const own = await readlink('/proc/self/ns/net')
  const holder = spawn('unshare', ['--net', 'cat'], { stdio: ['pipe', 'ignore', 'inherit'], detached: true })
  holders.push(holder)
  for (;;) {
    const net = await readlink(`/proc/${holder.pid}/ns/net`).catch(() => own)
    if (net !== own) return holder.pid ?? 0
    if (holder.exitCode !== null) throw new Failure('A network of its own takes root and the right to make one.')
    await pause(5)
  }
}

async function end(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null) return
  const closed = once(holder, 'close')
  holder.stdin?.end()
  await closed
}

async function ip(args: readonly string[]): Promise<void> {
  await run('ip', [...args])
}

async function inside(holder: number, args: readonly string[]): Promise<void> {
  await run('nsenter', [`--target=${holder}`, '--net', '--', 'ip', ...args])
}
