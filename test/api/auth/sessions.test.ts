import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { VARIANTS } from '../../harness/variant.js'
import type { Server } from '../../stack/server-log.js'
import { type AuthCaller, opened, rejected } from './auth-caller.js'
import { DataServices } from './data-services.js'

const ada = { email: 'ada@example.com', password: 'demo-password', clientAddress: '192.0.2.1' }
const wrong = { ...ada, password: 'not-it' }

eachDatabase(
  (kind) => {
    describe(`sessions over two data services on ${kind}`, () => {
      let services: DataServices
      let one: AuthCaller
      let other: AuthCaller
      let service: Server
      before(async () => {
        services = await DataServices.over(kind)
        ;({ caller: one, service } = await services.start())
        other = (await services.start()).caller
      })
      after(() => services[Symbol.asyncDispose]())

      it('have one successor of a token that twenty present at once', async () => {
        const { refreshToken } = await opened(one.login(ada))
        const sessions = await Promise.all(
          Array.from({ length: 20 }, (_, i) => opened((i % 2 === 0 ? one : other).refresh(refreshToken)))
        )
        expect(new Set(sessions.map((session) => session.refreshToken)).size).to.equal(1)
        expect(new Set(sessions.map((session) => session.refreshTokenExpiry)).size).to.equal(1)
        expect(sessions[0]?.refreshToken).to.not.equal(refreshToken)
      })

      it('are over, the newest token included, once a token is used after the grace window', async () => {
        const { refreshToken: first } = await opened(one.login(ada))
        const { refreshToken: second } = await opened(other.refresh(first))
        // It starts later than the window of a millisecond ends.
        const strict = await services.start({ REFRESH_GRACE: '1ms' })
        const rejection = await rejected(strict.caller.refresh(first, 'reuse'))
        expect(rejection).to.include({ status: status.UNAUTHENTICATED })
        expect(rejection.details.reason).to.equal('auth.invalid-token')
        for (const token of [second, first]) expect(await rejected(one.refresh(token)), token).to.deep.equal(rejection)
        const logged = await strict.service.logged(({ msg }) => msg === 'refresh family revoked')
        expect(logged).to.include({ requestId: 'reuse', reason: 'a refresh token was used again' })
      })

      it('are over once revoked on either', async () => {
        const { refreshToken: first } = await opened(one.login(ada))
        const { refreshToken: second } = await opened(other.refresh(first))
        await other.revoke(first)
        const rejection = await rejected(one.refresh(second, 'revoked'))
        expect(rejection.details.reason).to.equal('auth.invalid-token')
        const logged = await service.logged(({ requestId }) => requestId === 'revoked')
        expect(logged).to.include({ reason: 'revoked session' })
        expect(JSON.stringify(services.logs())).to.not.include(first).and.not.include(second)
      })

      it('are opened no more after ten failures, on either, nor after both have started anew', async () => {
        for (let i = 0; i < 10; i++) {
          const rejection = await rejected((i % 2 === 0 ? one : other).login(wrong))
          expect(rejection.details.reason, `time ${i}`).to.equal('auth.invalid-credentials')
        }
        await services.stop()
        const again = await services.start()
        const rejection = await rejected(again.caller.login(ada, 'throttled'))
        expect(rejection).to.include({ status: status.RESOURCE_EXHAUSTED })
        expect(rejection.details.reason).to.equal('quota-exceeded')
        expect(rejection.details.retryAfter).to.be.within(800, 900)
        const logged = await again.service.logged(({ requestId }) => requestId === 'throttled')
        expect(logged).to.include({ code: 'quota-exceeded', reason: 'too many log-ins failed of late' })
        await opened(again.caller.login({ ...ada, clientAddress: '192.0.2.2' }))
        await opened(again.caller.login({ ...ada, clientAddress: '' }))
      })
    })
  },
  { on: 'mysql', never: VARIANTS }
)
