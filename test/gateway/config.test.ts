import { expect } from 'chai'
import { readGatewayConfig } from '../../gateway/config.js'

describe('settings of the gateway', () => {
  it('have the defaults of the contract', () => {
    const { config, effective } = readGatewayConfig({})
    expect(config).to.deep.include({
      host: '127.0.0.1',
      port: 3000,
      publicBaseUrl: undefined,
      drainTime: 0,
      maxConnections: 10_000,
      dataServiceAddresses: ['127.0.0.1:50051'],
      dataDir: '.data',
      logLevel: 'info',
      cookieSecure: true,
      refreshTokenTtl: 7 * 24 * 60 * 60_000,
      rendererUrl: undefined,
      adminUi: false
    })
    expect(effective.split('\n').map((line) => line.split('=')[0])).to.deep.equal([
      'GATEWAY_HOST',
      'GATEWAY_PORT',
      'ADMIN_HOST',
      'ADMIN_PORT',
      'DRAIN_TIME',
      'MAX_CONNECTIONS',
      'CORS_ORIGINS',
      'SERVER_TIMING',
      'RATE_LIMIT',
      'MAX_EVENT_LOOP_DELAY',
      'PUBLIC_BASE_URL',
      'DATA_SERVICE_ADDRESS',
      'HTTP_TLS_CERT_FILE',
      'HTTP_TLS_KEY_FILE',
      'COOKIE_SECURE',
      'DATA_SERVICE_CALLS',
      'GRPC_TLS_CERT_FILE',
      'GRPC_TLS_KEY_FILE',
      'GRPC_TLS_CA_FILE',
      'GRPC_TLS_CLIENT_AUTH',
      'GRPC_INSECURE',
      'GATEWAY_SECRET',
      'DATA_DIR',
      'LOG_LEVEL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_SERVICE_NAME',
      'OTEL_TRACES_SAMPLER_ARG',
      'OTEL_BSP_SCHEDULE_DELAY',
      'DATA_PROTECTION_BLOB_STORAGE_URI',
      'DATA_PROTECTION_KEY_VAULT_KEY_URI',
      'DATA_PROTECTION_APPLICATION_NAME',
      'RENDERER_URL',
      'RENDERER_REFRESH_TOKEN',
      'ADMIN_UI',
      'ADMIN_UI_ROLES',
      'MCP',
      'DOCS_UI',
      'DOCS_PUBLIC',
      'OPENAPI_LICENSE',
      'OPENAPI_CONTACT',
      'OPENAPI_TITLE',
      'OPENAPI_VERSION',
      'OPENAPI_SERVERS',
      'STRICT_HANDLING',
      'REFRESH_TOKEN_TTL',
      'TRUSTED_PROXIES',
      'OIDC_CLIENT_SECRET',
      'OIDC_CLIENT_AUTHENTICATION',
      'OIDC_SCOPE',
      'OIDC_ISSUER',
      'OIDC_CLIENT_ID'
    ])
  })

  it('name a collector of traces as OpenTelemetry does, and print no header of it', () => {
    const { config, effective } = readGatewayConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318/base/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a%20secret, other=b',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_SCHEDULE_DELAY: '100'
    })
    expect(config.traces).to.deep.equal({
      url: 'http://collector.example:4318/base/v1/traces',
      headers: { 'api-key': 'a secret', other: 'b' },
      serviceName: 'shop',
      ratio: 0.25,
      exportInterval: 100
    })
    expect(effective).to.include('OTEL_EXPORTER_OTLP_HEADERS=***')
    expect(readGatewayConfig({}).config.traces).to.equal(undefined)
    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector.example:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'thesecret',
      OTEL_TRACES_SAMPLER_ARG: '1.5'
    }
    expect(() => readGatewayConfig(wrong))
      .to.throw()
      .with.property('message')
      .that.equals(
        [
          'Cannot start: 3 settings are wrong.',
          '- OTEL_EXPORTER_OTLP_ENDPOINT must be an http: or https: URL without a query, such as http://127.0.0.1:4318, not "collector.example:4318".',
          '- OTEL_EXPORTER_OTLP_HEADERS must be name=value, or several with commas between, values percent-encoded.',
          '- OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "1.5".'
        ].join('\n')
      )
  })

  it('say what the OpenAPI document says of the API', () => {
    const read = (settings: Record<string, string>) => readGatewayConfig(settings).config.openApi
    expect(read({})).to.deep.equal({ title: 'Entity REST service', version: '1.0', servers: [] })
    expect(read({ OPENAPI_LICENSE: 'Our terms <https://example.com/terms>' }).license).to.deep.equal({
      name: 'Our terms',
      url: 'https://example.com/terms'
    })
    expect(read({ OPENAPI_CONTACT: 'https://example.com' }).contact).to.deep.equal({ url: 'https://example.com' })
    expect(read({ OPENAPI_CONTACT: 'api@example.com' }).contact).to.deep.equal({ email: 'api@example.com' })
    for (const [name, value] of [
      ['OPENAPI_LICENSE', 'Our terms'],
      ['OPENAPI_LICENSE', 'Our terms <javascript:x>'],
      ['OPENAPI_CONTACT', 'somebody'],
      ['OPENAPI_SERVERS', 'https://a.example,b']
    ] as const) {
      expect(() => read({ [name]: value }), value)
        .to.throw()
        .with.property('message')
        .that.includes(`${name} must be`)
    }
  })

  it('name an OpenID provider in full or not at all, and print no secret of it', () => {
    const client = { OIDC_ISSUER: 'https://login.example/main', OIDC_CLIENT_ID: 'us' }
    expect(readGatewayConfig({}).config.openId).to.equal(undefined)
    expect(readGatewayConfig(client).config.openId).to.deep.equal({
      issuer: 'https://login.example/main',
      clientId: 'us',
      clientSecret: undefined,
      clientAuthentication: 'client_secret_basic',
      scope: 'openid email profile'
    })
    const { config, effective } = readGatewayConfig({
      ...client,
      OIDC_CLIENT_SECRET: 'hush hush',
      OIDC_CLIENT_AUTHENTICATION: 'client_secret_post',
      OIDC_SCOPE: ' openid  groups '
    })
    expect(config.openId).to.include({
      clientSecret: 'hush hush',
      clientAuthentication: 'client_secret_post',
      scope: 'openid groups'
    })
    expect(effective).to.contain('OIDC_CLIENT_SECRET=***').and.not.contain('hush')
    const wrong: readonly (readonly [environment: Record<string, string>, message: RegExp])[] = [
      [{ OIDC_ISSUER: 'https://login.example' }, /must be set together/],
      [{ OIDC_CLIENT_ID: 'us' }, /must be set together/],
      [{ OIDC_CLIENT_SECRET: 'hush' }, /OIDC_CLIENT_SECRET is of use only with OIDC_ISSUER/],
      [{ OIDC_SCOPE: 'openid' }, /OIDC_SCOPE is of use only with OIDC_ISSUER/],
      [{ OIDC_CLIENT_AUTHENTICATION: 'client_secret_post' }, /OIDC_CLIENT_AUTHENTICATION is of use only with/],
      [{ ...client, OIDC_ISSUER: 'http://login.example' }, /OIDC_ISSUER must be an https: URL/],
      [{ ...client, OIDC_ISSUER: 'https://login.example/?tenant=1' }, /OIDC_ISSUER must have neither query/],
      [{ ...client, OIDC_ISSUER: 'https://me:hush@login.example' }, /OIDC_ISSUER must have neither query/],
      [{ ...client, OIDC_SCOPE: 'email' }, /OIDC_SCOPE must be scopes/],
      [{ ...client, OIDC_CLIENT_SECRET: 'h\u00fcsh' }, /OIDC_CLIENT_SECRET must be ASCII/],
      [{ ...client, OIDC_CLIENT_AUTHENTICATION: 'none' }, /OIDC_CLIENT_AUTHENTICATION must be client_secret_basic or/]
    ]
    for (const [environment, message] of wrong) {
      expect(() => readGatewayConfig(environment), JSON.stringify(environment))
        .to.throw(message)
        .with.property('message')
        .that.does.not.match(/hush/)
    }
  })

  it('report every fault at once', () => {
    expect(() =>
      readGatewayConfig({
        GATEWAY_PORT: '70000',
        PUBLIC_BASE_URL: '/api',
        MAX_CONNECTIONS: '0',
        DATA_SERVICE_ADDRESS: 'nowhere',
        LOG_LEVEL: 'loud',
        DATA_PROTECTION_BLOB_STORAGE_URI: 'ftp://x',
        DATA_PROTECTION_KEY_VAULT_KEY_URI: 'http://vault.example/k',
        DATA_PROTECTION_APPLICATION_NAME: 'two words',
        RENDERER_URL: 'x',
        COOKIE_SECURE: 'yes',
        TRUSTED_PROXIES: '10.0.0.0/33'
      })
    )
      .to.throw()
      .with.property('message')
      .that.satisfies(
        (text: string) => text.startsWith('Cannot start: 11 settings are wrong.') && text.includes('COOKIE_SECURE')
      )
  })

  it('give the public port and the admin port an address each', () => {
    const ports = { GATEWAY_PORT: '8080', ADMIN_PORT: '8080' }
    for (const [GATEWAY_HOST, ADMIN_HOST] of [
      ['127.0.0.1', '127.0.0.1'],
      ['0.0.0.0', '10.0.0.1'],
      ['10.0.0.1', '0.0.0.0'],
      ['::', '127.0.0.1'],
      ['shop.example', '0.0.0.0']
    ] as const) {
      expect(() => readGatewayConfig({ ...ports, GATEWAY_HOST, ADMIN_HOST }), `${GATEWAY_HOST}, ${ADMIN_HOST}`)
        .to.throw()
        .with.property('message')
        .that.equals(
          'Cannot start: 1 setting is wrong.\n- GATEWAY_PORT and ADMIN_PORT must be two ports, not 8080 for both: ' +
            `GATEWAY_HOST ${GATEWAY_HOST} and ADMIN_HOST ${ADMIN_HOST} take it on one address.`
        )
    }
    for (const apart of [
      { ...ports, GATEWAY_HOST: '10.0.0.1' },
      { ...ports, GATEWAY_HOST: '0.0.0.0', ADMIN_HOST: '::1' },
      { GATEWAY_PORT: '0', ADMIN_PORT: '0' },
      { GATEWAY_PORT: '8080', ADMIN_PORT: '8081' }
    ]) {
      expect(() => readGatewayConfig(apart), JSON.stringify(apart)).not.to.throw()
    }
  })

  it('take a certificate of HTTPS with its key, or neither', () => {
    const both = { HTTP_TLS_CERT_FILE: 'a.pem', HTTP_TLS_KEY_FILE: 'a.key' }
    expect(readGatewayConfig(both).config.httpTls).to.include({ certFile: 'a.pem', keyFile: 'a.key' })
    for (const name of Object.keys(both)) {
      expect(() => readGatewayConfig({ [name]: 'a' }), name).to.throw(
        /HTTP_TLS_CERT_FILE and HTTP_TLS_KEY_FILE must be/
      )
    }
  })

  const BASES: readonly (readonly [text: string, origin: string, path: string])[] = [
    ['https://shop.example', 'https://shop.example', ''],
    ['https://shop.example/', 'https://shop.example', ''],
    ['HTTP://Shop.example:8080/api/v1/', 'http://shop.example:8080', '/api/v1']
  ]
  for (const [text, origin, path] of BASES) {
    it(`PUBLIC_BASE_URL=${text}`, () => {
      expect(readGatewayConfig({ PUBLIC_BASE_URL: text }).config.publicBaseUrl).to.deep.equal({ origin, path })
    })
  }
  for (const text of [
    'shop.example',
    'ftp://x',
    'http://x/?a',
    'http://x/#a',
    'http://u:p@x',
    'http://x/:a',
    'http://x/a//b',
    'http://x/*',
    'http://x/a\tb',
    'http://x\r/a',
    'http://x/a\n',
    'http://x/\u007f',
    `http://x/${'a'.repeat(2040)}`
  ]) {
    it(`PUBLIC_BASE_URL=${JSON.stringify(text.slice(0, 20))} is rejected`, () => {
      expect(() => readGatewayConfig({ PUBLIC_BASE_URL: text })).to.throw(/PUBLIC_BASE_URL must/)
    })
  }

  it('take an address with or without brackets as the host, and no port there', () => {
    const hostOf = (GATEWAY_HOST: string): string => readGatewayConfig({ GATEWAY_HOST }).config.host
    for (const [text, host] of [
      ['[::1]', '::1'],
      ['::1', '::1'],
      ['0.0.0.0', '0.0.0.0'],
      ['shop.example', 'shop.example']
    ] as const) {
      expect(hostOf(text), `${text}, ${host}`).to.equal(host)
    }
    for (const text of ['[::1]:3000', '127.0.0.1:80', '[shop]', 'http://x', 'a b']) {
      expect(() => hostOf(text), text).to.throw(/GATEWAY_HOST must be an address or a host name/)
    }
  })

  it('trust single addresses and ranges, IPv4 within IPv6 too', () => {
    const { trustedProxies } = readGatewayConfig({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).config
    const trusted = [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '::ffff:a01:203',
      '0:0:0:0:0:FFFF:0A01:0203',
      '192.0.2.7',
      'fd00::1',
      '192.0.2.8',
      '11.0.0.1',
      '::1',
      'x',
      undefined
    ]
    expect(trusted.filter((address) => trustedProxies.trusts(address))).to.deep.equal(trusted.slice(0, 6))
  })

  it('trust nobody by default', () => {
    expect(readGatewayConfig({}).config.trustedProxies.trusts('127.0.0.1')).to.equal(false)
  })
})
