import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../shared/start-error.js'
import type { Migration } from './migration.js'

/** Migrations in the order in which they run, with the folder that `uniform-rest migrate create` writes the next one to. */
export type Migrations = readonly Migration[] & { readonly folder?: string }

/**
 * The migrations of a folder, `await migrationsIn(new URL('./migrations', import.meta.url))`: what each file exports,
 * in the order of the numbers at the beginning of the files' names, and of the names. A folder that is not there has none.
 * `before` are migrations that stand elsewhere and run first.
 */
export async function migrationsIn(folder: URL, before: readonly Migration[] = []): Promise<Migrations> {
  const path = fileURLToPath(folder)
  const files = await readdir(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const migrations: Migration[] = [...before]
  for (const file of files.filter(isModule).toSorted(byNumber)) {
    const url = new URL(encodeURIComponent(file), folder.href.endsWith('/') ? folder : `${folder.href}/`)
    migrations.push(migrationOf(await import(url.href), `${path}/${file}`))
  }
  return Object.assign(migrations, { folder: path })
}

function isModule(file: string): boolean {
  return /^[^.].*\.m?[jt]s$/.test(file) && !/\.(d|test)\.m?[jt]s$/.test(file)
}

function byNumber(one: string, other: string): number {
  return numberOf(one) - numberOf(other) || (one < other ? -1 : 1)
}

/** The number that a name begins with; names without one come last. */
export function numberOf(name: string): number {
  const digits = /^\d+/.exec(name)?.[0]
  return digits === undefined ? Number.MAX_SAFE_INTEGER : Number(digits)
}

/** The one migration that a module exports, under whatever name. */
function migrationOf(module: unknown, file: string): Migration {
  const exported = typeof module === 'object' && module !== null ? [...new Set(Object.values(module))] : []
  const [found, second] = exported.filter(isMigration)
  if (found !== undefined && second === undefined) return found
  throw new StartError(`${file} must export one migration: \`export const migration: Migration = { name, steps }\`.`)
}

function isMigration(value: unknown): value is Migration {
  return typeof value === 'object' && value !== null && 'name' in value && 'steps' in value
}
