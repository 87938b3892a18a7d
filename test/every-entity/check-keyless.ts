import { expect } from 'chai'
import type { Entity } from '../../data-service/entity/entity.js'
import { ANONYMOUS } from './callers.js'
import type { TestedApplication } from './tested-application.js'

// Rows without a key: what serves them, and that nothing names one.

/** Whatever the rules of the entity let the bypass role see. */
export function checkKeyless(tested: TestedApplication, { name, access }: Entity): void {
  it('answers the rows of its table by list and page, and names none of them', async () => {
    const caller = tested.callers.bypass
    for (const transport of tested.transports) {
      const list = await tested.send(transport, { resource: name, operation: 'list' }, caller)
      const page = await tested.send(transport, { resource: name, operation: 'paged', pageSize: '500' }, caller)
      expect([list.code, page.code]).to.deep.equal(['ok', 'ok'])
      expect(page.total).to.equal(String(list.rows.length))
      for (const operation of ['get', 'lookup'] as const) {
        const named = await tested.send(transport, { resource: name, operation, id: '1' }, caller)
        expect(named.code, operation).to.equal('route.not-found')
      }
    }
  })

  it('asks for a token where its rule does', async () => {
    for (const transport of tested.transports) {
      const { code } = await tested.send(transport, { resource: name, operation: 'list' }, ANONYMOUS)
      expect(code).to.equal(access.list.kind === 'everyone' ? 'ok' : 'auth.required')
    }
  })
}
