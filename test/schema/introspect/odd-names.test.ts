import { expect } from 'chai'
import { eachDatabase, freshDatabase } from '../../stack/databases.js'
import { IntrospectedApp } from './introspected-app.js'

/** Names that JavaScript, SQL or a reader could take for something else. */
function statements(kind: 'mysql' | 'sqlite'): string[] {
  const q = (name: string): string =>
    kind === 'mysql' ? `\`${name.replaceAll('`', '``')}\`` : `"${name.replaceAll('"', '""')}"`
  return [
    `CREATE TABLE constructor (id INT NOT NULL PRIMARY KEY, ${q('toString')} INT, ${q('__proto__')} INT)`,
    `CREATE TABLE ${q('toString')} (id INT NOT NULL PRIMARY KEY, constructor INT REFERENCES constructor (id))`,
    `CREATE TABLE ${q('back`tick')} (id INT NOT NULL PRIMARY KEY, name VARCHAR(20))`,
    `CREATE TABLE summed (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, ${q('a`b')} INT,
      twice INT AS (a * 2), total INT AS (a + b) STORED)`,
    'CREATE TABLE user_role (id INT NOT NULL PRIMARY KEY)',
    // An index of it that is named by table and column would have the name of the table above.
    `CREATE TABLE ${q('user')} (id INT NOT NULL PRIMARY KEY, role INT NOT NULL)`,
    `CREATE INDEX roles_of_users ON ${q('user')} (role)`,
    'CREATE TABLE UserRole (id INT NOT NULL PRIMARY KEY)',
    // Letters that differ in case only are two tables on the server of these tests, and none on SQLite.
    ...(kind === 'mysql'
      ? [
          'CREATE TABLE Invoice (id INT NOT NULL PRIMARY KEY, total INT)',
          'CREATE TABLE invoice (id INT NOT NULL PRIMARY KEY, paid INT)',
          'CREATE TABLE UR_Outbox (id INT NOT NULL PRIMARY KEY)',
          // Of each pair one has nothing to serve, whichever comes first.
          'CREATE TABLE Voucher (token VARCHAR(80))',
          'CREATE TABLE voucher (id INT NOT NULL PRIMARY KEY)',
          'CREATE TABLE Receipt (id INT NOT NULL PRIMARY KEY)',
          'CREATE TABLE receipt (token VARCHAR(80))'
        ]
      : []),
    `CREATE TABLE logins (id INT NOT NULL PRIMARY KEY, email VARCHAR(80), token VARCHAR(80), api_token VARCHAR(80),
      authToken VARCHAR(80), session_key VARCHAR(80), credentials VARCHAR(80), pwd VARCHAR(80), user_pwd VARCHAR(80),
      salt VARCHAR(80), password_salt VARCHAR(80), pin VARCHAR(8), otp VARCHAR(8),
      tokens INT, shipping VARCHAR(80), salted VARCHAR(80), opinion VARCHAR(80), key_name VARCHAR(80))`
  ]
}

eachDatabase((kind) => {
  describe(`uniform-rest introspect of odd names on ${kind}`, () => {
    let app: IntrospectedApp
    before(async () => {
      app = await IntrospectedApp.make(kind, statements(kind))
    })
    after(() => app.dispose())

    it('writes files for tables named as members of every object, and leaves out a name that no statement can quote', async () => {
      const ran = await app.run('introspect')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(ran.stdout).to.include('back`tick is left out: its name cannot be quoted.')
      if (kind === 'mysql') {
        const why = 'left out: its name differs from that of'
        expect(ran.stdout).to.match(
          /^\W*(?:invoice is left out: .* `Invoice`|Invoice is left out: .* `invoice`) in letter case only/m
        )
        expect(ran.stdout).to.include(`UR_Outbox is ${why} \`ur_outbox\` in letter case only`)
        expect(ran.stdout).to.match(
          /^\W*(?:Voucher\b.*\breceipt|receipt\b.*\bVoucher)\W* are left out: it has no key, and all its columns/m
        )
      }
      const written = [...(await app.files()).keys()].filter((name) => /^entities\/[\w-]+\.ts$/.test(name))
      const names = [
        'constructors',
        'to-strings',
        'summeds',
        'logins',
        'introspected',
        'users',
        'user-roles',
        'user-roles-2'
      ]
      expect(written).to.have.members(
        [...names, ...(kind === 'mysql' ? ['invoices', 'vouchers', 'receipts'] : [])].map(
          (name) => `entities/${name}.ts`
        )
      )
    })

    it('hides what is named as a secret, and nothing else', async () => {
      const hidden = (await app.read('entities/logins.ts')).matchAll(/^ {4}(\w+):.*\bhidden\(/gm)
      expect([...hidden].map(([, name]) => name)).to.deep.equal([
        'token',
        'apiToken',
        'authToken',
        'sessionKey',
        'credentials',
        'pwd',
        'userPwd',
        'salt',
        'passwordSalt',
        'pin',
        'otp'
      ])
    })

    it('records the baseline of tables with computed columns, and finds nothing to change', async () => {
      const checked = await app.run('check')
      expect([checked.code, checked.stderr], checked.stdout).to.deep.equal([0, ''])
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect([migrated.code, migrated.stderr]).to.deep.equal([0, ''])
      expect(migrated.stdout).to.include('ran 001-baseline')
      const again = await app.run('introspect')
      expect([again.code, again.stdout.includes('Wrote')], again.stdout).to.deep.equal([0, false])
    })

    it('writes what compiles and starts', async () => {
      await app.writeConfig()
      expect(await app.compile()).to.equal('')
      const stack = await app.start()
      try {
        const token = stack.token({ role: 'Admin' })
        for (const name of [
          'user-roles',
          'user-roles-2',
          ...(kind === 'mysql' ? ['invoices', 'vouchers', 'receipts'] : [])
        ]) {
          expect((await stack.call(`/${name}`, { token })).status).to.equal(200)
        }
      } finally {
        await stack.stop()
      }
    })

    it('writes a baseline that an empty SQLite database takes, as the tests of the application do', async () => {
      const empty = await freshDatabase('sqlite')
      try {
        const stack = await app.start({ url: empty.url })
        await stack.stop()
      } finally {
        await empty.dispose()
      }
    })
  })
})
