import { subscribe } from 'node:diagnostics_channel'
import { existsSync, readFileSync } from 'node:fs'
import mysql from 'mysql2'
import { SqliteConnection } from '../../../data-service/sql/engines/sqlite/sqlite-connection.js'

/** When the process kills itself, as text in the file of CRASH_FILE. */
export interface Crash {
  /** Of a statement: before it is sent, once it is sent, once its answer is there. */
  readonly when: 'before' | 'sent' | 'after'
  /** Source of an expression that the statement's text matches. */
  readonly statement: string
}

// Preloaded (`node --import`) into a data service: it ends by SIGKILL at the statement that the file names, if there is
// one by then. A process that kills itself does so at the exact step; from outside it is a matter of luck.
const file = process.env['CRASH_FILE'] ?? ''

function crashAt(sql: string): Crash['when'] | undefined {
  if (!existsSync(file)) return undefined
  // Written by the test alone.
  const { when, statement } = JSON.parse(readFileSync(file, 'utf8')) as Crash
  return new RegExp(statement).test(sql) ? when : undefined
}

function crash(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a killed process goes no further')
}

/** Puts a function of the same arguments in the place of a method. */
function replace(prototype: object, name: string, by: (original: Method) => Method): void {
  const original: unknown = Reflect.get(prototype, name)
  if (typeof original !== 'function') throw new TypeError(`${name} is no method any more`)
  Reflect.set(prototype, name, by(original as Method))
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** The embedded database answers before the method returns. */
const crashingSqlite = (original: Method): Method =>
  function (...args) {
    const when = crashAt(String(args[0]))
    if (when === 'before') crash()
    const result = original.apply(this, args)
    if (when !== undefined) crash()
    return result
  }

/** mysql2's methods take a callback last. */
const crashingMysql = (original: Method): Method =>
  function (...args) {
    const [text] = args
    const when = crashAt(typeof text === 'object' && text !== null && 'sql' in text ? String(text.sql) : String(text))
    if (when === 'before') crash()
    const callback = args.at(-1)
    if (when === 'after' && typeof callback === 'function') args[args.length - 1] = crash
    const result = original.apply(this, args)
    if (when === 'sent') crash()
    return result
  }

for (const name of ['execute', 'run', 'rows']) replace(SqliteConnection.prototype, name, crashingSqlite)
// The methods are those of a class that the driver does not hand out.
const { Connection } = mysql as unknown as { readonly Connection: { readonly prototype: object } }
const base: unknown = Object.getPrototypeOf(Connection.prototype)
if (typeof base !== 'object' || base === null) throw new TypeError('the driver has other classes by now')
for (const name of ['execute', 'query']) replace(base, name, crashingMysql)
// Statements that somebody follows are all run by the driver's own `execute` (mysql-pipeline.ts).
subscribe('tracing:mysql2:execute:start', () => undefined)
