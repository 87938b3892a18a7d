import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { VARIANTS } from '../../harness/variant.js'
import type { Server } from '../../stack/server-log.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { type AuthCaller, opened, rejected } from './auth-caller.js'
import { DataServices } from './data-services.js'

const PASSWORD = 'demo-password'
const ada = { email: 'ada@example.com', password: PASSWORD, clientAddress: '192.0.2.1' }

function claimsOf(token: string): Record<string, unknown> {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return { ...(typeof claims === 'object' ? claims : {}) }
}

eachDatabase(
  (kind) => {
    describe(`Login on ${kind}`, () => {
      let services: DataServices
      let caller: AuthCaller
      let service: Server
      before(async () => {
        services = await DataServices.over(kind)
        ;({ caller, service } = await services.start())
      })
      after(() => services[Symbol.asyncDispose]())

      it('opens a session, whatever the letter case of the e-mail address', async () => {
        for (const email of ['ada@example.com', 'Ada@Example.COM']) {
          const session = await opened(caller.login({ ...ada, email }))
          const claims = claimsOf(session.accessToken)
          expect(claims, email).to.include({ sub: 'ada@example.com', name: 'Ada', role: 'Customer', customer_id: 1 })
          expect(session.accessTokenExpiry, email).to.equal(new Date(Number(claims['exp']) * 1000).toISOString())
          expect(session.refreshToken, email).to.match(/^[A-Za-z0-9_-]{64}$/)
          expect(Date.parse(session.refreshTokenExpiry), email).to.be.closeTo(Date.now() + 7 * 24 * 3_600_000, 60_000)
        }
      })

      it('rejects a wrong password and an account that is not there alike', async () => {
        const wrong = await rejected(caller.login({ ...ada, password: 'demo-passworD' }, 'wrong'))
        const nobody = await rejected(caller.login({ ...ada, email: 'eve@example.com' }, 'nobody'))
        expect(wrong).to.deep.include({ status: status.UNAUTHENTICATED })
        expect(wrong.details.reason).to.equal('auth.invalid-credentials')
        expect(nobody).to.deep.equal(wrong)
        // The log comes over a pipe of its own.
        await service.logged(({ requestId }) => requestId === 'nobody')
        const reasons = services.logs().filter(({ code, msg }) => code === 'auth.invalid-credentials' && msg !== 'call')
        expect(reasons.map(({ requestId, reason }) => [requestId, reason])).to.deep.equal([
          ['wrong', 'wrong password'],
          ['nobody', 'no such account']
        ])
      })

      it('takes no client address that is none', async () => {
        for (const clientAddress of ['x', '127.1', '127.0.0.1 ', '127.0.0.1:80', '1.2.3.4, 5.6.7.8']) {
          const rejection = await rejected(caller.login({ ...ada, clientAddress }))
          expect(rejection.details.reason, clientAddress).to.equal('body.invalid')
        }
      })

      it('takes no address that a collation would take for the same', async () => {
        for (const email of ['ａda@example.com', 'ada@example.com\0', 'àda@example.com', ' ada@example.com']) {
          const rejection = await rejected(caller.login({ ...ada, email }))
          expect(rejection.details.reason, email).to.equal('auth.invalid-credentials')
        }
      })

      it('names members that are missing, blank or too long', async () => {
        for (const [request, fields] of [
          [{}, ['/email', '/password']],
          [{ ...ada, email: '  ' }, ['/email']],
          [{ ...ada, password: '\t' }, ['/password']],
          [{ ...ada, email: `${'a'.repeat(243)}@example.com` }, ['/email']],
          [{ ...ada, password: 'a'.repeat(1025) }, ['/password']]
        ] as const) {
          const { status: code, details, message } = await rejected(caller.login(request))
          expect(code, JSON.stringify(request)).to.equal(status.INVALID_ARGUMENT)
          expect(details.reason, JSON.stringify(request)).to.equal('body.invalid')
          for (const field of fields)
            expect(`${message} ${JSON.stringify(details)}`, `${JSON.stringify(request)}, ${field}`).to.include(field)
        }
        const longest = await rejected(
          caller.login({ email: `${'a'.repeat(242)}@example.com`, password: 'a'.repeat(1024) })
        )
        expect(longest.details.reason).to.equal('auth.invalid-credentials')
      })

      it('keeps passwords as Argon2id and logs neither them, nor tokens, nor who failed', async () => {
        const rows = await withTestDatabase(services.database.url, (database) =>
          database.run("SELECT password_hash FROM ur_accounts WHERE password_hash <> ''")
        )
        expect(rows).to.have.length(6)
        for (const [at, row] of rows.entries())
          expect(JSON.stringify(row), `row ${at}`).to.include('$argon2id$v=19$m=19456,t=2,p=1$')
        expect(new Set(rows.map((row) => JSON.stringify(row))).size).to.equal(6)
        const { accessToken, refreshToken } = await opened(caller.login(ada))
        await rejected(caller.login({ ...ada, email: 'eve@example.com' }, 'last'))
        await service.logged(({ requestId }) => requestId === 'last')
        const log = JSON.stringify(services.logs())
        for (const secret of [PASSWORD, 'demo-passworD', accessToken, refreshToken, 'eve@example.com', 'argon2id']) {
          expect(log, secret).to.not.include(secret)
        }
      })
    })

    describe(`sample accounts on ${kind}`, () => {
      it('neither log in nor stay in once SAMPLE_DATA is off, and are themselves again once it is on', async () => {
        await using services = await DataServices.over(kind)
        const on = await services.start()
        const { refreshToken } = await opened(on.caller.login(ada))
        await services.stop()
        const off = await services.start({ SAMPLE_DATA: 'false' })
        expect((await rejected(off.caller.login(ada))).details.reason).to.equal('auth.invalid-credentials')
        expect((await rejected(off.caller.refresh(refreshToken))).details.reason).to.equal('auth.invalid-token')
        await services.stop()
        const again = await services.start()
        await opened(again.caller.refresh(refreshToken))
        await opened(again.caller.login(ada))
      })

      it('do not exist where SAMPLE_DATA never was on', async () => {
        await using services = await DataServices.over(kind, 'none')
        const { caller } = await services.start({ SAMPLE_DATA: 'false' })
        expect((await rejected(caller.login(ada))).details.reason).to.equal('auth.invalid-credentials')
        const rows = await withTestDatabase(services.database.url, (database) =>
          database.run('SELECT id FROM ur_accounts')
        )
        expect(rows).to.deep.equal([])
      })
    })
  },
  { on: 'mysql', never: VARIANTS }
)
