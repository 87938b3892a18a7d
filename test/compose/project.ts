import { execFile, spawn } from 'node:child_process'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { packageRoot } from '../harness/package-root.js'
import { docker, type Engine } from './engine.js'

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 2 ** 26
const REQUEST_MS = 20_000
const INTERVAL_MS = 200

export interface ComposeRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface ComposeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** The containers of one start of the compose files, and a client of the balancer's port. */
export class ComposeProject {
  readonly url: string
  readonly #engine: Engine
  readonly #name: string
  readonly #files: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #agent = new Agent({ keepAlive: true })
  #authority: string | undefined

  constructor(
    engine: Engine,
    { name, files, port }: { readonly name: string; readonly files: readonly string[]; readonly port: number }
  ) {
    this.#engine = engine
    this.#name = name
    this.#files = files
    this.url = `https://127.0.0.1:${port}`
    this.#env = { ...engine.env, LISTEN: `127.0.0.1:${port}`, PUBLIC_BASE_URL: this.url }
  }

  /** Runs a command of docker-compose on the files. Rejects with all that it prints. */
  async compose(...args: readonly string[]): Promise<string> {
    const files = this.#files.flatMap((file) => ['--file', file])
    const { stdout } = await run('docker-compose', ['--project-name', this.#name, ...files, ...args], {
      cwd: packageRoot,
      env: this.#env,
      maxBuffer: MAX_OUTPUT_BYTES
    })
    return stdout
  }

  /** Runs a command as a person types it in a shell, in the folder of the files. `input` is its standard input. */
  async shell(command: string, input = ''): Promise<string> {
    const env = { ...this.#env, COMPOSE_PROJECT_NAME: this.#name, COMPOSE_FILE: this.#files.join(':') }
    const child = spawn('sh', ['-c', command], { cwd: packageRoot, env, stdio: ['pipe', 'pipe', 'pipe'] })
    // A program that reads nothing may have ended before this is written.
    child.stdin.on('error', () => undefined).end(input)
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}${errors}`)
    return output
  }

  /** Resolves when the balancer has a gateway that serves. */
  async serving(timeoutMs = 60_000): Promise<void> {
    await this.eventually(
      'the balancer serves',
      timeoutMs,
      async () => (await this.send('/health/ready')).status === 200
    )
  }

  /** Asks until the answer is true. An error counts as false until the time is over. */
  async eventually(what: string, timeoutMs: number, ask: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + timeoutMs
    let last: unknown
    while (performance.now() < end) {
      try {
        if (await ask()) return
        last = undefined
      } catch (error) {
        last = error
      }
      await pause(INTERVAL_MS)
    }
    throw new Error(`Not within ${timeoutMs} ms: ${what}.\n${await this.compose('ps')}`, { cause: last })
  }

  /** The id of the container of a service. */
  async container(service: string): Promise<string> {
    const labels = { project: this.#name, service, oneoff: 'False' }
    const filters = Object.entries(labels).map(([key, value]) => `--filter=label=com.docker.compose.${key}=${value}`)
    return docker(this.#engine, 'ps', '--all', '--quiet', ...filters)
  }

  async inspect(service: string, format: string): Promise<string> {
    return docker(this.#engine, 'inspect', '--format', format, await this.container(service))
  }

  /** Runs a script in a container of ours with its Node. Resolves with what it prints. */
  async script(service: string, source: string): Promise<string> {
    return docker(this.#engine, 'exec', await this.container(service), 'node', '--input-type=module', '--eval', source)
  }

  async exec(service: string, ...command: readonly string[]): Promise<string> {
    return docker(this.#engine, 'exec', await this.container(service), ...command)
  }

  /** Ends a container with SIGKILL, as a crash or the system's lack of memory does. */
  async kill(service: string): Promise<void> {
    await docker(this.#engine, 'kill', await this.container(service))
  }

  async start(service: string): Promise<void> {
    await docker(this.#engine, 'start', await this.container(service))
  }

  /** Sends a request to the balancer over TLS, whose certificate must be for its address. */
  async send(path: string, { method = 'GET', headers = {}, body }: ComposeRequest = {}): Promise<ComposeAnswer> {
    this.#authority ??= await this.exec('balancer', 'cat', '/run/keys/ca.pem')
    const signal = AbortSignal.timeout(REQUEST_MS)
    const sent = request(`${this.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ca: this.#authority,
      agent: this.#agent,
      signal
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', (response) => {
        const { statusCode: status = 0, headers: received } = response
        text(response).then((all) => resolve({ status, headers: received, text: all }), reject)
      })
    })
  }

  /** Takes certificates of this authority from now on, on new connections. */
  trust(authority: string): void {
    this.#authority = authority
    this.#agent.destroy()
  }

  /** What is left of containers, volumes and networks. */
  async left(): Promise<readonly string[]> {
    this.#agent.destroy()
    const label = `--filter=label=com.docker.compose.project=${this.#name}`
    const lists = [
      ['ps', '--all'],
      ['volume', 'ls'],
      ['network', 'ls']
    ]
    const left = await Promise.all(lists.map((list) => docker(this.#engine, ...list, '--quiet', label)))
    return left.flatMap((lines) => lines.split('\n')).filter((line) => line !== '')
  }
}
