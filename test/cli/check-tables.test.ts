import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { type Ran, runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { ROW_VERSION_SECRET } from '../stack/stack.js'

eachDatabase((kind) => {
  describe(`uniform-rest check of a live database on ${kind}`, () => {
    let database: FreshDatabase
    let sql: TestDatabase
    let dataDir: string
    before(async () => {
      database = await freshDatabase(kind)
      sql = await openTestDatabase(database.url)
      dataDir = await mkdtemp(join(tmpdir(), 'check-tables-'))
    })
    after(async () => {
      await sql.close()
      await database.dispose()
      await rm(dataDir, { recursive: true, force: true })
    })

    const run = (...args: readonly string[]): Promise<Ran> => {
      const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, OWNER_BYPASS_ROLE: 'Admin', ROW_VERSION_SECRET }
      return runCommand([...args, '--app', join(outputRoot, 'test/library')], { directory: dataDir, env })
    }
    /** What the database says of all that is in it. */
    const everything = async (): Promise<string> =>
      JSON.stringify(
        kind === 'sqlite'
          ? await sql.run('SELECT type, name, sql FROM sqlite_master ORDER BY type, name')
          : await sql.run(
              'SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT FROM information_schema.COLUMNS ' +
                'WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, COLUMN_NAME'
            )
      )

    it('waits for the migrations, and finds no mistake after them', async () => {
      const before = await run('check')
      expect([before.code, before.stderr]).to.deep.equal([0, ''])
      expect(before.stdout).to.match(/DATABASE_URL: 101-visits, .* has not run yet; `uniform-rest migrate` runs/)
      expect((await run('migrate')).code).to.equal(0)
      const after = await run('check')
      expect([after.code, after.stderr], after.stdout).to.deep.equal([0, ''])
      expect(after.stdout).to.match(/^\d+ entities, no mistakes\.\nDATABASE_URL: no mistakes in its tables\.\n/m)
      // A permission to write beside a row scope of reads is no mistake, and what it means is said.
      expect(after.stdout).to.match(
        /^documents,.* holders of .* can write only the rows that they can read by id\. If .* say writesUnseen: true in `access`\.$/m
      )
      expect(after.stdout).to.match(
        /^swatches,.*complaints: holders of .* can write rows that they cannot read by id\. If .* take writesUnseen out of `access`\.$/m
      )
      expect(after.stdout).to.match(
        /^- no trigger that this account may see advances the version.*: .*\blegacy_rooms\b/m
      )
      expect(after.stdout).to.not.include('prints statements that would fix this')
    })

    it('names what others altered, prints the statements, exits with 1 and changes nothing', async () => {
      await sql.run(kind === 'sqlite' ? 'DROP INDEX gauges_next' : 'ALTER TABLE gauges DROP INDEX `next_reading`')
      await sql.run('ALTER TABLE legacy_regions DROP COLUMN row_version')
      const before = await everything()
      const found = await run('check')
      expect([found.code, found.stderr]).to.deep.equal([1, ''])
      expect(found.stdout).to.match(
        /DATABASE_URL: 1 mistake in its tables:\n- regions: the table legacy_regions has no column row_version for the version of rows/
      )
      expect(found.stdout).to.match(/^- gauges: the sortable next has no index \(gauges\.next_reading, id\)/m)
      const { code, stdout, stderr } = await run('check', '--sql')
      expect([code, stderr]).to.deep.equal([1, ''])
      expect(stdout).to.match(
        /^-- DATABASE_URL: regions: .*\nALTER TABLE `legacy_regions` ADD COLUMN `row_version` (BINARY\(8\)|BLOB) NOT NULL/
      )
      expect(stdout).to.match(/\nCREATE INDEX .* ON `gauges` \(`next_reading`/)
      expect(stdout).to.include('CREATE TRIGGER `legacy_rooms_version_update`')
      expect(await everything(), 'the tables').to.equal(before)
      for (const line of stdout.split('\n').filter((one) => /^(ALTER|CREATE)/.test(one))) {
        await sql.run(line.replace(/;$/, ''))
      }
      const mended = await run('check')
      expect([mended.code, mended.stderr], mended.stdout).to.deep.equal([0, ''])
      expect(mended.stdout).to.not.match(/no index|no trigger/)
    })

    it('takes no other word', async () => {
      const { code, stderr } = await run('check', '--mend')
      expect([code, stderr]).to.deep.equal([1, 'uniform-rest check takes --sql or nothing, not "--mend".\n'])
    })
  })
})
