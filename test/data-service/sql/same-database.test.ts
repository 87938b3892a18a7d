import { STORE } from '../../harness/stack.js'
import { link, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { connect, sameDatabase, sameUrl } from '../../../data-service/sql/connect.js'
import type { Database } from '../../../data-service/sql/engines/engine.js'
import { startRelay } from '../../gateway/key-ring/relay.js'
import { freshDatabase } from '../../harness/database.js'
import { startProcess } from '../../stack/service-process.js'

describe('two URLs of databases', () => {
  const SAME = [
    ['sqlite:./a', 'sqlite:a'],
    ['sqlite:b/../a', `sqlite:${process.cwd()}/a`],
    ['mysql://u:p@h/db', 'mariadb://other@H:3306/db?ssl=true'],
    ['mysql://localhost/db', 'mysql://127.0.0.1:3306/db'],
    ['mysql://[::1]:3307/db', 'mysql://LOCALHOST:3307/db']
  ] as const
  for (const [one, other] of SAME) it(`${one} and ${other} are one`, () => expect(sameUrl(one, other)).to.equal(true))

  const DIFFERENT = [
    ['sqlite:a', 'sqlite:b'],
    ['sqlite:a', 'mysql://a/a'],
    ['mysql://h/db', 'mysql://h/other'],
    ['mysql://h/db', 'mysql://h:3307/db'],
    ['mysql://h/db', 'mysql://g/db']
  ] as const
  for (const [one, other] of DIFFERENT)
    it(`${one} and ${other} are two`, () => expect(sameUrl(one, other)).to.equal(false))
})

describe('one database by two names', () => {
  let folder: string
  const opened: Database[] = []
  const open = (url: string): Database => {
    const database = connect(url, 1)
    opened.push(database)
    return database
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'same-'))
  })
  afterEach(async () => {
    for (const { sequelize } of opened.splice(0)) await sequelize.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('is found out where two links lead to one file', async () => {
    const file = join(folder, 'a.sqlite')
    await writeFile(file, '')
    await symlink(file, join(folder, 'soft.sqlite'))
    await link(file, join(folder, 'hard.sqlite'))
    for (const name of ['soft', 'hard']) {
      const other = open(`sqlite:${join(folder, `${name}.sqlite`)}`)
      expect(await sameDatabase(open(`sqlite:${file}`), other), name).to.equal(true)
    }
    expect(await sameDatabase(open(`sqlite:${file}`), open(`sqlite:${join(folder, 'b.sqlite')}`))).to.equal(false)
  })

  it('is found out where two addresses lead to one server', async () => {
    const { url, reviewsUrl, dispose } = await freshDatabase('mysql')
    const { port } = new URL(url)
    const relay = await startRelay(Number(port))
    try {
      const through = (target: string): string =>
        Object.assign(new URL(target), { host: `127.0.0.1:${relay.port}` }).href
      expect(await sameDatabase(open(url), open(through(url)))).to.equal(true)
      expect(await sameDatabase(open(url), open(through(reviewsUrl)))).to.equal(false)
    } finally {
      await relay.cut()
      await dispose()
    }
  })

  it('keeps the data service from starting', async () => {
    const file = join(folder, 'a.sqlite')
    await symlink(file, join(folder, 'b.sqlite'))
    for (const [other, sentence] of [
      [join(folder, 'b.sqlite'), 'REVIEWS_DATABASE_URL leads to the database of DATABASE_URL by another name'],
      [relative(process.cwd(), file), 'REVIEWS_DATABASE_URL must be another database than DATABASE_URL']
    ] as const) {
      const service = startProcess(STORE, {
        DATA_DIR: folder,
        DATA_SERVICE_ADDRESS: '127.0.0.1:0',
        DATABASE_URL: `sqlite:${file}`,
        REVIEWS_DATABASE_URL: `sqlite:${other}`,
        MIGRATE_AT_START: 'true'
      })
      expect(await service.ended, other).to.equal(1)
      expect(JSON.stringify(service.logs()), `${other}, ${sentence}`).to.contain(sentence)
    }
  })
})
