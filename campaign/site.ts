import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { outputRoot } from '../test/harness/package-root.js'
import { tokenMint } from '../test/harness/stack.js'
import { freePort } from '../test/runner/free-port.js'
import { GATEWAY, startProcess } from '../test/stack/service-process.js'
import { Link, type Protocol } from './link.js'
import { type Member, MemberProcess } from './member.js'

/** The system that is tried: gateways and data services over one database, with a proxy on every connection. */
export interface Site {
  /** Where clients reach each gateway, through its link. */
  readonly urls: readonly string[]
  readonly gateways: readonly Member[]
  readonly services: readonly Member[]
  /** All but those in `vaultLinks`. */
  readonly links: readonly Link[]
  /** Of each gateway, those to the key vault and to the endpoint of its identity; none without a vault. */
  readonly vaultLinks: readonly (readonly Link[])[]
  /** A valid access token of a sample account: `ada@example.com`. */
  token(account: string): Promise<string>
  stop(): Promise<void>
}

/** Where gateways have the keys of their ring wrapped: what a process needs to know of it. */
export interface KeyVaultAddress {
  /** `http://localhost:1234/keys/ring` */
  readonly keyUrl: string
  /** The endpoint of a managed identity as Azure App Service has it, and the secret that it is asked with. */
  readonly identityUrl: string
  readonly identityHeader: string
}

export interface SiteOptions {
  /** For data folders. */
  readonly folder: string
  readonly gateways: number
  readonly services: number
  /** The URLs of the databases for the n-th data service. A server is put behind a link, a file is not. */
  readonly databaseUrl: (service: number) => string
  readonly reviewsUrl: (service: number) => string
  /** Where gateways keep their key ring, and who makes their pages, each put behind a link of each gateway; default: none. */
  readonly ringUrl?: string
  readonly rendererUrl?: string
  /** Where data services send the events of the store, and the secret that signs them; default: nowhere. */
  readonly webhook?: { readonly url: string; readonly secret: string }
  /** Who wraps the keys of the ring; default: they are stored in plain form. */
  readonly vault?: KeyVaultAddress
  /** Settings of all processes, above those chosen here. */
  readonly env?: Readonly<Record<string, string>>
  /** A module that each process loads first, for planted faults. */
  readonly preload?: string
}

/** Tokens are good for 15 minutes; a run may last for hours. */
const NEW_TOKENS_AFTER_MS = 300_000

/** Starts everything and loads the sample rows. Resolves when every gateway answers that it is ready. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const { folder } = options
  const env = {
    DATA_DIR: folder,
    MIGRATE_AT_START: 'true',
    SAMPLE_DATA: 'true',
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false',
    MCP: 'write',
    ...(options.webhook === undefined
      ? {}
      : {
          ORDER_WEBHOOK_URL: options.webhook.url,
          ORDER_WEBHOOK_SECRET: options.webhook.secret,
          WEBHOOK_PRIVATE_NETWORKS: 'true'
        }),
    ...(options.preload === undefined ? {} : { NODE_OPTIONS: `--import ${options.preload}` }),
    ...options.env
  }
  const members: MemberProcess[] = []
  const links: Link[] = []
  const vaultLinks: (readonly Link[])[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((one) => one.end()))
    for (const link of [...links, ...vaultLinks.flat()]) await link.close()
  }
  /** A link to where a URL leads, and the URL that leads there through it. */
  const linkTo = async (url: string, name: string, protocol: Protocol): Promise<{ link: Link; url: string }> => {
    const inner = new URL(url)
    const link = await Link.to({ host: inner.hostname, port: Number(inner.port) }, { name, protocol })
    const { host, port } = link.address
    inner.host = `${host}:${port}`
    return { link, url: inner.href }
  }
  /** The URL that leads to the same through a link, which is kept. */
  const through = async (url: string, name: string, protocol: Protocol): Promise<string> => {
    if (/^(?:sqlite|file):/.test(url)) return url
    const made = await linkTo(url, name, protocol)
    links.push(made.link)
    return made.url
  }
  /**
   * Stored keys name the URL of the key that has wrapped them, which is therefore the same for every gateway. So the link is no
   * part of it, but what the clients of Azure take for a proxy. Every other neighbour is at 127.0.0.1.
   */
  const vaultSettings = async (vault: KeyVaultAddress, name: string): Promise<Record<string, string>> => {
    const called = await linkTo(new URL(vault.keyUrl).origin, `${name} to the key vault`, 'http')
    const identity = await linkTo(vault.identityUrl, `${name} to its identity`, 'http')
    vaultLinks.push([called.link, identity.link])
    return {
      DATA_PROTECTION_KEY_VAULT_KEY_URI: vault.keyUrl,
      HTTP_PROXY: called.url,
      NO_PROXY: '127.0.0.1',
      IDENTITY_ENDPOINT: identity.url,
      IDENTITY_HEADER: vault.identityHeader,
      // Without the tools of developers, which a machine may have.
      AZURE_TOKEN_CREDENTIALS: 'prod'
    }
  }
  try {
    const services: MemberProcess[] = []
    const addresses: string[] = []
    for (let n = 0; n < options.services; n++) {
      const name = `data-service-${n}`
      const DATA_SERVICE_ADDRESS = `127.0.0.1:${await freePort()}`
      const program = ['start', 'data-service', '--app', join(outputRoot, 'campaign/store')]
      const settings = {
        ...env,
        DATABASE_URL: await through(options.databaseUrl(n), `${name} to the database`, 'mysql'),
        REVIEWS_DATABASE_URL: await through(options.reviewsUrl(n), `${name} to the second store`, 'mysql'),
        DATA_SERVICE_ADDRESS
      }
      const service = new MemberProcess(name, 'address', () => startProcess(program, settings, folder))
      members.push(service)
      services.push(service)
      // One after another: the first makes the keys and the tables.
      await service.startOnce()
      addresses.push(DATA_SERVICE_ADDRESS)
    }
    const gateways: MemberProcess[] = []
    const urls: string[] = []
    for (let n = 0; n < options.gateways; n++) {
      const name = `gateway-${n}`
      const reached: string[] = []
      for (const [m, address] of addresses.entries())
        reached.push(new URL(await through(`http://${address}`, `${name} to data-service-${m}`, 'calls')).host)
      const port = await freePort()
      const { ringUrl, rendererUrl, vault } = options
      const settings = {
        ...env,
        GATEWAY_PORT: String(port),
        DATA_SERVICE_ADDRESS: reached.join(),
        ...(ringUrl === undefined
          ? {}
          : { DATA_PROTECTION_BLOB_STORAGE_URI: await through(ringUrl, `${name} to the blob store`, 'http') }),
        ...(rendererUrl === undefined
          ? {}
          : { RENDERER_URL: await through(rendererUrl, `${name} to the renderer`, 'http') }),
        ...(vault === undefined ? {} : await vaultSettings(vault, name))
      }
      const gateway = new MemberProcess(name, 'url', () => startProcess(GATEWAY, settings, folder))
      members.push(gateway)
      gateways.push(gateway)
      await gateway.startOnce()
      urls.push((await through(`http://127.0.0.1:${port}`, `clients to ${name}`, 'http')).replace(/\/$/, ''))
    }
    for (const url of urls) await ready(url)
    let mint = tokenMint(env)
    let minted = performance.now()
    const token = (account: string): Promise<string> => {
      if (performance.now() - minted > NEW_TOKENS_AFTER_MS) {
        mint = tokenMint(env)
        minted = performance.now()
      }
      return mint(account)
    }
    return { urls, gateways, services, links, vaultLinks, token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await delay(50)
  }
}
