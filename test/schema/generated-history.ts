import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import type { Entity } from '../../data-service/entity/entity.js'
import { checkSchema } from '../../schema/check/check-schema.js'
import { type Difference, difference, type DifferenceOptions } from '../../schema/migrations/difference.js'
import { entityTables } from '../../schema/migrations/entity-tables.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { schemaAfter } from '../../schema/migrations/migration.js'
import { migrationFile } from '../../schema/migrations/migration-file.js'
import { type Migrations, migrationsIn } from '../../schema/migrations/migration-folder.js'
import { createLogger } from '../../shared/logger.js'
import { OWN } from '../harness/own-tables.js'
import { outputRoot } from '../harness/package-root.js'
import type { DatabaseKind } from '../stack/databases.js'
import { type FreshStores, freshStores } from './fresh-stores.js'
import { modelTexts, realTexts } from './real-tables.js'

const log = createLogger({ name: 'test', level: 'silent' })
const NO_OPTIONS: Partial<DifferenceOptions> = {}

/** A folder of migrations that are generated from entities, one after another, and the database in which they run. */
export interface GeneratedHistory {
  readonly stores: FreshStores
  /** The migrations so far, as their files say them. */
  all(): Promise<Migrations>
  differenceOf(entities: readonly Entity[], options?: Partial<DifferenceOptions>): Promise<Difference>
  /** Writes the next migration from the difference, runs it, and compares everything. Again, as after an interruption. */
  advance(entities: readonly Entity[], options?: Partial<DifferenceOptions>): Promise<Difference>
  run(statement: string): Promise<unknown>
  select(statement: string): Promise<Record<string, unknown>[]>
  dispose(): Promise<void>
}

export async function generatedHistory(kind: DatabaseKind): Promise<GeneratedHistory> {
  const stores = await freshStores(kind)
  const folder = await mkdtemp(join(outputRoot, 'generated-'))
  let count = 0
  const all = (): Promise<Migrations> => migrationsIn(pathToFileURL(`${folder}/`))
  const run = (statement: string): Promise<unknown> => stores.primary.query(statement)

  async function differenceOf(entities: readonly Entity[], options = NO_OPTIONS): Promise<Difference> {
    const made = schemaAfter(await all())
    return difference(made, entityTables(entities, 'primary'), { engineTables: new Set(), ...options })
  }

  async function advance(entities: readonly Entity[], options = NO_OPTIONS): Promise<Difference> {
    const found = await differenceOf(entities, options)
    expect(found.problems).to.deep.equal([])
    expect(found.steps).to.not.deep.equal([])
    const name = `${String(++count).padStart(3, '0')}-step`
    await writeFile(join(folder, `${name}.js`), migrationFile(name, found.steps, { isTyped: false }))
    const migrations = await all()
    const database = stores.databases.primary
    expect(await migrateDatabase(database, migrations, { own: OWN, log })).to.deep.equal([name])
    const rerun = kind === 'mysql' ? ['once', 'again'] : ['once']
    for (const time of rerun) {
      if (time === 'again') {
        await run(`UPDATE ur_schema_migrations SET name = '>${name}' WHERE name = '${name}'`)
        await migrateDatabase(database, migrations, { own: OWN, log })
      }
      await checkSchema(database, { store: 'primary', setting: 'DATABASE_URL' }, entities)
      const schema = schemaAfter(migrations)
      const real = await realTexts(stores.primary, { kind, tables: schema.keys() })
      expect(real, time).to.deep.equal(modelTexts(schema, kind))
    }
    expect((await differenceOf(entities)).steps).to.deep.equal([])
    return found
  }

  return {
    stores,
    all,
    differenceOf,
    advance,
    run,
    select: (statement) => stores.primary.query(statement, { type: QueryTypes.SELECT }),
    dispose: async () => {
      await stores.dispose()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
