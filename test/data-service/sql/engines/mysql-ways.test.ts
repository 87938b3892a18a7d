import { expect } from 'chai'
import mysql2, { type Connection } from 'mysql2'
import { missingMembers, MYSQL2 } from '../../../../data-service/sql/engines/mysql/driver/mysql-inner.js'
import {
  innerWay,
  installedDriver,
  judged,
  publicWay
} from '../../../../data-service/sql/engines/mysql/driver/mysql-ways.js'
import { untested } from '../../../../shared/inner-members.js'

/** The driver, whose connections are changed before anybody gets them. */
function driverWith(change: (connection: Connection) => void): Pick<typeof mysql2, 'createConnection'> {
  const createConnection: typeof mysql2.createConnection = (options) => {
    const connection = mysql2.createConnection(options as mysql2.ConnectionOptions)
    change(connection)
    return connection
  }
  return { createConnection }
}

/** Puts a value in the place of a member, of an object or of its class. */
function replace(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, configurable: true, writable: true })
}

describe('the probe of the driver of mysql', () => {
  it('finds every inner member in the installed version, which is therefore used by them', () => {
    expect(missingMembers()).to.deep.equal([])
    expect(installedDriver()).to.deep.equal({ way: innerWay, untested: undefined })
  })

  for (const member of ['addCommand', 'sequenceId', 'write', '_statements', 'unprepare']) {
    it(`names a member that connections lack: ${member}`, () => {
      const missing = missingMembers(driverWith((connection) => replace(connection, member, undefined)))
      expect(missing).to.include(`Connection.${member}`)
    })
  }

  it('names members that the objects of a connection lack', () => {
    const change = (connection: Connection): void => {
      replace(connection, '_statements', {})
      replace(connection, 'constructor', Object)
      replace(connection.config, 'clientFlags', undefined)
    }
    expect(missingMembers(driverWith(change))).to.deep.equal([
      'Connection._statements.get',
      'Connection.statementKey',
      'Connection.config.clientFlags'
    ])
  })

  it('names the function for row parsers that a command lacks', () => {
    const change = (connection: Connection): void => {
      const execute = connection.execute.bind(connection)
      replace(connection, 'execute', (...run: Parameters<typeof execute>) => {
        const command = execute(...run)
        replace(command, 'buildParserFromFields', undefined)
        return command
      })
    }
    expect(missingMembers(driverWith(change))).to.deep.equal(['Execute.buildParserFromFields'])
  })

  it('names all members of commands if a statement is run without them', () => {
    const change = (connection: Connection): void => replace(connection, 'execute', () => ({}))
    expect(missingMembers(driverWith(change))).to.deep.equal([
      'Prepare.execute',
      'Prepare.onResult',
      'Prepare.parameterDefinitions',
      'Execute.execute',
      'Execute.onResult',
      'Execute.buildParserFromFields'
    ])
  })

  it('says why it could not run', () => {
    const createConnection = (): never => {
      throw new Error('no such stream')
    }
    expect(missingMembers({ createConnection })).to.deep.equal(['what the probe needs (no such stream)'])
  })

  it('decides for the public functions with another version, and without a member', () => {
    expect(judged(undefined).way).to.equal(innerWay)
    for (const found of [untested(MYSQL2, [], '9.9.9'), untested(MYSQL2, ['Connection.write'])]) {
      expect(judged(found)).to.deep.equal({ way: publicWay, untested: found })
    }
  })
})
