import { InnerMembers } from '../../shared/inner-members.js'
import { CONNECTION } from '../../data-service/sql/engines/mysql/driver/mysql-inner.js'

// An inner member of a dependency that is used without being probed does not compile. Each `@ts-expect-error` is a test: the
// compiler reports the line when what follows compiles after all.

interface Inner {
  send(text: string): void
  readonly count: number
  readonly end?: (() => void) | undefined
}

export const lists = [
  new InnerMembers<Inner>({ send: 'function', count: 'number', end: 'function' }),
  // @ts-expect-error a member that the type has is not probed
  new InnerMembers<Inner>({ send: 'function', end: 'function' }),
  // @ts-expect-error an optional member is probed too
  new InnerMembers<Inner>({ send: 'function', count: 'number' }),
  // @ts-expect-error a member is probed in its own kind
  new InnerMembers<Inner>({ send: 'object', count: 'number', end: 'function' }),
  // @ts-expect-error a member that is not used is not probed
  new InnerMembers<Inner>({ send: 'function', count: 'number', end: 'function', more: 'function' })
]

export function uses(connection: object): unknown[] {
  const driver = CONNECTION.of(connection)
  // @ts-expect-error the list of a connection does not have this member of mysql2
  return [driver.addCommand, driver._statements, driver._commands]
}
