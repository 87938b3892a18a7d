import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageRoot } from '../harness/package-root.js'
import { findProgram } from '../runner/programs.js'

/** HAProxy as docker-compose.yml runs it, in front of gateways of this machine. */
export interface Balancer {
  /** How often it has found that a gateway can be used again. */
  found(gateway: string): number
  /** Resolves when it has found a gateway more often than `before` times. Rejects with its log if it ends. */
  finds(gateway: string, before: number): Promise<void>
  stop(): Promise<void>
}

interface BalancerOptions {
  /** The port of 127.0.0.1 that it listens on. */
  readonly port: number
  /** The ports of the gateways by their names in the configuration. */
  readonly gateways: ReadonlyMap<string, number>
}

/** Starts it once the gateways listen. */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'balancer-'))
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration(options))
  const child = spawn(findProgram('haproxy') ?? 'haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      for (const watch of watchers) watch()
    })
  }
  const ended = once(child, 'close')
  const found = (gateway: string): number => lines.filter((line) => line.includes(`/${gateway} is UP`)).length
  return {
    found,
    finds: (gateway, before) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (found(gateway) <= before) return
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
        const tooLate = (): void => reject(new Error(`The balancer ended.\n${lines.join('\n')}`))
        ended.then(tooLate, reject)
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Sections of tools/compose/haproxy.cfg that need names of containers or the certificate. */
const OF_CONTAINERS = /^(?:resolvers docker|frontend https)\n/

/** tools/compose/haproxy.cfg with other addresses. Throws where one of them is not found, since the file has changed. */
function configuration({ port, gateways }: BalancerOptions): string {
  const sections = readFileSync(join(packageRoot, 'tools/compose/haproxy.cfg'), 'utf8').split(/^(?=[a-z])/m)
  const kept = sections.filter((section) => !OF_CONTAINERS.test(section)).join('')
  const changes = [
    ['bind :8080', `bind 127.0.0.1:${port}`],
    [' resolvers docker init-addr libc,none', ''],
    ...Array.from(gateways, ([name, at]) => [`server ${name} ${name}:3000`, `server ${name} 127.0.0.1:${at}`] as const)
  ] as const
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`tools/compose/haproxy.cfg has no ${JSON.stringify(from)}`)
    return text.replace(from, to)
  }, kept)
}
