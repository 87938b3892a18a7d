import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'

const text = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')

/** The text of each block whose name is indented by so much, by its name. Files of YAML need no more reading here. */
function blocks(lines: string, indent: string): Map<string, string> {
  const parts = lines.split(new RegExp(`^${indent}(?=[\\w-]+:)`, 'm')).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf(':')), part]))
}

/** The text of each service of a file, with that of the anchors that it merges. */
function servicesOf(file: string): ReadonlyMap<string, string> {
  const top = blocks(text(file), '')
  const services = blocks(top.get('services') ?? '', '  ')
  const anchors = new Map<string, string>()
  for (const part of [...top.values(), ...services.values()]) {
    const [, name] = /^[\w-]+: &([\w-]+)/.exec(part) ?? []
    if (name !== undefined) anchors.set(name, part)
  }
  const merged = (part: string): string =>
    part +
    Array.from(part.matchAll(/^ +<<: \*([\w-]+)$/gm), ([, name = '']) => merged(anchors.get(name) ?? '')).join('')
  return new Map([...services].map(([name, part]) => [name, merged(part)]))
}

/** Services that another file of the same deployment has said all this of. */
const SAID_BEFORE: Readonly<Record<string, readonly string[]>> = { 'docker-compose.galera.yml': ['keys', 'database'] }

const WITH_CAPABILITIES: Readonly<Record<string, string>> = {
  keys: 'CHOWN, DAC_OVERRIDE',
  database: 'CHOWN, DAC_OVERRIDE, SETGID, SETUID',
  'database-2': 'CHOWN, DAC_OVERRIDE, SETGID, SETUID',
  'database-3': 'CHOWN, DAC_OVERRIDE, SETGID, SETUID',
  // The program of Caddy has this capability in its file, and does not start where it cannot have it.
  proxy: 'NET_BIND_SERVICE'
}

describe('the compose files', () => {
  for (const file of ['docker-compose.yml', 'docker-compose.galera.yml', 'cli/template/docker-compose.yml']) {
    it(`${file} bounds the memory, the processes and the capabilities of every container`, () => {
      const services = [...servicesOf(file)].filter(([name]) => SAID_BEFORE[file]?.includes(name) !== true)
      expect(services).to.not.have.length(0)
      for (const [name, service] of services) {
        expect(service, name).to.match(/^ +mem_limit: \d+[mg]$/m)
        expect(service, name).to.match(/^ +pids_limit: \d+$/m)
        expect(service, name).to.match(/^ +security_opt: \['no-new-privileges:true'\]$/m)
        expect(service, name).to.match(/^ +cap_drop: \[ALL\]$/m)
        const [, added] = /^ +cap_add: \[(.*)\]$/m.exec(service) ?? []
        expect(added, name).to.equal(WITH_CAPABILITIES[name])
      }
    })
  }
})
