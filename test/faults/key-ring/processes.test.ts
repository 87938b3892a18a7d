import { expect } from 'chai'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startCluster, type Cluster } from '../../harness/cluster.js'
import { freshDatabase, type FreshDatabase } from '../../harness/database.js'
import { request } from '../../harness/http.js'
import { FakeIdentity, FakeVault } from '../../gateway/key-ring/fake-vault.js'
import { startRenderer, type FakeRenderer } from '../../gateway/renderer/renderer-fixture.js'

const FORM = 'application/x-www-form-urlencoded'

describe('gateways as processes', function () {
  this.timeout(60_000)
  let folder: string
  let database: FreshDatabase
  let renderer: FakeRenderer

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'key-ring-'))
    database = await freshDatabase('sqlite')
    renderer = await startRenderer()
  })

  after(async () => {
    await renderer[Symbol.asyncDispose]()
    await database.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  async function withGateways(
    env: Readonly<Record<string, string>>,
    test: (of: Cluster) => Promise<void>
  ): Promise<void> {
    const cluster = await startCluster(2, { database, env: { RENDERER_URL: renderer.url, ...env } })
    try {
      await test(cluster)
    } finally {
      await cluster.stop()
    }
  }

  /** Posts a form to one gateway with the token that another one has handed out. */
  async function postAcross(from: string | undefined, to: string | undefined): Promise<number> {
    const handed = await request(`${from}/auth/antiforgery`)
    const [cookie = ''] = String(handed.header('set-cookie')).split(';')
    // Its shape is what GET /auth/antiforgery's own test looks at.
    const { token } = handed.json() as { token: string }
    const headers = { cookie, 'content-type': FORM }
    const answer = await request(`${to}/cart`, { method: 'POST', headers, body: `product=1&_csrf=${token}` })
    return answer.status
  }

  it('accept each other on one ring in a file', async () => {
    const path = join(folder, 'ring.json')
    await withGateways(
      { DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(path).href },
      async ({ urls: [one, other] }) => {
        expect([await postAcross(one, other), await postAcross(other, one)]).to.deep.equal([200, 200])
        expect(renderer.seen.at(-1)?.body).to.match(/^product=1&_csrf=[\w.-]+$/)
        expect(JSON.parse(await readFile(path, 'utf8')))
          .to.have.property('keys')
          .with.length(1)
      }
    )
  })

  it('without one do not, and both logs say why', async () => {
    await withGateways({}, async ({ urls: [one, other], stacks: [, second] }) => {
      expect([await postAcross(one, one), await postAcross(one, other)]).to.deep.equal([200, 403])
      // Rejects when the process ends without such a line; what it writes arrives a moment after its answer.
      await second?.gateway.logged(({ msg }) => String(msg).startsWith('DATA_PROTECTION_BLOB_STORAGE_URI is not set:'))
      const rejected = await second?.gateway.logged(({ msg }) => msg === 'antiforgery token refused')
      expect(rejected?.['why']).to.match(/DATA_PROTECTION_BLOB_STORAGE_URI is not set/)
    })
  })

  it('start, sign in and serve pages with a blob out of reach, whose signature no log shows', async () => {
    // Nothing listens on the discard port.
    const env = { DATA_PROTECTION_BLOB_STORAGE_URI: 'http://127.0.0.1:9/account/rings/ring.json?sv=1&sig=a-signature' }
    await withGateways(env, async ({ urls: [url], stacks: [stack] }) => {
      expect(await postAcross(url, url)).to.equal(200)
      const page = await request(`${url}/`, { headers: { accept: 'text/html' } })
      const login = await request(`${url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })
      })
      expect([page.status, login.status]).to.deep.equal([200, 200])
      const line = await stack?.gateway.logged(({ msg }) => String(msg).startsWith('the key ring is not to be had'))
      expect(JSON.stringify(line)).to.match(/ECONNREFUSED/)
      expect(JSON.stringify(stack?.logs())).to.not.match(/a-signature/)
    })
  })

  it('start, serve and end while the endpoint of their identity does not answer', async () => {
    const [vault, identity] = [await FakeVault.start(), await FakeIdentity.start()]
    identity.rejection = 'silence'
    const env = {
      DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(join(folder, 'silent.json')).href,
      DATA_PROTECTION_KEY_VAULT_KEY_URI: `${vault.url}/keys/ring`,
      IDENTITY_ENDPOINT: identity.url,
      IDENTITY_HEADER: identity.header,
      AZURE_TOKEN_CREDENTIALS: 'prod'
    }
    try {
      // Rejects when one of them does not end in time.
      await withGateways(env, async ({ urls: [url], stacks: [stack] }) => {
        expect(await postAcross(url, url)).to.equal(200)
        const line = await stack?.gateway.logged(({ msg }) => String(msg).startsWith('the key ring is not to be had'))
        expect(line?.['troubles']).to.deep.equal([
          { at: 'wrap', detail: 'The identity of this process got no token in time.' }
        ])
      })
      expect(identity.asked).to.be.at.least(2)
    } finally {
      await identity.stop()
      await vault.stop()
    }
  })
})
