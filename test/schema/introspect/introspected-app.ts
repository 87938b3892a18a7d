import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sequelize } from 'sequelize'
import { connect } from '../../../data-service/sql/connect.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../../harness/database.js'
import { ApplicationFolder, type Ran } from '../../harness/command.js'
import { packageRoot } from '../../harness/package-root.js'
import { type Stack, startStack } from '../../stack/stack.js'

const CONFIG = `import { defineApplication, migrationsIn } from 'uniform-rest'
import { introspected, introspectedPermissions } from './entities/introspected.js'

export default defineApplication({
  entities: introspected,
  roles: { Admin: introspectedPermissions },
  settings: { OWNER_BYPASS_ROLE: 'Admin', STRICT_HANDLING: 'true' },
  migrations: await migrationsIn(new URL('./migrations', import.meta.url))
})
`

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: []
  },
  include: ['**/*.ts']
}

/** An application in a folder of its own, on a database that hand-written SQL filled. */
export class IntrospectedApp {
  readonly database: FreshDatabase
  readonly sql: Sequelize
  /** The name of the database, for `--among-tables-of`. */
  readonly name: string
  readonly #files: ApplicationFolder

  private constructor(files: ApplicationFolder, database: FreshDatabase) {
    this.#files = files
    this.database = database
    const { sequelize, name } = connect(database.url)
    this.sql = sequelize
    this.name = name
  }

  static async make(kind: DatabaseKind, statements: readonly string[]): Promise<IntrospectedApp> {
    const files = await ApplicationFolder.make({ 'tsconfig.json': JSON.stringify(TSCONFIG) })
    const app = new IntrospectedApp(files, await freshDatabase(kind))
    for (const statement of statements) await app.sql.query(statement)
    return app
  }

  /** `uniform-rest <args>` on it, with nothing of this process's environment. */
  run(...args: string[]): Promise<Ran> {
    return this.#files.run(args, { DATABASE_URL: this.database.url })
  }

  /** The same as another account of the server. */
  runAs({ user, password }: { readonly user: string; readonly password: string }, ...args: string[]): Promise<Ran> {
    const url = new URL(this.database.url)
    Object.assign(url, { username: user, password })
    return this.#files.run(args, { DATABASE_URL: url.href })
  }

  writeConfig(): Promise<void> {
    return this.write('uniform-rest.config.ts', CONFIG)
  }

  read(file: string): Promise<string> {
    return this.#files.read(file)
  }

  write(file: string, text: string): Promise<void> {
    return this.#files.write({ [file]: text })
  }

  remove(file: string): Promise<void> {
    return this.#files.remove(file)
  }

  /** The text of every file that was written, by path. */
  async files(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (const folder of ['entities', 'migrations']) {
      if (!existsSync(join(this.#files.path, folder))) continue
      for (const name of (await readdir(join(this.#files.path, folder))).toSorted()) {
        found.set(`${folder}/${name}`, await this.read(`${folder}/${name}`))
      }
    }
    return found
  }

  /** What `tsc` says; empty if nothing is wrong. */
  compile(): Promise<string> {
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')
    const cwd = this.#files.path
    return new Promise((resolve) => {
      execFile(process.execPath, [tsc, '-p', cwd], { cwd }, (error, stdout, stderr) =>
        resolve(error === null ? '' : `${stdout}${stderr}`)
      )
    })
  }

  /** Serves it, as its files are now. */
  async start(database: { readonly url: string } = this.database): Promise<Stack> {
    return startStack({ app: await this.#files.renamed(), database })
  }

  async dispose(): Promise<void> {
    await this.sql.close()
    await this.database.dispose()
    await this.#files[Symbol.asyncDispose]()
  }
}
