import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { Sequelize } from 'sequelize'
import type { Ddl } from '../../schema/model/schema-tools.js'
import type { EngineName } from '../../data-service/sql/engines/engine-name.js'
import { type OwnTables, ownTableNames, ownTables, RECORD } from '../../data-service/sql/engines/own-tables.js'
import { MysqlSchema } from '../../schema/kinds/mysql/mysql-schema.js'
import { SqliteSchema } from '../../schema/kinds/sqlite/sqlite-schema.js'
import { statementsOfAll } from '../../schema/migrations/migration.js'
import { engineMigrations } from '../../schema/migrations/engine-tables.js'
import { secondMigrations } from '../../examples/store/schema/reviews.js'
import { packageRoot } from '../harness/package-root.js'
import store from '../../examples/store/uniform-rest.config.js'
import { OWN, UNPREFIXED } from '../harness/own-tables.js'

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

const DDL: Record<EngineName, (own: OwnTables) => Promise<Ddl>> = {
  sqlite: (own) => new SqliteSchema(new OfVersion('')).ddl(own),
  mysql: (own) => new MysqlSchema(new OfVersion('8.0.36')).ddl(own)
}

/**
 * The statements of the migrations that were released, as they were then. A release adds its own by a run of this file with
 * RECORD_MIGRATIONS=true, which never changes those that stand there.
 */
describe('statements of released migrations', () => {
  for (const [engine, ddlOf] of Object.entries(DDL)) {
    const file = join(packageRoot, 'test/schema/released', `${engine}.sql`)

    it(`are the same as ever on ${engine}`, async () => {
      const now = statementsNow(await ddlOf(UNPREFIXED), UNPREFIXED)
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

    it(`are the same on ${engine} with a prefix before each table of the engine, its indexes and its constraints`, async () => {
      const now = statementsNow(await ddlOf(OWN), OWN)
      const names = new RegExp(`\`((${[...ownTableNames(), RECORD].join('|')})(_\\w+)?)\``, 'g')
      for (const [name, text] of parse(await readFile(file, 'utf8'))) {
        const isOwn = engineMigrations(OWN).some((one) => name === `primary ${one.name}`)
        expect(now.get(name), name).to.equal(isOwn ? text.replace(names, '`ur_$1`') : text)
      }
    })
  }
})

describe('statements of released migrations where the tables of the engine are in another database', () => {
  it('name it wherever they name one of these tables, and nowhere else', async () => {
    const apart = ownTables({ schema: 'engine', prefix: 'ur_' })
    const texts = (ddl: Ddl, own: OwnTables): string[] =>
      [...statementsOfAll(engineMigrations(own), ddl).values()].flat()
    const here = texts(await DDL.mysql(OWN), OWN)
    const table = new RegExp(`\`ur_(${ownTableNames().join('|')})\``, 'g')
    expect(here.join('\n').match(table)).to.have.length.greaterThan(15)
    expect(texts(await DDL.mysql(apart), apart)).to.deep.equal(here.map((text) => text.replace(table, '`engine`.$&')))
  })
})

/** The text of each migration's statements, by its store and name. */
function statementsNow(ddl: Ddl, own: OwnTables): Map<string, string> {
  const stores = { primary: [...engineMigrations(own), ...store.migrations], second: secondMigrations }
  return new Map(
    Object.entries(stores).flatMap(([which, migrations]) =>
      Array.from(statementsOfAll(migrations, ddl), ([name, statements]): [string, string] => [
        `${which} ${name}`,
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
