import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { FakeIdentity, FakeVault } from '../../gateway/key-ring/fake-vault.js'
import { type FakeRenderer, startRenderer } from '../../gateway/renderer/renderer-fixture.js'
import type { FreshDatabase } from '../../harness/database.js'
import { request } from '../../harness/http.js'
import { outputRoot } from '../../harness/package-root.js'
import { storeDatabase } from '../../harness/store-database.js'
import { startDataServiceHere, startGatewayHere } from '../../stack/in-process.js'
import type { Listening, LogEntry } from '../../stack/server-log.js'
import { GATEWAY, listening, startProcess } from '../../stack/service-process.js'

const FORM = 'application/x-www-form-urlencoded'
const UNSET = 'DATA_PROTECTION_BLOB_STORAGE_URI is not set'

type Settings = Readonly<Record<string, string>>

describe('gateways as replicas', () => {
  let folder: string
  let database: FreshDatabase
  let renderer: FakeRenderer
  let dataService: Listening

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'key-ring-'))
    database = await storeDatabase('sqlite', 'accounts')
    renderer = await startRenderer()
    dataService = await startDataServiceHere(join(outputRoot, 'examples/store'), {
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      OWNER_BYPASS_ROLE: 'Admin',
      SAMPLE_DATA: 'true'
    })
  })
  after(async () => {
    await dataService?.server.stop()
    await renderer?.[Symbol.asyncDispose]()
    await database?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  const settings = (more: Settings): Settings => ({
    DATA_DIR: folder,
    DATA_SERVICE_ADDRESS: dataService.address,
    RENDERER_URL: renderer.url,
    COOKIE_SECURE: 'false',
    GATEWAY_PORT: '0',
    ...more
  })

  /** Two gateways before the data service, for as long as the test runs. */
  async function withGateways(env: Settings, test: (one: Listening, other: Listening) => Promise<void>): Promise<void> {
    const [one, other] = [await startGatewayHere(settings(env)), await startGatewayHere(settings(env))]
    try {
      await test(one, other)
    } finally {
      await one.server.stop()
      await other.server.stop()
    }
  }

  /** Posts a form to one gateway with the token that another one has handed out. */
  async function postAcross(from: string, to: string): Promise<number> {
    const handed = await request(`${from}/auth/antiforgery`)
    const [cookie = ''] = String(handed.header('set-cookie')).split(';')
    // Its shape is what GET /auth/antiforgery's own test looks at.
    const { token } = handed.json() as { token: string }
    const headers = { cookie, 'content-type': FORM }
    const answer = await request(`${to}/cart`, { method: 'POST', headers, body: `product=1&_csrf=${token}` })
    return answer.status
  }

  const isOutOfReach = ({ msg }: LogEntry): boolean => String(msg).startsWith('the key ring is not to be had')

  it('accept the tokens of each other on one ring in a file', async () => {
    const path = join(folder, 'ring.json')
    await withGateways({ DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(path).href }, async (one, other) => {
      expect([
        await postAcross(one.address, other.address),
        await postAcross(other.address, one.address)
      ]).to.deep.equal([200, 200])
      expect(renderer.seen.at(-1)?.body).to.match(/^product=1&_csrf=[\w.-]+$/)
      expect(JSON.parse(await readFile(path, 'utf8')))
        .to.have.property('keys')
        .with.length(1)
    })
  })

  it('do not accept the tokens of each other without a ring, and both logs say why', async () => {
    await withGateways({}, async (one, other) => {
      expect([await postAcross(one.address, one.address), await postAcross(one.address, other.address)]).to.deep.equal([
        200, 403
      ])
      for (const { server } of [one, other]) await server.logged(({ msg }) => String(msg).startsWith(`${UNSET}:`))
      const rejected = await other.server.logged(({ msg }) => msg === 'antiforgery token refused')
      expect(rejected['why']).to.include(UNSET)
    })
  })

  it('start, sign in and serve pages with a blob out of reach, whose signature no log shows', async () => {
    // Nothing listens on the discard port.
    const env = { DATA_PROTECTION_BLOB_STORAGE_URI: 'http://127.0.0.1:9/account/rings/ring.json?sv=1&sig=a-signature' }
    await withGateways(env, async ({ address: url, server }) => {
      expect(await postAcross(url, url)).to.equal(200)
      const page = await request(`${url}/`, { headers: { accept: 'text/html' } })
      const login = await request(`${url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })
      })
      expect([page.status, login.status]).to.deep.equal([200, 200])
      const line = await server.logged(isOutOfReach)
      expect(JSON.stringify(line)).to.match(/ECONNREFUSED/)
      expect(JSON.stringify(server.logs())).to.not.match(/a-signature/)
    })
  })

  it('start, serve and end while the endpoint of their identity does not answer', async () => {
    const [vault, identity] = [await FakeVault.start(), await FakeIdentity.start()]
    identity.rejection = 'silence'
    // The client of the identity reads the environment of its process.
    const gateway = startProcess(
      GATEWAY,
      settings({
        DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(join(folder, 'silent.json')).href,
        DATA_PROTECTION_KEY_VAULT_KEY_URI: `${vault.url}/keys/ring`,
        IDENTITY_ENDPOINT: identity.url,
        IDENTITY_HEADER: identity.header,
        AZURE_TOKEN_CREDENTIALS: 'prod'
      })
    )
    try {
      const url = await listening(gateway, 'url')
      expect(await postAcross(url, url)).to.equal(200)
      const line = await gateway.logged(isOutOfReach)
      expect(line['troubles']).to.deep.equal([
        { at: 'wrap', detail: 'The identity of this process got no token in time.' }
      ])
      expect(identity.asked).to.be.at.least(1)
      // Rejects when it does not end in time.
      expect(await gateway.stop()).to.equal(0)
    } finally {
      await gateway.kill()
      await identity.stop()
      await vault.stop()
    }
  })
})
