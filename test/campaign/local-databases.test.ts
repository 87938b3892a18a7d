import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect } from 'chai'
import type { Database } from '../../campaign/databases/database.js'
import { startDatabase } from '../../campaign/databases/start-database.js'
import { outputRoot } from '../harness/package-root.js'

/** Nothing but root may mount a small disk. */
const ROOT = process.getuid?.() === 0

const quiet = (): void => undefined

// The servers of the campaign are hurt in databases.test.ts, in the soak.
describe('SQLite as a database of the campaign', () => {
  let folder: string
  let database: Database
  const random = (): number => 0.5
  let file: InstanceType<typeof DatabaseSync>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'campaign-'))
    database = await startDatabase('sqlite', { folder, progress: quiet })
    file = new DatabaseSync(database.urls(0).url.replace('sqlite:', ''), { timeout: 0 })
    file.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT NOT NULL)')
  })
  after(async () => {
    file?.close()
    await database?.dispose()
    await rm(folder, { recursive: true, force: true })
  })
  let written = 0
  const write = (text = 'one'): void => {
    file.prepare('INSERT INTO notes VALUES (?)').run(text)
    written++
  }
  const during = async (name: string, see: () => void): Promise<void> => {
    const heal = await database.hurts[name]?.(random)
    if (heal === undefined) throw new Error(`There is no hurt ${name}`)
    try {
      see()
    } finally {
      await heal()
    }
    write()
  }

  it('has its writes held', () => during('writes-held', () => expect(() => write()).to.throw(/database is locked/)))

  it('has a journal that a long read keeps', () =>
    during('long-read', () => {
      write()
      expect(file.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()[0]).to.include({ busy: 1 })
    }))

  if (ROOT) {
    it('has a full disk', () =>
      during('disk-full', () =>
        expect(() => {
          for (;;) write('x'.repeat(1 << 20))
        }).to.throw(/disk is full|disk I\/O error/)
      ))
  }

  it('answers statements past the service', async () => {
    const [row] = await database.query('SELECT COUNT(*) AS count FROM notes')
    expect(row).to.deep.include({ count: BigInt(written) })
  })
})

describe('the servers of a campaign that was killed', () => {
  it('end, and their disks are given back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'campaign-'))
    const start = `
      const { startDatabase } = await import(${JSON.stringify(join(outputRoot, 'campaign/databases/start-database.js'))})
      const database = await startDatabase('mariadb', { folder: ${JSON.stringify(folder)}, progress: () => undefined })
      const [{ path }] = await database.nodes[0].run('SELECT @@pid_file AS path')
      console.log(path)`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', start], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    const pid = (await readFile(said.toString().trim(), 'utf8')).trim()
    const isHere = (path: string, text: string): Promise<boolean> =>
      readFile(path, 'utf8').then(
        (found) => found.includes(text),
        () => false
      )
    expect(await isHere(`/proc/${pid}/cmdline`, folder)).to.equal(true)
    child.kill('SIGKILL')
    await once(child, 'close')
    while (await isHere(`/proc/${pid}/cmdline`, folder)) await pause(20)
    while (await isHere('/proc/mounts', folder)) await pause(20)
    await rm(folder, { recursive: true, force: true })
  })
})
