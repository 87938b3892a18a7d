import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openTestDatabase, withTestDatabase } from '../../test/oracle/test-database.js'
import type { Database, DatabaseOptions, Heal } from './database.js'
import { mountSmallDisk } from './small-disk.js'

/** MiB. */
const DISK_SIZE = 128

/** Two files on a small disk of their own. Without root they are in the folder, and `disk-full` is left out. */
export async function startSqlite({ folder }: DatabaseOptions): Promise<Database> {
  const place = join(folder, 'sqlite')
  await mkdir(place)
  const disk = process.getuid?.() === 0 ? await mountSmallDisk(place, DISK_SIZE) : undefined
  const reviews = join(place, 'reviews.sqlite')
  const url = `sqlite:${join(place, 'store.sqlite')}`
  const version = await withTestDatabase('sqlite::memory:', (database) =>
    database.run('SELECT sqlite_version() AS text')
  )
  return {
    label: `SQLite ${String(version[0]?.['text'])}`,
    nodes: [],
    urls: () => ({ url, reviewsUrl: `sqlite:${reviews}` }),
    query: (sql) =>
      withTestDatabase(url, async (database) => {
        await database.run('ATTACH ? AS reviews', [reviews])
        return database.run(sql)
      }),
    hurts: {
      'writes-held': () => holding(url, ['BEGIN IMMEDIATE']),
      // The journal cannot be emptied past what such a transaction still reads, and grows.
      'long-read': () => holding(url, ['BEGIN', 'SELECT COUNT(*) FROM sqlite_schema']),
      ...(disk === undefined
        ? {}
        : {
            'disk-full': async () => {
              await disk.fill()
              return () => disk.free()
            }
          })
    },
    async dispose() {
      await disk?.unmount()
      await rm(place, { recursive: true, force: true })
    }
  }
}

/** Statements that begin a transaction, which lasts until it is healed. */
async function holding(url: string, statements: readonly string[]): Promise<Heal> {
  const database = await openTestDatabase(url)
  try {
    for (const statement of statements) await database.run(statement)
  } catch (error) {
    await database.close()
    throw error
  }
  return async () => {
    await database.run('ROLLBACK')
    await database.close()
  }
}
