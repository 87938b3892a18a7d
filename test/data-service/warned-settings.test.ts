import { expect } from 'chai'
import { readConfig } from '../../data-service/config.js'
import { warnOfSettings } from '../../data-service/data-service.js'
import store from '../../examples/store/uniform-rest.config.js'
import { memoryLog } from '../harness/memory-log.js'

const MARIADB = 'mysql://root@127.0.0.1:3306/store'

/** Whether a start with these settings warns that SQLite serves more than its own machine. */
function warnsOfSqlite(DATA_SERVICE_ADDRESS: string, DATABASE_URL = 'sqlite:store.db'): boolean {
  const { log, lines } = memoryLog()
  const { config } = readConfig({ DATA_SERVICE_ADDRESS, DATABASE_URL, GRPC_INSECURE: 'true' }, store)
  warnOfSettings(store, config, log)
  return lines.some(({ level, msg }) => level === 'warn' && String(msg).startsWith('an embedded database serves more'))
}

describe('a data service on SQLite', () => {
  it('warns where it listens beyond the loopback', () => {
    expect(
      ['0.0.0.0:50051', '[::]:50051', 'data-service:50051', '10.0.0.1:1'].filter((one) => !warnsOfSqlite(one))
    ).to.deep.equal([])
  })

  it('says nothing on the loopback, and nothing on a database server', () => {
    expect(['127.0.0.1:50051', '[::1]:50051', 'localhost:0'].filter((one) => warnsOfSqlite(one))).to.deep.equal([])
    expect(warnsOfSqlite('0.0.0.0:50051', MARIADB)).to.equal(false)
  })
})
