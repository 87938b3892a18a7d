import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { Sequelize } from 'sequelize'
import type { Ddl } from '../../../../data-service/sql/engines/engine.js'
import type { EngineName } from '../../../../data-service/sql/engines/engines.js'
import { MysqlSchema } from '../../../../data-service/sql/engines/mysql-schema.js'
import { SqliteSchema } from '../../../../data-service/sql/engines/sqlite-schema.js'
import { statementsOfAll } from '../../../../data-service/sql/schema/migrate.js'
import { secondMigrations } from '../../../../examples/store/schema/reviews.js'
import { packageRoot } from '../../../harness/package-root.js'
import { primaryMigrations } from '../../../harness/primary-migrations.js'

/** The schema tools of a server that answers one version and is never connected to. */
class OfVersion extends Sequelize {
  readonly #version: string

  constructor(version: string) {
    super({ dialect: 'mysql' })
    this.#version = version
  }

  override query(): Promise<never> {
    return Promise.resolve([{ version: this.#version }] as never)
  }
}

const DDL: Record<EngineName, () => Promise<Ddl>> = {
  sqlite: () => new SqliteSchema(new OfVersion('')).ddl(),
  mysql: () => new MysqlSchema(new OfVersion('8.0.36')).ddl()
}

/**
 * The statements of the migrations that were released, as they were then. A release adds its own by a run of this file with
 * RECORD_MIGRATIONS=true, which never changes those that stand there.
 */
describe('statements of released migrations', () => {
  for (const [engine, ddlOf] of Object.entries(DDL)) {
    const file = join(packageRoot, 'test/data-service/sql/schema/released', `${engine}.sql`)

    it(`are the same as ever on ${engine}`, async () => {
      const now = statementsNow(await ddlOf())
      const recorded = parse(await readFile(file, 'utf8').catch(() => ''))
      if (process.env['RECORD_MIGRATIONS'] === 'true') {
        await writeFile(file, [...new Map([...now, ...recorded])].map(([name, text]) => `-- ${name}\n${text}`).join(''))
        return
      }
      expect(recorded.size).to.be.greaterThan(25)
      for (const [name, text] of recorded) expect(now.get(name), name).to.equal(text)
      expect(
        [...now.keys()].filter((name) => recorded.has(name)),
        'their order'
      ).to.deep.equal([...recorded.keys()])
    })
  }
})

/** The text of each migration's statements, by its store and name. */
function statementsNow(ddl: Ddl): Map<string, string> {
  const stores = { primary: primaryMigrations, second: secondMigrations }
  return new Map(
    Object.entries(stores).flatMap(([store, migrations]) =>
      Array.from(statementsOfAll(migrations, ddl), ([name, statements]): [string, string] => [
        `${store} ${name}`,
        statements.map((statement) => `${statement};\n`).join('')
      ])
    )
  )
}

function parse(text: string): Map<string, string> {
  const parts = text.split(/^-- (.*)\n/m).slice(1)
  return new Map(
    Array.from({ length: parts.length / 2 }, (_, index) => [parts[index * 2] ?? '', parts[index * 2 + 1] ?? ''])
  )
}
