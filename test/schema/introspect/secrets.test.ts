import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

const VERSION = { mysql: 'BINARY(8) NOT NULL', sqlite: 'BLOB NOT NULL' }
const NUMBERED = { mysql: 'INT NOT NULL AUTO_INCREMENT PRIMARY KEY', sqlite: 'INTEGER NOT NULL PRIMARY KEY' }

/** Tables as strangers have them: PrestaShop's employees, FreeRADIUS's checks, keys of an API, sessions of PHP. */
function statements(kind: 'mysql' | 'sqlite'): string[] {
  const q = (name: string): string => (kind === 'mysql' ? `\`${name}\`` : `"${name}"`)
  return [
    `CREATE TABLE employee (id_employee ${NUMBERED[kind]}, passwd VARCHAR(60) NOT NULL, ` +
      'secure_key VARCHAR(32), last_passwd_gen INT NOT NULL DEFAULT 0)',
    `CREATE TABLE radcheck (id ${NUMBERED[kind]}, username VARCHAR(64) NOT NULL, attribute VARCHAR(64) NOT NULL, ` +
      'value VARCHAR(253) NOT NULL)',
    `CREATE TABLE oc_api (api_id ${NUMBERED[kind]}, ${q('key')} VARCHAR(64) NOT NULL UNIQUE, name VARCHAR(64) NOT NULL)`,
    'CREATE TABLE visit_day (passwd VARCHAR(60) NOT NULL, visitors INT NOT NULL, day DATE NOT NULL PRIMARY KEY)',
    'CREATE TABLE php_session (session_id VARCHAR(32) NOT NULL PRIMARY KEY, data TEXT)',
    "INSERT INTO employee (passwd, secure_key) VALUES ('hash-of-ada', 'key-of-ada')",
    "INSERT INTO radcheck (username, attribute, value) VALUES ('ada', 'Cleartext-Password', 'clear-of-ada')",
    `INSERT INTO oc_api (${q('key')}, name) VALUES ('key-of-shop', 'shop')`,
    "INSERT INTO php_session (session_id, data) VALUES ('id-of-session', 'user|i:1')"
  ]
}

eachDatabase((kind) => {
  describe(`Secrets that uniform-rest introspect finds on ${kind}`, () => {
    let app: IntrospectedApp
    before(async () => {
      app = await IntrospectedApp.make(kind, statements(kind))
      const ran = await app.run('introspect')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
    })
    after(() => app.dispose())

    const file = (name: string): Promise<string> => app.read(`entities/${name}.ts`)

    it('are hidden, and neither label nor filterable nor sortable', async () => {
      const employees = await file('employees')
      expect(employees)
        .to.include('passwd: hidden(text(60, 0))')
        .and.include('secureKey: hidden(optional(text(32, 0)))')
      expect(employees).to.match(/lastPasswdGen: defaultTo\((?:int|long)\(\), '?0'?\)/)
      expect(employees).to.include("label: 'id'").and.include("filterable: ['id', 'lastPasswdGen']")
      const checks = await file('radchecks')
      expect(checks).to.include('value: hidden(text(253, 0))').and.include("label: 'username'")
      expect(checks).to.include("filterable: ['id', 'username', 'attribute']")
      const keys = await file('oc-apis')
      expect(keys).to.include('key: hidden(unique(text(64, 0)))').and.include("label: 'name'")
      expect(keys).to.include("sortable: ['id']")
      // Its only text is a secret. A key that is a date is no label; SQLite keeps one as text.
      expect(await file('visit-days')).to.include(`label: '${kind === 'mysql' ? 'visitors' : 'id'}'`)
    })

    it('leave a table without a key whose only key is one, until --key names it', async () => {
      const report = await app.read('entities/introspected.md')
      expect(report).to.match(
        /php_session.*it has no key, and all its columns are hidden by their names; those that `--key` names are served/
      )
      const named = await app.run('introspect', '--key', 'php_session=session_id', '--dry-run')
      expect(named.stdout).to.include('The name of the column `session_id` says that it is a secret. It is served')
      expect(named.stdout).to.include('`data` is hidden, since its name says that it is a secret.')
    })

    it('are named one by one in the report', async () => {
      const report = await app.read('entities/introspected.md')
      for (const name of ['passwd', 'secureKey', 'value', 'key']) {
        expect(report).to.include(`\`${name}\` is hidden, since its name says that it is a secret.`)
      }
      expect(report).to.not.include('`lastPasswdGen` is hidden')
    })

    it('stay hidden when a column beside them, which told of them, has another name', async () => {
      await app.sql.query('ALTER TABLE radcheck RENAME COLUMN attribute TO att')
      const renamed = await app.run('introspect')
      expect(renamed.stdout)
        .to.match(/^ {2}\+ att: /m)
        .and.to.not.match(/[~+-] value: /)
      const report = await app.read('entities/introspected.md')
      expect(report).to.include('`value` is hidden, as the last run had it')
      await app.sql.query('ALTER TABLE radcheck RENAME TO rad_check')
      await app.sql.query('ALTER TABLE rad_check RENAME COLUMN username TO login')
      const unknown = await app.run('introspect', '--dry-run')
      expect(unknown.stdout)
        .to.include('Would write entities/rad-checks.ts')
        .and.include('`value` is hidden, as the last')
      await app.sql.query('ALTER TABLE rad_check RENAME COLUMN login TO username')
      await app.sql.query('ALTER TABLE rad_check RENAME TO radcheck')
      await app.sql.query('ALTER TABLE radcheck RENAME COLUMN att TO attribute')
      expect((await app.run('introspect')).stdout).to.not.match(/[~+-] value: /)
    })

    it('stay hidden when their rows get a version, in the next run and in a first one', async () => {
      for (const table of ['employee', 'radcheck', 'oc_api']) {
        const zero = kind === 'mysql' ? '' : " DEFAULT x'0000000000000001'"
        await app.sql.query(`ALTER TABLE ${table} ADD COLUMN row_version ${VERSION[kind]}${zero}`)
      }
      const next = await app.run('introspect', '--dry-run')
      expect(next.stdout).to.include("- rowVersion: 'none' (its rows have a version now)")
      expect(next.stdout).to.include('  ~ passwd: writeOnly(text(60, 0)) (was passwd: hidden(text(60, 0)))')
      expect(next.stdout).to.not.match(/~ (?:passwd|secureKey|value|key): (?!hidden|writeOnly)/)
      for (const name of ['entities', 'migrations', 'uniform-rest.config.ts']) await app.remove(name)
      const first = await app.run('introspect')
      expect([first.code, first.stderr]).to.deep.equal([0, ''])
      const employees = await file('employees')
      expect(employees).to.include('passwd: writeOnly(text(60, 0))').and.include("label: 'id'")
      expect(employees).to.include('secureKey: hidden(optional(text(32, 0)))')
      expect(await file('radchecks')).to.include('value: writeOnly(text(253, 0))')
      expect(await file('oc-apis')).to.include('key: writeOnly(unique(text(64, 0)))')
      const report = await app.read('entities/introspected.md')
      expect(report).to.include('`passwd` is only written and never read, since its name says that it is a secret')
      expect(await app.compile()).to.equal('')
    })

    it('are in no answer, and answer as unknown names in a filter', async () => {
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect(migrated.stderr).to.equal('')
      const stack: Stack = await app.start()
      try {
        const token = stack.token({ sub: 'a', role: 'Admin' })
        for (const resource of ['employees', 'radchecks', 'oc-apis']) {
          for (const path of [`/${resource}`, `/${resource}/1`, `/${resource}/lookup`, `/${resource}/export`]) {
            const answer = await stack.call(path, { token })
            expect([answer.status, /(?:hash|key|clear)-of/.test(answer.text)], path).to.deep.equal([200, false])
          }
        }
        const body = { passwd: 'hash-of-bob' }
        const made = await stack.call('/employees', { token, body })
        expect([made.status, Object.keys(made.body as object)], made.text).to.deep.equal([
          201,
          ['id', 'lastPasswdGen', 'rowVersion']
        ])
        const [count] = (await app.sql.query("SELECT COUNT(*) AS n FROM employee WHERE passwd = 'hash-of-bob'"))[0]
        expect(Number((count as { readonly n: unknown }).n)).to.equal(1)
        const guess = '/employees/paged?filters[passwd].operator=startsWith&filters[passwd].value=h'
        const guessed = await stack.call(guess, { token })
        expect(guessed.body).to.include({ status: 400, code: 'filter.property.unknown' })
      } finally {
        await stack.stop()
      }
    })

    it('are named by check where an entity file shows them', async () => {
      const hiding = await app.run('check')
      expect([hiding.code, hiding.stderr]).to.deep.equal([0, ''])
      expect(hiding.stdout).to.not.include('say that they are secrets')
      const employees = await file('employees')
      await app.write('entities/employees.ts', employees.replace(/(?:hidden|writeOnly)\((text\(60, 0\))\)/, '$1'))
      const showing = await app.run('check')
      expect(showing.stdout).to.include('say that they are secrets').and.include('\n- employees.passwd\n')
      expect(showing.stdout).to.not.include('secureKey')
    })
  })
})
