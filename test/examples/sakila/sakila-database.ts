import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from 'uniform-rest/testing'
import type { Size } from '../../../examples/sakila/rows.js'
import { outputRoot } from '../../harness/package-root.js'

/** The second example: tables, views, triggers and rows, in a database that nobody else uses. */
export async function freshSakila(kind: DatabaseKind, size: Size = 'small'): Promise<FreshDatabase> {
  const database = await freshDatabase(kind)
  try {
    await loadSakila(database.url, size)
    return database
  } catch (error) {
    await database.dispose()
    throw error
  }
}

/** Runs the command of the example as its README says. */
export async function loadSakila(url: string, size: Size): Promise<void> {
  await promisify(execFile)(process.execPath, [join(outputRoot, 'examples/sakila/load.js'), url, size])
}
