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

describe('a data service that reaches others in clear text over a network', () => {
  /** The settings that a start warns of because somebody on the way can read what they lead to. */
  function warnedOf(settings: Readonly<Record<string, string>>): unknown[] {
    const { log, lines } = memoryLog()
    const { config } = readConfig({ DATABASE_URL: MARIADB, GRPC_INSECURE: 'true', ...settings }, store)
    warnOfSettings(store, config, log)
    return lines.flatMap(({ level, msg, setting }) =>
      level === 'warn' && String(msg).includes('clear text') ? [setting] : []
    )
  }

  it('warns of DATABASE_URL and of OTEL_EXPORTER_OTLP_ENDPOINT', () => {
    expect(
      warnedOf({
        DATABASE_URL: 'mysql://root@database.internal:3306/store',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://10.0.0.7:4318'
      })
    ).to.deep.equal(['DATABASE_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
  })

  it('says nothing of addresses of this machine, and of what is encrypted', () => {
    expect(warnedOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).to.deep.equal([])
    expect(
      warnedOf({
        DATABASE_URL: 'mysql://root@database.internal:3306/store?ssl=true',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://10.0.0.7:4318'
      })
    ).to.deep.equal([])
  })
})
