import { type Ended, runAccountCommand, startAccountCommand } from '../../harness/account-command.js'
import { startGatewayHere } from '../../stack/in-process.js'
import type { LogEntry, Server } from '../../stack/server-log.js'
import { eachDatabase, type DatabaseKind } from '../../harness/database.js'
import { variantOfGateway, type VariantOfGateway, type Variants } from '../../harness/variant.js'
import { DataServices } from '../auth/data-services.js'
import { call, type Answer, type CallOptions } from '../http-call.js'

type Settings = Readonly<Record<string, string>>

export interface SessionCookies {
  readonly access?: string
  readonly refresh?: string
}

interface Gateway {
  readonly server: Server
  readonly url: string
  readonly variant: VariantOfGateway
}

/** Two gateways, each before a data service of its own, over one database with the sample accounts and few rows. */
export class SessionStack {
  readonly kind: DatabaseKind
  readonly #settings: Settings
  readonly #gateways: Gateway[] = []
  readonly #answers: Answer[] = []
  /** Of data services that do not run any more. */
  readonly #logged: LogEntry[] = []
  readonly #addresses: string[] = []
  #services: DataServices | undefined

  constructor(kind: DatabaseKind, settings: Settings) {
    this.kind = kind
    this.#settings = { LOG_LEVEL: 'trace', COOKIE_SECURE: 'false', ...settings }
  }

  async start(): Promise<void> {
    this.#services = await DataServices.over(this.kind)
    // One after the other: the first makes the key that both sign with.
    for (const _ of [1, 2]) {
      const address = await this.startDataService()
      const variant = variantOfGateway()
      const DATA_SERVICE_ADDRESS = await variant.wayTo(address)
      const { server, address: url } = await startGatewayHere({
        ...variant.settings,
        // The document that answers are held against is asked for without a token.
        DOCS_PUBLIC: 'true',
        ...this.#settings,
        GATEWAY_PORT: '0',
        DATA_SERVICE_ADDRESS
      })
      variant.serve(url)
      this.#gateways.push({ server, url, variant })
    }
  }

  /** Answers its address. */
  async startDataService(settings: Settings = {}): Promise<string> {
    if (this.#services === undefined) throw new Error('The stack runs within tests and hooks alone')
    const { address } = await this.#services.start({ ...this.#settings, ...settings })
    this.#addresses.push(address)
    return address
  }

  /** Stops all data services, leaves the gateways alone, and answers where they listened. */
  async stopDataServices(): Promise<readonly string[]> {
    this.#logged.push(...(this.#services?.logs() ?? []))
    await this.#services?.stop()
    return this.#addresses.splice(0)
  }

  async stop(): Promise<void> {
    for (const { server, variant } of this.#gateways.splice(0)) {
      await server.stop()
      await variant.end()
    }
    await this.#services?.[Symbol.asyncDispose]()
  }

  url(gateway = 0): string {
    return this.#gateways[gateway]?.url ?? ''
  }

  /** A POST, unless told otherwise, with these cookies. The body goes as JSON. */
  async send(
    target: string,
    options: CallOptions & { readonly cookies?: SessionCookies; readonly json?: object; readonly gateway?: number } = {}
  ): Promise<Answer> {
    const { cookies, json, gateway, headers, ...others } = options
    const cookie = [
      ...(cookies?.access === undefined ? [] : [`app_auth_access=${cookies.access}`]),
      ...(cookies?.refresh === undefined ? [] : [`app_auth_refresh=${cookies.refresh}`])
    ].join('; ')
    const answer = await call(this.url(gateway), target, {
      method: 'POST',
      ...others,
      headers: {
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie === '' ? {} : { cookie }),
        ...headers
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
    this.#answers.push(answer)
    return answer
  }

  login(account: string, password = 'demo-password', gateway = 0): Promise<Answer> {
    return this.send('/auth/login', { json: { email: `${account}@example.com`, password }, gateway })
  }

  /** Runs `uniform-rest account` on the database, with a line on its standard input; with `start` in a process of its own. */
  account(args: readonly string[], line?: string, start = false): Promise<Ended> {
    if (this.#services === undefined) throw new Error('The stack runs within tests and hooks alone')
    const { database, dataDir } = this.#services
    const surroundings = { env: { DATABASE_URL: database.url, DATA_DIR: dataDir }, line }
    return start ? startAccountCommand(args, surroundings) : runAccountCommand(args, surroundings)
  }

  /** Every answer so far. */
  get answers(): readonly Answer[] {
    return this.#answers
  }

  /** All that any process logged so far. */
  logText(): string {
    const logs = [
      ...this.#logged,
      ...(this.#services?.logs() ?? []),
      ...this.#gateways.flatMap((one) => one.server.logs())
    ]
    return logs.map((entry) => JSON.stringify(entry)).join('\n')
  }
}

/** The two cookies that an answer sets; undefined for one that it does not, empty for one that it expires. */
export function cookiesOf({ headers }: Answer): SessionCookies {
  const value = (name: string): string | undefined =>
    headers['set-cookie']?.find((line) => line.startsWith(`${name}=`))?.split(/[=;]/)[1]
  const [access, refresh] = [value('app_auth_access'), value('app_auth_refresh')]
  return { ...(access === undefined ? {} : { access }), ...(refresh === undefined ? {} : { refresh }) }
}

export function describeSessions(
  title: string,
  settings: Settings,
  body: (stack: SessionStack) => void,
  variants: Variants = {}
): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, () => {
      const stack = new SessionStack(kind, settings)
      before(() => stack.start())
      after(() => stack.stop())
      body(stack)
    })
  }, variants)
}
