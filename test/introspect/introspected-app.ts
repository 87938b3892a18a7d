import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sequelize } from 'sequelize'
import { connect } from '../../data-service/sql/connect.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../harness/database.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../stack/stack.js'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const CONFIG = `import { defineApplication, migrationsIn } from 'uniform-rest'
import { introspected, introspectedPermissions } from './entities/introspected.js'

export default defineApplication({
  entities: introspected,
  roles: { Admin: introspectedPermissions },
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
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
  readonly folder: string
  readonly database: FreshDatabase
  readonly sql: Sequelize
  /** The name of the database, for `--among-tables-of`. */
  readonly name: string

  private constructor(folder: string, database: FreshDatabase) {
    this.folder = folder
    this.database = database
    const { sequelize, name } = connect(database.url)
    this.sql = sequelize
    this.name = name
  }

  static async make(kind: DatabaseKind, statements: readonly string[]): Promise<IntrospectedApp> {
    const folder = await mkdtemp(join(tmpdir(), 'introspect-'))
    await mkdir(join(folder, 'node_modules'))
    await symlink(packageRoot, join(folder, 'node_modules/uniform-rest'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const app = new IntrospectedApp(folder, await freshDatabase(kind))
    for (const statement of statements) await app.sql.query(statement)
    return app
  }

  /** `uniform-rest <args>` on it, with nothing of this process's environment. */
  run(...args: string[]): Promise<Ran> {
    const env = {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: this.database.url,
      DATA_DIR: join(this.folder, 'data')
    }
    return new Promise((resolve) => {
      const command = [join(outputRoot, 'cli/main.js'), ...args]
      execFile(process.execPath, command, { cwd: this.folder, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      )
    })
  }

  async writeConfig(): Promise<void> {
    await writeFile(join(this.folder, 'uniform-rest.config.ts'), CONFIG)
  }

  read(file: string): Promise<string> {
    return readFile(join(this.folder, file), 'utf8')
  }

  /** The text of every file that was written, by path. */
  async files(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (const folder of ['entities', 'migrations']) {
      if (!existsSync(join(this.folder, folder))) continue
      for (const name of (await readdir(join(this.folder, folder))).toSorted()) {
        found.set(`${folder}/${name}`, await this.read(`${folder}/${name}`))
      }
    }
    return found
  }

  /** What `tsc` says; empty if nothing is wrong. */
  compile(): Promise<string> {
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')
    return new Promise((resolve) => {
      execFile(process.execPath, [tsc, '-p', this.folder], { cwd: this.folder }, (error, stdout, stderr) =>
        resolve(error === null ? '' : `${stdout}${stderr}`)
      )
    })
  }

  start(): Promise<Stack> {
    return startStack({ app: this.folder, database: this.database })
  }

  async dispose(): Promise<void> {
    await this.sql.close()
    await this.database.dispose()
    await rm(this.folder, { recursive: true, force: true })
  }
}
