import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import { logStatements } from '../../../data-service/observe/call-scope.js'
import { type EndedStatement, statementLog } from '../../../data-service/observe/statement-log.js'
import { connect } from '../../../data-service/sql/connect.js'
import { eachDatabase, freshDatabase } from '../../harness/database.js'
import { memoryLog } from '../../harness/memory-log.js'

const SELECT: EndedStatement = {
  sql: 'SELECT ?',
  values: undefined,
  rows: 1,
  durationMs: 0.12345,
  requestIds: [],
  code: undefined
}

describe('the log of SQL statements', () => {
  it('A line names the type of a parameter once for all of this type that follow each other.', () => {
    const { log, lines } = memoryLog()
    const values = ['a', 'b', 1, 2n, -3, 1.5, null, undefined, Buffer.from('c'), new Uint8Array(1), new Date(0), true]
    statementLog(log)?.({ ...SELECT, values })
    expect(lines.map(({ parameters }) => parameters)).to.deep.equal([
      ['text*2', 'integer*3', 'double', 'null*2', 'bytes*2', 'time', 'boolean']
    ])
  })

  it('A line shows parameters by name as those by place, and has no member for what a statement does not have.', () => {
    const { log, lines } = memoryLog()
    statementLog(log)?.({ ...SELECT, values: { $name: 'secret' } })
    statementLog(log)?.({ ...SELECT, rows: undefined, requestIds: ['one'], code: 'ER_DUP_ENTRY' })
    statementLog(log)?.({ ...SELECT, requestIds: ['one', 'two'] })
    const common = { level: 'info', name: 'test', msg: 'sql', sql: 'SELECT ?', durationMs: 0.123 }
    expect(lines.map(({ time: _time, pid: _pid, hostname: _hostname, ...line }) => line)).to.deep.equal([
      { ...common, rows: 1, parameters: ['text'] },
      { ...common, requestId: 'one', code: 'ER_DUP_ENTRY' },
      { ...common, requestIds: ['one', 'two'], rows: 1 }
    ])
  })

  it('Statements are not logged where the level of the log leaves their lines out.', () => {
    const { log } = memoryLog()
    log.level = 'warn'
    expect(statementLog(log)).to.equal(undefined)
  })
})

eachDatabase((kind) => {
  it(`The statements that Sequelize sends are logged with their rows and their failure on ${kind}.`, async () => {
    const fresh = await freshDatabase(kind)
    const { sequelize } = connect(fresh.url)
    const { log, lines } = memoryLog()
    logStatements(statementLog(log))
    try {
      await sequelize.query('CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(20))')
      const insert = 'INSERT INTO notes (id, note) VALUES ($first, $note), ($second, $note)'
      const bind = { first: 1, second: 2, note: 'marked' }
      await sequelize.query(insert, { bind })
      await sequelize.query('SELECT id FROM notes WHERE note = $note', {
        bind: { note: 'marked' },
        type: QueryTypes.SELECT
      })
      const again = await sequelize.query(insert, { bind }).catch((error: unknown) => error)
      expect(again).to.be.an('error')
    } finally {
      logStatements(undefined)
      await sequelize.close()
      await fresh.dispose()
    }
    const ours = lines.filter(({ sql }) => String(sql).includes(' notes '))
    expect(ours.map(({ parameters, rows, code }) => [parameters, rows, code])).to.deep.equal([
      [undefined, kind === 'mysql' ? 0 : undefined, undefined],
      [['integer*2', 'text'], 2, undefined],
      [['text'], 2, undefined],
      [['integer*2', 'text'], undefined, kind === 'mysql' ? 'ER_DUP_ENTRY' : 'SQLITE_CONSTRAINT']
    ])
    expect(JSON.stringify(ours)).to.not.contain('marked')
  })
})
