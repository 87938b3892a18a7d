import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'
import { type BaseImages, ensureBaseImages } from './base-images.js'
import { type Engine, startEngine } from './engine.js'
import { Load } from './load.js'
import { type ComposeAnswer, ComposeProject } from './project.js'

const EMAIL = 'operator@example.com'
const PASSWORD = 'correct horse battery staple'

export const textOf = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')

/** Every command of docs/deploying.md, by the heading above it. */
export const COMMANDS: ReadonlyMap<string, readonly string[]> = new Map(
  textOf('docs/deploying.md')
    .split(/^## /m)
    .map((section) => [
      section.split('\n', 1)[0] ?? '',
      Array.from(section.matchAll(/^```sh\n(.*?)^```/gms), ([, block = '']) => block.trim().split('\n')).flat()
    ])
)

/** A command of the page as docker-compose 1.29 takes it, and without a terminal. */
export function withoutTerminal(command: string): string {
  return command.replaceAll('docker compose ', 'docker-compose ').replaceAll(' run --rm ', ' run --rm -T ')
}

const began = performance.now()
export function say(what: string): void {
  process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s: ${what}\n`)
}

/** A deployment of docs/deploying.md in containers, which are started and ended by the commands of the page. */
export class Deployment {
  /** The commands of the page that ran. */
  readonly executed = new Set<string>()
  #engine: Engine | undefined
  #images: BaseImages | undefined
  #project: ComposeProject | undefined

  get engine(): Engine {
    if (this.#engine === undefined) throw new Error('The deployment is not started.')
    return this.#engine
  }

  get project(): ComposeProject {
    if (this.#project === undefined) throw new Error('The deployment is not started.')
    return this.#project
  }

  /** Starts what the page has below `heading`, and makes an account and the sample rows. */
  async start(
    heading: string,
    { name, files }: { readonly name: string; readonly files: readonly string[] }
  ): Promise<void> {
    this.#engine = await startEngine()
    say(this.engine.description)
    this.#images = await ensureBaseImages(this.engine)
    say(this.#images.description)
    this.#project = new ComposeProject(this.engine, { name, files, port: await freePort() })
    await this.run(heading)
    say('docker compose up --build')
    await this.project.serving()
    await this.run('An account, and rows', `${PASSWORD}\n`)
    say('an account and the sample rows')
  }

  /** Stops what has been started, and sees that nothing is left of it. */
  async stop(): Promise<void> {
    try {
      if (this.#project !== undefined) {
        await this.run('Stop')
        expect(await this.project.left()).to.deep.equal([])
        say('docker compose down')
      }
    } finally {
      await this.#images?.remove()
      await this.#engine?.stop()
      say('the engine is as it was')
    }
  }

  /** The commands below a heading of the page, which the caller executes. */
  documented(heading: string): readonly string[] {
    const commands = COMMANDS.get(heading) ?? []
    expect(commands, heading).not.to.be.empty
    for (const command of commands) this.executed.add(command)
    return commands
  }

  /** Executes the commands below a heading of the page. */
  async run(heading: string, input = ''): Promise<void> {
    for (const command of this.documented(heading)) await this.project.shell(withoutTerminal(command), input)
  }

  /** The cookies of a log-in, as they are set and as they are sent. */
  async session(): Promise<{ readonly cookies: string; readonly set: readonly string[] }> {
    const body = { email: EMAIL, password: PASSWORD }
    const send = (): Promise<ComposeAnswer> => this.project.send('/auth/login', { method: 'POST', body })
    let answer = await send()
    // A gateway of a busy machine may be too late for a moment, and asks to be called again.
    await this.project.eventually('a log-in is not refused', 60_000, async () => {
      if (answer.status === 503) answer = await send()
      return answer.status !== 503
    })
    expect(answer.status, answer.text).to.equal(200)
    const set = [answer.headers['set-cookie'] ?? []].flat()
    return { set, cookies: set.map((cookie) => cookie.split(';')[0]).join('; ') }
  }

  /** Logs in, and resolves with an access token. */
  async logIn(): Promise<string> {
    const { cookies } = await this.session()
    const answer = await this.project.send('/auth/session/token', { method: 'POST', headers: { cookie: cookies } })
    expect(answer.status, answer.text).to.equal(200)
    return (JSON.parse(answer.text) as { readonly accessToken: string }).accessToken
  }

  /** Resolves when a service does its work again after a start. */
  async works(service: string): Promise<void> {
    const { project } = this
    await project.eventually(`${service} is ready`, 60_000, async () => {
      if (service.startsWith('database')) {
        await project.exec(service, 'healthcheck.sh', '--connect', '--innodb_initialized')
        return true
      }
      if (service === 'balancer') return (await project.send('/health/ready')).status === 200
      if (service === 'shop') return (await project.send('/', { headers: { accept: 'text/html' } })).status === 200
      const ready = `console.log(await fetch('http://127.0.0.1:9090/health/ready').then(({ status }) => status, String))`
      return (await project.script(service, ready)) === '200'
    })
    // Gateways learn of a database that is back from the health of the data services.
    await project.serving()
  }

  /** Kills each in turn while clients read and create, and starts it again. */
  async killInTurn(services: readonly string[], name: string): Promise<void> {
    const load = new Load(this.project, { token: await this.logIn(), name })
    load.start()
    try {
      await load.more()
      for (const service of services) {
        load.tolerant = true
        await this.project.kill(service)
        await pause(1500)
        await this.project.start(service)
        await this.works(service)
        // Requests that began before the recovery may still fail.
        await load.more()
        load.tolerant = false
        await load.more(100)
        say(`${service} was killed, and is back`)
      }
    } finally {
      await load.stop()
    }
    await load.expectStoredOnce()
  }
}
