import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { VARIANTS } from '../../harness/variant.js'
import { type Stack, startStack } from '../../harness/stack.js'
import { openTestDatabase } from '../../oracle/test-database.js'
import { call } from '../http-call.js'
import { hold } from '../writes/hold.js'
import { AuthCaller, opened, rejected } from './auth-caller.js'
import { DataServices } from './data-services.js'

const right = { email: 'ada@example.com', password: 'demo-password', clientAddress: '192.0.2.1' }

eachDatabase(
  (kind) => {
    describe(`logins that cannot go on, on ${kind}`, () => {
      let services: DataServices
      let stack: Stack
      let caller: AuthCaller
      before(async () => {
        services = await DataServices.over(kind)
        stack = await startStack({ database: services.database, env: { DATABASE_POOL_SIZE: '2' } })
        caller = new AuthCaller(stack.dataAddress)
      })
      after(async () => {
        caller.close()
        await stack.stop()
        await services[Symbol.asyncDispose]()
      })

      it('hold up no read, no refresh and no rejection', async () => {
        const { url } = services.database
        const session = await opened(caller.login(right))
        for (let i = 0; i < 10; i++) await rejected(caller.login({ ...right, password: 'wrong' }))
        const held = await hold({ databaseUrl: url }, 'SELECT * FROM ur_login_attempts FOR UPDATE')
        const flood = Array.from({ length: 40 }, (_, i) =>
          caller.login({ email: `x${i}@example.com`, password: 'wrong', clientAddress: `198.51.100.${i % 2}` })
        )
        try {
          // Whoever needed the lock would be answered 503 at best.
          const rejection = await rejected(caller.login({ ...right, password: 'wrong' }))
          expect(rejection.status).to.equal(status.RESOURCE_EXHAUSTED)
          let waiting = 0
          for (let i = 0; i < (kind === 'mysql' && waiting < 3 ? 200 : 8); i++) {
            const answer = await call(stack.url, '/categories/1')
            expect(answer.status, answer.text).to.equal(200)
            if (kind === 'mysql') waiting = Math.max(waiting, await waitingForAttempts(url))
          }
          // More than the pool of the reads has, so they wait in another one, and no more than are checked at once.
          if (kind === 'mysql') expect(waiting).to.equal(3)
          // The embedded database has one lock for everything.
          if (kind === 'mysql') await opened(caller.refresh(session.refreshToken))
        } finally {
          await held.release()
        }
        await Promise.all(flood)
        await opened(caller.login({ ...right, clientAddress: '192.0.2.2' }))
      })
    })
  },
  { on: 'mysql', never: VARIANTS }
)

/** Connections that a login keeps while it waits for its turn to be counted. */
async function waitingForAttempts(url: string): Promise<number> {
  const database = await openTestDatabase(url)
  try {
    const rows = await database.run(
      'SELECT id FROM information_schema.processlist WHERE db = DATABASE() ' +
        "AND info LIKE 'INSERT INTO ur_login_attempts%'"
    )
    return rows.length
  } finally {
    await database.close()
  }
}
