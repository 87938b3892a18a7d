import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { customerItem, orderItem } from './fixture.js'
import { ids, json, type Answer } from './http-call.js'

const ROUTES = ['', '/paged', '/export', '/lookup', '/1']

describeApi(
  'access',
  (store) => {
    /** An account of domain.md, or no token at all. */
    const get = (account: string, target: string): Promise<Answer> =>
      account === 'anonymous' ? store.call(target) : store.as(account, target)

    for (const resource of ['products', 'categories']) {
      for (const account of ['anonymous', 'nobody', 'ada', 'clerk', 'admin']) {
        it(`serves ${resource} to ${account} on every route`, async () => {
          for (const route of ROUTES) {
            expect((await get(account, `/${resource}${route}`)).status, route).to.equal(200)
          }
        })
      }
    }

    type Verdict = 200 | 401 | 'capability' | 'ownership' | 404
    const MATRIX: readonly (readonly [target: string, verdicts: Readonly<Record<string, Verdict>>])[] = [
      ...['/customers', '/customers/paged', '/customers/export', '/customers/lookup'].map(
        (target) =>
          [target, { anonymous: 401, nobody: 'capability', ada: 'capability', clerk: 200, admin: 200 }] as const
      ),
      [
        '/customers/1',
        { anonymous: 401, nobody: 'ownership', ada: 200, ben: 'ownership', clerk: 'ownership', admin: 200 }
      ],
      ['/customers/2', { anonymous: 401, nobody: 'ownership', ada: 'ownership', ben: 200, admin: 200 }],
      ['/customers/99', { nobody: 'ownership', ada: 'ownership', admin: 404 }],
      ['/customers/001', { ada: 200, ben: 'ownership' }],
      ...['/customers/+1', '/customers/1e0', '/customers/%201', '/customers/one', '/customers/1.0'].map(
        (target) => [target, { ada: 'ownership' }] as const
      ),
      ...['/orders', '/orders/paged', '/orders/export', '/orders/lookup'].map(
        (target) => [target, { anonymous: 401, nobody: 'ownership', clerk: 'ownership', ada: 200, admin: 200 }] as const
      ),
      ['/orders/1', { anonymous: 401, nobody: 'ownership', clerk: 'ownership', ada: 200, ben: 404, admin: 200 }],
      ['/orders/2', { ada: 404, ben: 200, admin: 200 }],
      ['/orders/99', { nobody: 'ownership', ada: 404, admin: 404 }]
    ]
    for (const [target, verdicts] of MATRIX) {
      for (const [account, verdict] of Object.entries(verdicts)) {
        it(`answers ${account} on ${target} with ${verdict}`, async () => {
          const answer = await get(account, target)
          if (verdict === 200) expect(answer.status, answer.text).to.equal(200)
          else if (verdict === 404) store.problem(answer, { status: 404, code: 'not-found' })
          else if (verdict === 401) {
            store.problem(answer, { status: 401, code: 'auth.required' })
            expect(answer.headers['www-authenticate']).to.equal('Bearer')
          } else store.problem(answer, { status: 403, code: `${verdict}.denied` })
        })
      }
    }

    it('narrows every collection of orders to the own rows, totals included', async () => {
      for (const [account, own] of [
        ['ada', [1, 3]],
        ['ben', [2, 5]],
        ['admin', [1, 2, 3, 4, 5]]
      ] as const) {
        const list = await store.as(account, '/orders')
        expect(json(list), account).to.deep.equal(own.map((id) => orderItem(id)))
        const paged = await store.as(account, '/orders/paged?pageSize=1')
        expect(paged.headers['x-total-count'], account).to.equal(String(own.length))
      }
    })

    for (const query of [
      'filters[customerId].operator=eq&filters[customerId].value=2',
      'filters[customerId].operator=ne&filters[customerId].value=1',
      'filters[customerId].operator=in&filters[customerId].value=2,3',
      'filters[id].operator=eq&filters[id].value=2'
    ]) {
      it(`cannot be widened by ${query}`, async () => {
        const answer = await store.as('ada', `/orders/paged?${query}`)
        expect(ids(answer)).to.deep.equal([])
        expect(answer.headers['x-total-count']).to.equal('0')
      })
    }

    it('shows a customer to its owner with addresses and without what is hidden', async () => {
      const answer = await store.as('ada', '/customers/1?includeChildren=true')
      expect(json(answer)).to.deep.include(customerItem(1))
      expect(json(answer)).to.have.property('addresses').with.length(1)
      expect(answer.text).not.to.match(/riskNote|secret/)
    })

    it('to any route shows no hidden member', async () => {
      for (const target of ['/customers', '/customers/paged', '/customers/export', '/customers/lookup']) {
        const answer = await store.as('admin', target)
        expect(answer.status, target).to.equal(200)
        expect(answer.text, target).not.to.match(/riskNote|risk_note|secret/)
      }
    })

    it('includes no customer that the caller could not read by itself', async () => {
      const answer = await store.as('ada', '/orders/paged?includeFKs=true&includeChildren=true')
      expect(answer.status).to.equal(200)
      expect(answer.text).not.to.match(/Ben Franklin|c2@example|riskNote|secret/)
    })

    it('judges who before what: a bad query of a stranger is 401, of the powerless 403', async () => {
      store.problem(await store.call('/orders/paged?pageSize=0'), {
        status: 401,
        code: 'auth.required',
        violations: [{ code: 'auth.required', header: 'Authorization' }]
      })
      store.problem(await store.as('nobody', '/orders/paged?pageSize=0'), { status: 403, code: 'ownership.denied' })
      store.problem(await store.as('ada', '/customers/paged?pageSize=0'), { status: 403, code: 'capability.denied' })
      store.problem(await store.as('ada', '/orders/x'), { status: 400, code: 'id.invalid' })
      store.problem(await store.as('admin', '/customers/x'), { status: 400, code: 'id.invalid' })
    })

    it('logs who takes the audit trail away, and nobody who may not', async () => {
      const named = (id: string) => ({ headers: { 'x-request-id': id } })
      const denied = await store.as('clerk', '/audit-entries/export', named('audit-denied'))
      store.problem(denied, { status: 403, code: 'capability.denied' })
      const answer = await store.as('admin', '/audit-entries/export', named('audit-exported'))
      expect(answer.status).to.equal(200)
      expect(answer.text).to.match(/^\uFEFFid,at,subject,resource,rowId,action,requestId\r\n/)
      const logged = await store.stack.dataService.logged(({ msg }) => msg === 'the audit trail is exported')
      expect(logged).to.include({ subject: 'admin@example.com', requestId: 'audit-exported' })
      const lines = store.stack.logs().filter(({ msg }) => msg === 'the audit trail is exported')
      expect(lines).to.have.length(1)
    })

    it('takes no cookie for a credential', async () => {
      const token = await store.stack.token('ada@example.com')
      const answer = await store.call('/orders', { headers: { cookie: `app_auth_access=${token}` } })
      store.problem(answer, { status: 401, code: 'auth.required' })
    })
  },
  { on: 'sqlite' }
)
