import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { MYSQL2 } from '../../data-service/sql/engines/mysql/driver/mysql-inner.js'
import { eachDatabase } from '../harness/database.js'
import { type Ran, runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'

interface Told {
  readonly code: number
  readonly stderr: string
  /** What it said, by verdict. */
  readonly fine: readonly string[]
  readonly warning: readonly string[]
  readonly mistake: readonly string[]
  readonly summary: string
}

eachDatabase((kind) => {
  describe(`uniform-rest doctor on ${kind}`, () => {
    let primary: FreshDatabase
    let second: FreshDatabase
    let sql: TestDatabase
    let dataDir: string
    before(async () => {
      primary = await freshDatabase(kind)
      second = await freshDatabase(kind)
      sql = await openTestDatabase(primary.url)
      dataDir = await mkdtemp(join(tmpdir(), 'doctor-'))
    })
    after(async () => {
      await sql.close()
      await Promise.all([primary.dispose(), second.dispose()])
      await rm(dataDir, { recursive: true, force: true })
    })

    const run = (command: string, environment: Readonly<Record<string, string>> = {}): Promise<Ran> => {
      const env = {
        DATABASE_URL: primary.url,
        REVIEWS_DATABASE_URL: second.url,
        DATA_DIR: dataDir,
        OWNER_BYPASS_ROLE: 'Admin',
        ...environment
      }
      return runCommand([command, '--app', join(outputRoot, 'examples/store')], { directory: dataDir, env })
    }
    const doctor = async (environment: Readonly<Record<string, string>> = {}): Promise<Told> => {
      const { code, stdout, stderr } = await run('doctor', environment)
      const lines = stdout.trimEnd().split('\n')
      const saying = (verdict: string): string[] =>
        lines.flatMap((line) => (line.startsWith(verdict) ? [line.slice(verdict.length).trim()] : []))
      return {
        code,
        stderr,
        fine: saying('fine '),
        warning: saying('warning '),
        mistake: saying('mistake '),
        summary: lines.at(-1) ?? ''
      }
    }

    it('says which migrations have not run, and nothing is wrong once they have', async () => {
      const before = await doctor()
      expect([before.code, before.stderr]).to.deep.equal([1, ''])
      expect(before.mistake[0]).to.match(
        /^DATABASE_URL: 44 of 44 migrations have not run: .*059-find-events-by-words\. Run `uniform-rest migrate`\.$/
      )
      if (kind === 'mysql') {
        expect(before.mistake.slice(1)).to.deep.equal([
          'REVIEWS_DATABASE_URL: 1 of 1 migrations have not run: 001-product-reviews. Run `uniform-rest migrate`.'
        ])
      } else {
        expect(before.mistake).to.have.length(1)
        expect(before.fine).to.include('REVIEWS_DATABASE_URL: there is no database yet: the first start makes it')
      }
      expect((await run('migrate')).code).to.equal(0)
      const { code, stderr, fine, mistake, summary } = await doctor()
      expect([code, stderr, mistake]).to.deep.equal([0, '', []])
      expect(summary).to.match(/^\d+ fine, \d+ warnings, 0 mistakes\.$/)
      expect(fine).to.include.members([
        'application: 19 entities, settings that are right',
        `DATA_DIR: ${dataDir} is for this user alone`,
        'DATABASE_URL: the account has the rights that serving takes',
        'DATABASE_URL: the tables are as the entities say',
        'REVIEWS_DATABASE_URL: all 1 migrations have run'
      ])
      if (kind === 'sqlite') {
        expect(fine.some((line) => line.startsWith('DATABASE_URL: SQLite: 3.'))).to.equal(true)
        return
      }
      expect(fine).to.include.members([
        'DATABASE_URL: SQL mode: STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
        'DATABASE_URL: isolation: READ-COMMITTED',
        'DATABASE_URL: time zone: +00:00',
        `DATABASE_URL: driver: ${MYSQL2.name} ${MYSQL2.tested}`,
        'DATABASE_URL: driver flags: an UPDATE counts changed rows',
        'DATABASE_URL: writes: taken'
      ])
      expect(
        fine.some((line) => /^DATABASE_URL: clock: \d+ ms (?:ahead of|behind) that of this machine$/.test(line))
      ).to.equal(true)
    })

    it('says what harms a moment of some: other users, certificates that end, few connections', async () => {
      const soon = await generate([{ name: 'commonName', value: 'soon' }], {
        keyType: 'ec',
        notAfterDate: new Date(Date.now() + 5 * 24 * 60 * 60_000)
      })
      const past = await generate([{ name: 'commonName', value: 'past' }], {
        keyType: 'ec',
        notBeforeDate: new Date('2020-01-01'),
        notAfterDate: new Date('2020-02-01')
      })
      const [http, key, grpc, grpcKey] = ['http.pem', 'key.pem', 'grpc.pem', 'grpc.key'].map((name) =>
        join(dataDir, name)
      )
      await writeFile(String(http), soon.cert)
      await writeFile(String(key), soon.private)
      await writeFile(String(grpc), past.cert)
      await writeFile(String(grpcKey), past.private)
      await chmod(dataDir, 0o755)
      try {
        const { code, warning, mistake } = await doctor({
          HTTP_TLS_CERT_FILE: String(http),
          HTTP_TLS_KEY_FILE: String(key),
          GRPC_TLS_CERT_FILE: String(grpc),
          GRPC_TLS_KEY_FILE: String(grpcKey),
          DATABASE_POOL_SIZE: '60000',
          JWT_ISUER: 'https://issuer.example'
        })
        expect(code).to.equal(1)
        expect(warning).to.include(
          'settings: The environment holds JWT_ISUER, and there is no such setting. Did you mean "JWT_ISSUER"?'
        )
        expect(mistake).to.deep.equal(['GRPC_TLS_CERT_FILE: the certificate ended on 2020-02-01. Put a new one there.'])
        expect(warning).to.include(`DATA_DIR: ${dataDir} can be entered by other users. Run chmod 700 on it.`)
        expect(
          warning.some((line) => /^HTTP_TLS_CERT_FILE: the certificate ends on .*\. Renew it\.$/.test(line))
        ).to.equal(true)
        if (kind === 'mysql') {
          expect(
            warning.some((line) =>
              /^DATABASE_URL: max_connections: \d+\. A data service takes up to 60023: raise it, or lower/.test(line)
            )
          ).to.equal(true)
        }
      } finally {
        await chmod(dataDir, 0o700)
      }
    })

    it('says with which keys a start ends', async () => {
      const [one, other] = await Promise.all(
        ['one', 'other'].map((name) => generate([{ name: 'commonName', value: name }], { keyType: 'ec' }))
      )
      const [cert, key, none] = ['one.pem', 'other.key', 'none.pem'].map((name) => join(dataDir, name))
      await writeFile(String(cert), String(one?.cert))
      await writeFile(String(key), String(other?.private))
      const { code, mistake } = await doctor({
        HTTP_TLS_CERT_FILE: String(cert),
        HTTP_TLS_KEY_FILE: String(key),
        GRPC_TLS_CERT_FILE: String(cert),
        GRPC_TLS_KEY_FILE: String(none),
        JWT_PRIVATE_KEY_FILE: String(none)
      })
      expect([code, mistake]).to.deep.equal([
        1,
        [
          `HTTP_TLS_KEY_FILE: ${key} holds no unencrypted private key of the certificate in ${cert}.`,
          `GRPC_TLS_KEY_FILE: ${none} cannot be read (ENOENT).`,
          `JWT_PRIVATE_KEY_FILE: ${none} cannot be read (ENOENT).`
        ]
      ])
    })

    it('says of each file of TLS once what is wrong with it', async () => {
      const { cert } = await generate([{ name: 'commonName', value: 'one' }], { keyType: 'ec' })
      const [there, none, text] = ['there.pem', 'nowhere.pem', 'text.pem'].map((name) => join(dataDir, name))
      await writeFile(String(there), cert)
      await writeFile(String(text), 'no certificate')
      const { code, fine, mistake } = await doctor({
        HTTP_TLS_CERT_FILE: String(none),
        HTTP_TLS_KEY_FILE: `${none} of HTTP`,
        GRPC_TLS_CERT_FILE: String(there),
        GRPC_TLS_KEY_FILE: String(there),
        GRPC_TLS_CA_FILE: String(text)
      })
      expect([code, mistake]).to.deep.equal([
        1,
        [
          `HTTP_TLS_CERT_FILE: ${none} cannot be read (ENOENT).`,
          `HTTP_TLS_KEY_FILE: ${none} of HTTP cannot be read (ENOENT).`,
          `GRPC_TLS_CA_FILE: ${text} holds no PEM certificate.`
        ]
      ])
      expect(fine.filter((line) => line.startsWith('GRPC_TLS_CERT_FILE: the certificate is valid'))).to.have.length(1)
    })

    it('says what is wrong with settings, and looks no further', async () => {
      const { code, fine, mistake } = await doctor({ MAX_PAGE_SIZE: '0', GATEWAY_PORT: 'x' })
      expect([code, fine.length]).to.deep.equal([1, 1])
      expect(mistake).to.have.length(1)
      expect((await run('doctor', { MAX_PAGE_SIZE: '0' })).stdout).to.include(
        '\n         - MAX_PAGE_SIZE must be a whole number from 1 to 2147483647, not "0".\n'
      )
      const { mistake: unset } = await doctor({ OWNER_BYPASS_ROLE: '' })
      expect(unset).to.have.length(1)
      expect(unset[0]).to.match(/^OWNER_BYPASS_ROLE: not set, so requests for bookmarks, .* are answered 500\./)
    })

    it('says that two settings lead to one database', async () => {
      if (kind === 'sqlite') return
      const again = new URL(primary.url)
      again.hostname = again.hostname === 'localhost' ? '127.0.0.1' : 'localhost'
      const { code, mistake } = await doctor({ REVIEWS_DATABASE_URL: again.href })
      expect(code).to.equal(1)
      expect(mistake.length).to.be.at.least(1)
    })

    it('names a right that the account has not, a column that is gone, and a server that does not answer', async () => {
      if (kind === 'mysql') {
        const name = new URL(primary.url).pathname.slice(1)
        await sql.run("CREATE USER 'doctor_reader'@'%' IDENTIFIED BY 'doctor-password'")
        await sql.run(`GRANT SELECT ON ${name}.* TO 'doctor_reader'@'%'`)
        try {
          const url = new URL(primary.url)
          url.username = 'doctor_reader'
          url.password = 'doctor-password'
          const { code, mistake } = await doctor({ DATABASE_URL: url.href })
          expect(code).to.equal(1)
          expect(mistake[0]).to.match(/^DATABASE_URL: .*(?:INSERT|right)/)
        } finally {
          await sql.run("DROP USER 'doctor_reader'@'%'")
        }
        const { code, mistake, fine } = await doctor({ DATABASE_URL: 'mysql://x:secret-word@127.0.0.1:1/nowhere' })
        expect([code, mistake]).to.deep.equal([
          1,
          [
            'DATABASE_URL: mysql://x:***@127.0.0.1:1/nowhere, cannot be opened: no server answers there (ECONNREFUSED). Start it, or correct host and port.'
          ]
        ])
        expect(fine).to.include('REVIEWS_DATABASE_URL: the tables are as the entities say')
      }
      await sql.run('ALTER TABLE suppliers DROP COLUMN row_version')
      const { code, mistake } = await doctor()
      expect(code).to.equal(1)
      expect(mistake).to.have.length(1)
      expect(mistake[0]).to.match(/^DATABASE_URL: suppliers: the table suppliers has no column row_version/)
      expect(mistake[0]).to.match(/`uniform-rest check --sql` prints statements that would fix it\.$/)
      const isolating = await doctor({ SCHEMA_MISMATCH: 'isolate' })
      expect([isolating.code, isolating.mistake]).to.deep.equal([0, []])
      expect(isolating.warning.filter((one) => one.includes('requests for suppliers are answered 503'))).to.have.length(
        1
      )
    })
  })
})
