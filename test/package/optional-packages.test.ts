import { expect } from 'chai'
import { EmptyFolder, packInto } from './empty-folder.js'
import { link, unpack } from './linked-package.js'

const COMMAND = '../node_modules/.bin/uniform-rest'

describe('optional packages (docs/decisions/073)', () => {
  let folder: EmptyFolder
  const environment = {
    DATA_SERVICE_ADDRESS: '127.0.0.1:1',
    GATEWAY_PORT: '1',
    GATEWAY_SECRET: '0123456789abcdef0123456789abcdef01234567'
  }

  before(async () => {
    folder = await EmptyFolder.make()
    await unpack(folder, (await packInto(folder)).file, '')
    await folder.run('node_modules/.bin/uniform-rest', ['init', 'my-app'])
  })
  after(async () => folder[Symbol.asyncDispose]())

  /** What a process writes that cannot start. */
  async function failedStart(name: 'gateway' | 'data-service', settings: Readonly<Record<string, string>>) {
    const env = { ...environment, ...settings }
    const { code, stdout, stderr } = await folder.end(folder.start(COMMAND, ['start', name], { in: 'my-app', env }))
    expect(code).to.equal(1)
    return { stdout, stderr }
  }

  it('A start without the packages of traces names the setting and the command that installs them.', async () => {
    const { stderr: said } = await failedStart('gateway', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })
    expect(said).to.match(
      /OTEL_EXPORTER_OTLP_ENDPOINT needs packages that are not installed\. Install with `npm install @opentelemetry\/exporter-trace-otlp-http@[\d.]+ @opentelemetry\/resources@[\d.]+ @opentelemetry\/sdk-trace-base@[\d.]+`\./
    )
  })

  it('A start with a key ring in Azure names the packages of Azure.', async () => {
    const ring = 'https://store.blob.core.windows.net/rings/ring.json?sig=c2lnbmVk'
    const { stderr: said } = await failedStart('gateway', { DATA_PROTECTION_BLOB_STORAGE_URI: ring })
    expect(said).to.match(
      /DATA_PROTECTION_BLOB_STORAGE_URI needs packages .*Install with `npm install @azure\/core-rest-pipeline@[\d.]+ @azure\//
    )
    expect(said).to.not.include('c2lnbmVk')
  })

  it('A start with an OpenID provider names openid-client, and waits for no sign-in.', async () => {
    const { stderr: said } = await failedStart('gateway', {
      OIDC_ISSUER: 'https://login.example.com',
      OIDC_CLIENT_ID: 'us',
      PUBLIC_BASE_URL: 'https://shop.example.com'
    })
    expect(said).to.match(
      /OIDC_ISSUER needs a package that is not installed\. Install with `npm install openid-client@\^[\d.]+`\./
    )
  })

  it('A gateway with MCP names the package of the protocol.', async () => {
    const { stderr: said } = await failedStart('gateway', { MCP: 'read' })
    expect(said).to.match(
      /MCP needs a package that is not installed\. Install with `npm install @modelcontextprotocol\/server@\^[\d.]+`\./
    )
  })

  it('A gateway without the pages says how to get them, and goes on.', async () => {
    // What ends it comes later.
    const { stdout, stderr } = await failedStart('gateway', { ADMIN_UI: 'true', MCP: 'read' })
    expect(stdout).to.match(
      /"level":"warn".*ADMIN_UI needs a package that is not installed\. Install with `npm install @uniform-rest\/pages@[\d.]+`\. Until then there is no \/admin and no \/docs\/try\./
    )
    expect(stderr).to.include('MCP needs a package')
  })

  it('A data service without SQLite says so where no database server is configured.', async () => {
    const { stderr: said } = await failedStart('data-service', { MIGRATE_AT_START: 'true' })
    expect(said).to.match(/DATABASE_URL, sqlite:.*npm install @photostructure\/sqlite@\^[\d.]+`\./)
  })

  it('A data service with SMTP_URL names nodemailer, and with GRPC_REFLECTION @grpc/reflection.', async () => {
    await link(folder.path, ['@photostructure/sqlite'])
    const mail = {
      ONE_TIME_LINK_URL: 'https://a.example',
      SMTP_URL: 'smtps://u:hidden@b.example',
      SMTP_FROM: 'a@b.example'
    }
    const { stderr: unsent } = await failedStart('data-service', { MIGRATE_AT_START: 'true', ...mail })
    expect(unsent)
      .to.match(/SMTP_URL needs a package that is not installed\. Install with `npm install nodemailer@[\d.]+`\./)
      .and.not.include('hidden')
    const { stderr: said } = await failedStart('data-service', { MIGRATE_AT_START: 'true', GRPC_REFLECTION: 'true' })
    expect(said).to.match(
      /GRPC_REFLECTION needs a package that is not installed\. Install with `npm install @grpc\/reflection@/
    )
  })
})
