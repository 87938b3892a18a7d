import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import { startStack, type Stack } from '../../harness/stack.js'
import type { Variants } from '../../harness/variant.js'
import { type Ended, runAccountCommand } from '../../harness/account-command.js'
import { freePort } from '../../runner/free-port.js'
import { DataServices } from '../auth/data-services.js'
import { type Answer, json } from '../http-call.js'
import { CONFIDENTIAL, TestProvider } from './test-provider.js'
import { Visitor } from './visitor.js'

type Settings = Readonly<Record<string, string>>

interface SignInOptions {
  /** Beside those of every test. */
  readonly settings?: Settings
  /** Whether the provider is there when the processes start. */
  readonly isProviderUp?: boolean
  readonly providerHost?: 'localhost'
}

interface Running {
  readonly services: DataServices
  readonly stack: Stack
  readonly provider: TestProvider
}

/** Gateway and data service with sign-in at a provider of their own. */
export class SignInStack {
  readonly #kind: DatabaseKind
  readonly #options: SignInOptions
  #running: Running | undefined

  constructor(kind: DatabaseKind, options: SignInOptions) {
    this.#kind = kind
    this.#options = options
  }

  async start(): Promise<void> {
    const gatewayPort = await freePort()
    const provider = await TestProvider.start(`http://127.0.0.1:${gatewayPort}`, this.#options.providerHost)
    if (this.#options.isProviderUp === false) await provider.pause()
    const services = await DataServices.over(this.#kind)
    const stack = await startStack({
      database: services.database,
      env: {
        LOG_LEVEL: 'trace',
        GATEWAY_PORT: String(gatewayPort),
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CONFIDENTIAL.client_id,
        OIDC_CLIENT_SECRET: CONFIDENTIAL.client_secret,
        ...this.#options.settings
      }
    })
    this.#running = { services, stack, provider }
  }

  async stop(): Promise<void> {
    await this.#running?.stack.stop()
    await this.#running?.services[Symbol.asyncDispose]()
    await this.#running?.provider[Symbol.asyncDispose]()
  }

  get stack(): Stack {
    return this.#get().stack
  }

  get databaseUrl(): string {
    return this.#get().services.database.url
  }

  get provider(): TestProvider {
    return this.#get().provider
  }

  get url(): string {
    return this.stack.url
  }

  /** Runs `uniform-rest account` on the database. */
  async account(...args: readonly string[]): Promise<Ended> {
    const { database, dataDir } = this.#get().services
    return await runAccountCommand(args, { env: { DATABASE_URL: database.url, DATA_DIR: dataDir } })
  }

  /** Lets a person of the provider sign in to an account. */
  async link(email: string, subject: string): Promise<void> {
    const { errors } = await this.account('link', email, '--issuer', this.provider.issuer, '--subject', subject)
    if (errors !== '') throw new Error(errors)
  }

  /** From the first request to the provider's redirect back. Resolves with the URL of the callback. */
  async begin(visitor: Visitor, person: string, query = ''): Promise<URL> {
    const begun = await visitor.send(`${this.url}/auth/sign-in${query}`)
    if (begun.status !== 303) throw new Error(`${begun.status} ${begun.text}`)
    return new URL(await visitor.signInAt(this.provider.issuer, begun.headers.location ?? '', person))
  }

  /** What the script of the callback page posts. */
  finish(visitor: Visitor, callback: URL, headers: Settings = {}): Promise<Answer> {
    return visitor.send(`${this.url}/auth/callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(Object.fromEntries(callback.searchParams))
    })
  }

  async signIn(person: string, query = ''): Promise<{ readonly visitor: Visitor; readonly answer: Answer }> {
    const visitor = new Visitor()
    return { visitor, answer: await this.finish(visitor, await this.begin(visitor, person, query)) }
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error('The stack runs within tests and hooks alone')
    return this.#running
  }
}

/** The claims of an answer's access token, unverified. */
export function claimsOf(answer: Answer): Record<string, unknown> {
  const { accessToken } = json(answer) as { readonly accessToken: string }
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
}

export function describeSignIn(
  title: string,
  options: SignInOptions,
  body: (stack: SignInStack) => void,
  variants: Variants = {}
): void {
  eachDatabase((kind) => {
    describe(`${title} on ${kind}`, () => {
      const stack = new SignInStack(kind, options)
      before(() => stack.start())
      after(() => stack.stop())
      body(stack)
    })
  }, variants)
}
