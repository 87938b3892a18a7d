import { Server } from '@grpc/grpc-js'
import mysql2 from 'mysql2'
import { Sequelize } from 'sequelize'

// Preloaded (`node --import`) into a data service: the package that HIDDEN_MEMBER names lacks an inner member that is used, as
// another version of it may.

/** The class of an object, or one that it extends, that has a member of its own. */
function ownerOf(object: object, member: string): object {
  const parent: unknown = Object.getPrototypeOf(object)
  if (typeof parent !== 'object' || parent === null) throw new TypeError(`${member} is no member any more`)
  return Object.hasOwn(parent, member) ? parent : ownerOf(parent, member)
}

const HIDING: Readonly<Record<string, () => void>> = {
  mysql2: () => {
    // The class that the driver does not hand out.
    const { Connection } = mysql2 as unknown as { readonly Connection: { readonly prototype: object } }
    Reflect.deleteProperty(ownerOf(Connection.prototype, 'unprepare'), 'unprepare')
  },
  sequelize: () => {
    const sequelize = new Sequelize({ dialect: 'mysql', dialectModule: mysql2 })
    const generator = sequelize.getQueryInterface().queryGenerator as object
    Reflect.deleteProperty(ownerOf(generator, 'selectQuery'), 'selectQuery')
  },
  '@grpc/grpc-js': () => {
    Object.defineProperty(Server.prototype, 'http2Servers', { get: () => undefined, set(): void {} })
  }
}

HIDING[process.env['HIDDEN_MEMBER'] ?? '']?.()
