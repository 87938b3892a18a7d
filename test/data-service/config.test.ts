import { expect } from 'chai'
import { readConfig } from '../../data-service/config.js'
import store from '../../examples/store/uniform-rest.config.js'
import { SettingsError } from '../../shared/settings.js'

function violations(environment: Record<string, string>): string {
  try {
    readConfig(environment, store)
    return ''
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
}

describe('settings of the data service', () => {
  it('have the defaults of the contract', () => {
    const { config } = readConfig({}, store)
    expect(config).to.deep.include({
      address: '127.0.0.1:50051',
      databases: {
        primary: { setting: 'DATABASE_URL', url: 'sqlite:.data/store.sqlite' },
        second: { setting: 'REVIEWS_DATABASE_URL', url: 'sqlite:.data/reviews.sqlite' }
      },
      databasePoolSize: 10,
      sampleData: false,
      maxPageSize: 500,
      maxExportRows: 100_000,
      ownership: { claimType: 'customer_id', owners: {}, parameterName: 'id', bypassRole: undefined },
      idempotency: { retention: 86_400_000, required: false }
    })
    expect(config.tokens).to.include({ accessTtl: 900_000, refreshTtl: 604_800_000, refreshGrace: 10_000 })
    const { databases } = readConfig({ DATA_DIR: '/x', DATABASE_URL: ' ' }, store).config
    expect(databases.primary.url).to.equal('sqlite:/x/store.sqlite')
  })

  it('are rejected all at once', () => {
    const message = violations({
      DATA_SERVICE_ADDRESS: 'localhost',
      DATABASE_URL: 'postgres://h/d',
      REVIEWS_DATABASE_URL: 'sqlite:',
      SAMPLE_DATA: 'yes',
      MAX_PAGE_SIZE: '0',
      MAX_EXPORT_ROWS: '-5',
      DATABASE_POOL_SIZE: '1',
      LOG_LEVEL: 'loud',
      ACCESS_TOKEN_TTL: '15',
      JWT_JWKS_URI: 'http://elsewhere.example/keys',
      IDEMPOTENCY_REQUIRED: '1'
    })
    expect(message).to.match(/^Cannot start: 11 settings are wrong\./)
    for (const name of ['DATA_SERVICE_ADDRESS', 'REVIEWS_DATABASE_URL', 'MAX_EXPORT_ROWS', 'JWT_JWKS_URI']) {
      expect(message, name).to.contain(`- ${name} `)
    }
  })

  it('make a webhook of the store by its URL and secret, which are never printed', () => {
    const [secret, next] = [24, 64].map((bytes) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`)
    const set = (url: string, more: Record<string, string> = {}) => ({
      ORDER_WEBHOOK_URL: url,
      ORDER_WEBHOOK_SECRET: `${String(secret)} ${String(next)}`,
      ...more
    })
    const { config, effective } = readConfig(set('https://hooks.example/orders?key=hidden'), store)
    const [target] = config.outbox.webhooks
    expect([...(target?.types ?? [])]).to.deep.equal([['order-placed@webhook', 'order-placed']])
    expect(target?.url.href).to.equal('https://hooks.example/orders?key=hidden')
    expect(target?.keys.map((key) => key.length)).to.deep.equal([24, 64])
    expect(effective).to.include('ORDER_WEBHOOK_URL=***\nORDER_WEBHOOK_SECRET=***')
    expect(effective).to.not.match(/hidden|whsec/)
    expect(readConfig({}, store).config.outbox).to.deep.include({ webhooks: [], privateNetworks: false })

    const local = 'ORDER_WEBHOOK_URL must be an https: URL that leads to a public address'
    for (const url of ['http://hooks.example', 'https://127.0.0.1', 'https://[::ffff:7f00:1]', 'https://0x0a000001']) {
      expect(violations(set(url)), url).to.contain(local)
      expect(violations(set(url, { WEBHOOK_PRIVATE_NETWORKS: 'true' })), url).to.equal('')
    }
    for (const url of [
      'ftp://hooks.example',
      'hooks.example',
      'https://me:hidden@hooks.example',
      'https://me@h.example'
    ]) {
      const said = violations(set(url, { WEBHOOK_PRIVATE_NETWORKS: 'true' }))
      expect(said, url).to.contain('ORDER_WEBHOOK_URL must be an https: URL without user name and password.')
      expect(said).to.not.contain('hidden')
    }
    const short = `whsec_${Buffer.alloc(23, 1).toString('base64')}`
    const long = `whsec_${Buffer.alloc(65, 1).toString('base64')}`
    for (const wrong of [short, long, 'hidden', `${secret}*`, `${secret} ${next} ${next}`, `${secret}  ${next}`]) {
      const said = violations(set('https://hooks.example', { ORDER_WEBHOOK_SECRET: wrong }))
      expect(said, wrong).to.contain('- ORDER_WEBHOOK_SECRET must be `whsec_` and 24 to 64 bytes in base64, or two')
      expect(said).to.not.contain(wrong)
    }
    expect(violations({ ORDER_WEBHOOK_URL: 'https://hooks.example' })).to.contain(
      'ORDER_WEBHOOK_SECRET must be set too.'
    )
    expect(violations({ WEBHOOK_PRIVATE_NETWORKS: '1' })).to.contain('WEBHOOK_PRIVATE_NETWORKS must be true or false')
  })

  it('name an outside issuer in full or not at all, and never as themselves', () => {
    const outside = { JWT_JWKS_URI: 'http://127.0.0.1:9/keys', JWT_JWKS_ISSUER: 'them', JWT_JWKS_AUDIENCE: 'us' }
    expect(readConfig(outside, store).config.tokens.outside).to.deep.equal({
      jwksUri: 'http://127.0.0.1:9/keys',
      issuer: 'them',
      audience: 'us',
      tokenType: undefined,
      claims: {
        roleClaim: 'role',
        roles: new Map(),
        permissionClaim: 'permissions',
        permissions: new Map(),
        ownerClaim: undefined,
        owners: new Map(),
        inRules: []
      }
    })
    for (const roles of ['theirs', '=Ours', 'theirs=', 'a=B,', 'a=B,a=C']) {
      expect(violations({ ...outside, JWT_JWKS_ROLES: roles }), roles).to.match(/^- JWT_JWKS_ROLES must /m)
    }
    expect(violations({ ...outside, JWT_JWKS_PERMISSIONS: 'a=b:c' })).to.match(
      /JWT_JWKS_PERMISSIONS must lead to permissions of/
    )
    for (const name of ['JWT_JWKS_ROLES', 'JWT_JWKS_PERMISSIONS']) {
      expect(violations({ [name]: 'a=products:manage' }), name).to.contain(`- ${name} is of use only with JWT_JWKS_URI`)
    }
    for (const names of ['team,', 'team,sub', 'iss', 'role', 'roles', 'permissions']) {
      expect(violations({ ...outside, JWT_JWKS_CLAIMS: names }), names).to.match(/^- JWT_JWKS_CLAIMS must /m)
    }
    for (const name of ['ROLE_CLAIM', 'PERMISSION_CLAIM', 'OWNER_CLAIM', 'CLAIMS', 'TOKEN_TYPE']) {
      expect(violations({ [`JWT_JWKS_${name}`]: 'x' }), name).to.contain(
        `- JWT_JWKS_${name} is of use only with JWT_JWKS_URI`
      )
    }
    expect(violations({ JWT_JWKS_URI: outside.JWT_JWKS_URI })).to.match(/must be set together/)
    expect(violations({ ...outside, JWT_JWKS_ISSUER: 'uniform-rest' })).to.match(/must differ from JWT_ISSUER/)
  })

  it('name an OpenID provider in full or not at all, and give new accounts a role that there is', () => {
    const client = { OIDC_ISSUER: 'http://127.0.0.1:9/', OIDC_CLIENT_ID: 'us' }
    const openId = (environment: Record<string, string>): unknown => readConfig(environment, store).config.tokens.openId
    expect(openId({})).to.equal(undefined)
    expect(openId(client)).to.deep.equal({
      issuer: 'http://127.0.0.1:9/',
      clientId: 'us',
      newAccountRole: undefined
    })
    expect(openId({ ...client, OIDC_NEW_ACCOUNT_ROLE: 'CUSTOMER' })).to.include({ newAccountRole: 'Customer' })
    expect(violations({ ...client, OIDC_NEW_ACCOUNT_ROLE: 'nobody' })).to.match(
      /OIDC_NEW_ACCOUNT_ROLE must be a role of/
    )
    expect(violations({ OIDC_NEW_ACCOUNT_ROLE: 'customer' })).to.match(/OIDC_NEW_ACCOUNT_ROLE is of use only with/)
    expect(violations({ OIDC_CLIENT_ID: 'us' })).to.match(/must be set together/)
    expect(violations({ ...client, JWT_ISSUER: 'http://127.0.0.1:9/' })).to.match(/must differ from JWT_ISSUER/)
  })

  it('have a page and somebody who sends for one-time links, and roles that give no power to who signs up', () => {
    const sent = {
      ONE_TIME_LINK_URL: 'https://shop.example.com/password',
      SMTP_URL: 'smtps://user%40x:p%2Fw@mail.example.com',
      SMTP_FROM: 'shop@example.com'
    }
    const { config, effective } = readConfig({ ...sent, SIGN_UP_ROLES: 'CUSTOMER, clerk' }, store)
    expect([config.oneTimeLinks, config.mail]).to.deep.equal([
      { url: sent.ONE_TIME_LINK_URL, signUpRoles: ['Clerk', 'Customer'] },
      {
        host: 'mail.example.com',
        port: 465,
        secure: true,
        auth: { user: 'user@x', pass: 'p/w' },
        from: 'shop@example.com'
      }
    ])
    expect(effective).to.include('SMTP_URL=***').and.not.include('p%2Fw')
    for (const [changed, said] of [
      [{ ONE_TIME_LINK_URL: 'http://shop.example.com/' }, /ONE_TIME_LINK_URL must be an https: URL/],
      [{ ONE_TIME_LINK_URL: '' }, /SMTP_URL is of use only with ONE_TIME_LINK_URL/],
      [{ SMTP_URL: '', SMTP_FROM: '' }, /ONE_TIME_LINK_URL needs SMTP_URL, or a handler/],
      [{ SMTP_URL: 'https://user:secret@mail.example.com' }, /SMTP_URL must be smtps:/],
      [{ SMTP_URL: 'smtp://mail.example.com:0' }, /SMTP_URL must be smtps:/],
      [{ SMTP_URL: 'smtps://:secret@mail.example.com' }, /SMTP_URL must have user name and password/],
      [{ SMTP_FROM: 'a@b.example, c@d.example' }, /SMTP_FROM must be an e-mail address/],
      [{ SIGN_UP_ROLES: 'nobody' }, /SIGN_UP_ROLES must be roles of the application/],
      [{ SIGN_UP_ROLES: 'Admin', OWNER_BYPASS_ROLE: 'admin' }, /SIGN_UP_ROLES must not name OWNER_BYPASS_ROLE/]
    ] as const) {
      expect(violations({ ...sent, ...changed }))
        .to.match(said)
        .and.not.include('secret')
    }
  })

  it('want the type of access tokens where the provider of sign-ins makes ID tokens for the same audience', () => {
    const client = { OIDC_ISSUER: 'http://127.0.0.1:9/', OIDC_CLIENT_ID: 'us' }
    const same = {
      ...client,
      JWT_JWKS_URI: 'http://127.0.0.1:9/keys',
      JWT_JWKS_ISSUER: 'http://127.0.0.1:9',
      JWT_JWKS_AUDIENCE: 'us'
    }
    expect(violations(same)).to.match(/^- JWT_JWKS_TOKEN_TYPE must say which tokens give access/m)
    for (const more of [
      { JWT_JWKS_TOKEN_TYPE: 'at+jwt' },
      { JWT_JWKS_AUDIENCE: 'the-api' },
      { JWT_JWKS_ISSUER: 'http://127.0.0.1:9/other' }
    ]) {
      expect(readConfig({ ...same, ...more }, store).config.tokens.outside?.issuer).to.match(/^http:/)
    }
  })

  it('are printed without passwords, in faults too', () => {
    const url = 'mysql://me:pass%40word@host/db'
    const { effective } = readConfig({ DATABASE_URL: url, REVIEWS_DATABASE_URL: `${url}2` }, store)
    expect(effective).to.contain('DATABASE_URL=mysql://me:***@host/db\n')
    for (const secret of ['hun/ter', 'a@b', 'a#b', 'a?b']) {
      const message = violations({ DATABASE_URL: `mysql://me:${secret}@host` })
      expect(message, secret).to.contain('DATABASE_URL').and.not.contain(secret)
    }
  })
})
