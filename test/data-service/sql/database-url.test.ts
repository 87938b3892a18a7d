import { expect } from 'chai'
import { locateDatabase } from '../../../data-service/sql/engines.js'
import { parseMysqlUrl } from '../../../data-service/sql/engines/mysql/mysql.js'
import { driverOptions } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { Authority } from '../../harness/certificates.js'
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

  it('name the authority that vouches for the server', async () => {
    await using authority = await Authority.create()
    const { certFile } = await authority.issueTo('db')
    const url = `mysql://me@db/shop?ssl=true&ca=${encodeURIComponent(certFile)}`
    const settings = parseMysqlUrl(url, '')
    expect(settings.ca).to.match(/^-----BEGIN CERTIFICATE-----/)
    expect(driverOptions(settings).ssl).to.deep.equal({
      rejectUnauthorized: true,
      verifyIdentity: true,
      ca: settings.ca
    })
    expect(driverOptions(parseMysqlUrl('mysql://me@db/shop', '')).ssl).to.equal(undefined)
  })

  it('show whether anybody between can read what is sent', () => {
    const isClearText = (url: string): boolean => locateDatabase(url).isClearText
    for (const url of ['mysql://me@db/shop', 'mariadb://me@10.0.0.7/shop?ssl=false', 'mysql://me@[2001:db8::1]/shop']) {
      expect(isClearText(url), url).to.equal(true)
    }
    for (const url of [
      'sqlite:x',
      'mysql://me@127.0.0.1/shop',
      'mysql://me@[::1]/shop',
      'mariadb://me@db/shop?ssl=true'
    ]) {
      expect(isClearText(url), url).to.equal(false)
    }
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
    ['mysql://me:secret@db/shop?charset=x', /unknown parameter charset/],
    ['mysql://me:secret@db/shop?ca=/ca.pem', /ca, by which no server is judged without ssl=true/],
    ['mysql://me:secret@db/shop?ssl=true&ca=/nowhere/ca.pem', /no readable PEM certificate \(ENOENT\)/],
    ['mysql://me:secret@db/shop?ssl=true&ca=package.json', /no readable PEM certificate$/]
  ] as const) {
    it(`reject ${url === '' ? 'nothing' : url.replace('secret', '…')}, saying what would be right and no password`, () => {
      expect(() => locateDatabase(url))
        .to.throw(Error, message)
        .with.property('message')
        .that.does.not.include('secret')
    })
  }
})
