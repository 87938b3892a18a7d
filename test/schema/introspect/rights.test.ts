import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { runCommand } from '../../harness/command.js'
import { IntrospectedApp } from './introspected-app.js'

// What an account with few rights can introspect, and what the report says that it did not see. SQLite has no accounts.

const TABLES = [
  'CREATE TABLE author (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, note JSON, secret INT)',
  `CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(40) NOT NULL,
   kind ENUM('a','b') NOT NULL, price DECIMAL(6,2) DEFAULT 1.50, row_version BINARY(8) NOT NULL,
   FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)`,
  'CREATE TABLE diary (id INT PRIMARY KEY, entry TEXT)',
  'CREATE VIEW shelf AS SELECT book.id AS id, title, name FROM book JOIN author ON author.id = author_id'
]

describe('introspection by an account with few rights on mysql', () => {
  let app: IntrospectedApp
  const user = `few_${randomBytes(4).toString('hex')}`

  before(async () => {
    app = await IntrospectedApp.make('mysql', TABLES)
  })
  after(async () => {
    await app?.sql.query(`DROP USER IF EXISTS '${user}'@'%'`)
    await app?.dispose()
  })

  /** The files that the account makes, by name, and what was printed. */
  async function introspectWith(...rights: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await app.sql.query(`CREATE OR REPLACE USER '${user}'@'%' IDENTIFIED BY 'few'`)
    for (const right of rights) await app.sql.query(`GRANT ${right} TO '${user}'@'%'`)
    const url = new URL(app.database.url)
    url.username = user
    url.password = 'few'
    const folder = await mkdtemp(join(tmpdir(), 'few-rights-'))
    try {
      const env = { DATABASE_URL: url.href, DATA_DIR: join(folder, 'data') }
      const { code, stdout: printed, stderr } = await runCommand(['introspect'], { directory: folder, env })
      expect([code, stderr]).to.deep.equal([0, ''])
      const names = ['authors.ts', 'books.ts', 'diaries.ts', 'introspected.md']
      const read = (name: string): Promise<string> => readFile(join(folder, 'entities', name), 'utf8').catch(() => '')
      const texts = await Promise.all(names.map(async (name): Promise<[string, string]> => [name, await read(name)]))
      return new Map([...texts, ['printed', printed]])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  const unseenOf = (files: ReadonlyMap<string, string>): string =>
    /## What this account does not see\n\n((?:- .*\n)+)/.exec(files.get('introspected.md') ?? '')?.[1] ?? ''

  it('sees all with all rights, and says nothing of what it does not see', async () => {
    const files = await introspectWith(`ALL ON \`${app.name}\`.*`)
    expect(unseenOf(files)).to.equal('')
    expect(files.get('books.ts')).to.include("author: { to: 'authors', via: 'authorId' }")
    expect(files.get('authors.ts')).to.include('books (authorId)').and.include('note: optional(json())')
  })

  it('writes the same entity files with SELECT alone, but for what a delete does', async () => {
    const all = await introspectWith(`ALL ON \`${app.name}\`.*`)
    const files = await introspectWith(`SELECT ON \`${app.name}\`.*`)
    expect(files.get('books.ts')).to.equal(all.get('books.ts'))
    expect(files.get('diaries.ts')).to.equal(all.get('diaries.ts'))
    expect(unseenOf(files)).to.match(
      /^- What foreign keys do when a row is deleted: .*INSERT\.\n- Triggers, .* TRIGGER\.\n$/
    )
    expect(files.get('printed')).to.include('Triggers, such as those that keep a row version')
  })

  it('says that there may be more, with SELECT on some tables and columns', async () => {
    const on = (name: string): string => `\`${app.name}\`.\`${name}\``
    const files = await introspectWith(`SELECT ON ${on('book')}`, `SELECT (id, name) ON ${on('author')}`)
    expect(files.get('books.ts')).to.include('title: text(40, 0)')
    expect(files.get('authors.ts')).to.include('name: text(40, 0)').and.not.include('secret')
    expect(files.get('diaries.ts')).to.equal('')
    expect(unseenOf(files))
      .to.include('- Tables and views to which it has no right: it has SELECT on those that are named here alone.\n')
      .and.include('- Of `author` all columns but id, name.\n')
  })

  it('leaves a view out that it may not read, and reads the others', async () => {
    await app.sql.query('CREATE SQL SECURITY INVOKER VIEW own_shelf AS SELECT id, title, kind FROM book')
    await app.sql.query('CREATE VIEW gone AS SELECT id, entry FROM diary')
    await app.sql.query('ALTER TABLE diary DROP COLUMN entry')
    const on = (name: string): string => `\`${app.name}\`.\`${name}\``
    const rights = ['author', 'shelf', 'own_shelf', 'gone'].map((name) => `SELECT ON ${on(name)}`)
    const files = await introspectWith(...rights)
    expect(files.get('authors.ts')).to.not.equal('')
    expect(files.get('introspected.md')).to.match(/- \*\*own_shelf\*\*: the database cannot read it \(.+\)\./)
    expect(files.get('introspected.md')).to.match(/- \*\*gone\*\*: the database cannot read it \(.+\)\./)
    expect(files.get('introspected.md')).to.include('no request names one: a view has no key.')
  })
})
