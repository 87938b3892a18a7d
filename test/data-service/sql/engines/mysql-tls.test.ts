import { expect } from 'chai'
import { connect, opening } from '../../../../data-service/sql/connect.js'
import { openConnection } from '../../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { parseMysqlUrl } from '../../../../data-service/sql/engines/mysql/mysql.js'
import { Authority } from '../../../harness/certificates.js'
import { type PrivateServer, startPrivateServer } from '../../../runner/database-server.js'

const OTHER_NAME =
  /cannot be opened: .*for another name \(HANDSHAKE_SSL_ERROR\)\. Name .* the server as its certificate does/

/** Of the service's connections: those of Sequelize, and those outside of its pool. */
const WAYS = {
  'a connection of Sequelize': async (url: string): Promise<void> => {
    const database = connect(url)
    try {
      await database.sequelize.authenticate()
    } finally {
      await database.sequelize.close()
    }
  },
  'a connection of its own': async (url: string): Promise<void> => {
    const connection = await openConnection(parseMysqlUrl(url, ''))
    connection.destroy()
  }
} as const

describe('TLS to a MariaDB server', () => {
  let authority: Authority
  let server: PrivateServer
  before(async () => {
    authority = await Authority.create()
    const { certFile, keyFile } = await authority.issueTo('db', 'localhost')
    server = await startPrivateServer({ args: [`--ssl-cert=${certFile}`, `--ssl-key=${keyFile}`] })
  })
  after(async () => {
    await server.stop()
    await authority[Symbol.asyncDispose]()
  })

  /** The server, with a certificate of the known authority for these names, at the host. */
  async function urlOf(host: string, names: readonly string[]): Promise<string> {
    await authority.replace('db', await authority.issue(...names))
    const plain = connect(`${server.url}/mysql`)
    await plain.sequelize.query('FLUSH SSL')
    await plain.sequelize.close()
    const url = new URL(`${server.url}/mysql`)
    url.hostname = host
    url.search = `ssl=true&ca=${encodeURIComponent(authority.caFile)}`
    return url.href
  }

  for (const [way, open] of Object.entries(WAYS)) {
    for (const [host, ...names] of [
      ['localhost', 'localhost', '127.0.0.2'],
      ['127.0.0.1', 'db.example', '127.0.0.1']
    ] as const) {
      it(`${way} to ${host} takes a certificate for it`, async () => {
        await open(await urlOf(host, names))
      })
    }

    for (const [host, ...names] of [
      ['localhost', 'db.example', '127.0.0.1'],
      // Without a name to ask for, Node compares with localhost.
      ['127.0.0.1', 'localhost', '127.0.0.2']
    ] as const) {
      it(`${way} to ${host} refuses one for ${names.join(' and ')}, and the error says so`, async () => {
        const url = await urlOf(host, names)
        const failure = await opening({ setting: 'DATABASE_URL', url }, () => open(url)).catch(
          (error: unknown) => error
        )
        expect(failure).to.be.an('error').with.property('message').that.matches(OTHER_NAME)
      })
    }
  }
})
