import { expect } from 'chai'
import { locateDatabase } from '../../../data-service/sql/engines.js'
import { parseMysqlUrl } from '../../../data-service/sql/engines/mysql/mysql.js'
import { parseSqliteUrl } from '../../../data-service/sql/engines/sqlite/sqlite.js'

describe('database URLs', () => {
  it('name a file', () => {
    expect(parseSqliteUrl('sqlite:.data/store.sqlite')).to.equal('.data/store.sqlite')
    expect(parseSqliteUrl('sqlite:/var/a b.sqlite')).to.equal('/var/a b.sqlite')
  })

  it('name a server, its parts percent-decoded', () => {
    const settings = { host: 'db', port: 3306, user: 'me', password: 'p@:/%', database: 'shop' }
    expect(parseMysqlUrl('mysql://me:p%40%3A%2F%25@db/shop', '')).to.deep.equal(settings)
    expect(parseMysqlUrl('mariadb://me:p%40%3A%2F%25@db:3307/shop?ssl=true', '')).to.deep.equal({
      ...settings,
      port: 3307,
      ssl: true
    })
    expect(parseMysqlUrl('mysql://root@[::1]/shop', '')).to.include({ host: '::1', user: 'root', password: '' })
  })

  for (const [url, message] of [
    ['', /sqlite:<file>/],
    ['postgres://me:secret@db/shop', /must be sqlite:<file>/],
    ['sqlite:', /names no file/],
    ['sqlite::memory:', /must name a file/],
    ['mysql://me:secret@db', /must name one database/],
    ['mysql://me:secret@db/shop/more', /must name one database/],
    ['mysql://me:secret@db:99999/shop', /no valid URL/],
    ['mysql://me:secret%@db/shop', /%25/],
    ['mysql://me:secret@db/shop?ssl=maybe', /ssl/],
    ['mysql://me:secret@db/shop?charset=x', /unknown parameter charset/]
  ] as const) {
    it(`reject ${url === '' ? 'nothing' : url.replace('secret', '…')}, saying what would be right and no password`, () => {
      expect(() => locateDatabase(url))
        .to.throw(Error, message)
        .with.property('message')
        .that.does.not.include('secret')
    })
  }
})
