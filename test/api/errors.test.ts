import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { BAD_FILTERS, BAD_PAGING, BAD_QUERIES } from './bad-queries.js'
import { filter, json } from './http-call.js'
import { StatementLog, statements } from './statement-log.js'

describeApi(
  'refusals',
  (store) => {
    for (const { query, code, parameter, says } of [...BAD_FILTERS, ...BAD_PAGING, ...BAD_QUERIES]) {
      it(`${code} for ${query.slice(0, 90)}`, async () => {
        const answer = await store.call(`/products/paged?${query}`)
        store.problem(answer, {
          status: 400,
          code,
          violations: [{ code, parameter, ...(says === undefined ? {} : { says }) }]
        })
        expect(answer.headers).to.include({ 'api-supported-versions': '1.0' })
        expect(answer.headers).not.to.have.any.keys('x-pagination', 'etag')
      })
    }

    it('names the operators the type does have', async () => {
      const answer = await store.call(`/products/paged?${filter('isActive', 'greater than', 'true')}`)
      const { detail } = store.problem(answer, { status: 400, code: 'filter.operator.unsupported' })
      for (const operator of ['is', 'is empty', 'is not empty', 'equals', 'eq'])
        expect(detail, operator).to.include(operator)
    })

    it('reports all faults of a request in one answer', async () => {
      const query = [
        filter('nope', 'equals', '1'),
        filter('price', 'contains', '1'),
        filter('id', 'eq', 'x'),
        'sortColumn=worse',
        'sortDirection=up',
        'pageSize=0',
        'pageNumber=1.5',
        'fields=none',
        'includeFKs=maybe'
      ].join('&')
      const answer = await store.call(`/products/paged?${query}`)
      const problem = store.problem(answer, {
        status: 400,
        code: 'filter.property.unknown',
        violations: [
          { code: 'filter.property.unknown', parameter: 'filters[nope]', says: 'nope' },
          { code: 'filter.operator.unsupported', parameter: 'filters[price].operator' },
          { code: 'filter.value.invalid', parameter: 'filters[id].value' },
          { code: 'sort.property.unknown', parameter: 'sortColumn' },
          { code: 'sort.direction.invalid', parameter: 'sortDirection' },
          { code: 'paging.invalid', parameter: 'pageSize' },
          { code: 'paging.invalid', parameter: 'pageNumber' },
          { code: 'fields.invalid', parameter: 'fields' },
          { code: 'include.invalid', parameter: 'includeFKs' }
        ]
      })
      expect(problem.errors).to.have.length(9)
    })

    it('come in the order syntax, who, may, content', async () => {
      const version = { 'api-version': '2' }
      const rejected = async (target: string, headers = {}, method = 'GET'): Promise<string> => {
        const answer = await store.call(target, { method, headers })
        return `${answer.status} ${String((json(answer) as { code?: unknown }).code)}`
      }
      expect(await rejected('/nope', version)).to.equal('404 route.not-found')
      expect(await rejected('/orders', version, 'PATCH')).to.equal('405 method.not-allowed')
      expect(await rejected('/orders/paged?pageSize=0', version)).to.equal('400 version.unsupported')
      expect(await rejected('/orders/paged?pageSize=0')).to.equal('401 auth.required')
      expect(await rejected('/products/paged?pageSize=0', { authorization: 'Bearer x' })).to.equal(
        '401 auth.invalid-token'
      )
      expect(await rejected('/customers/x')).to.equal('401 auth.required')
    })

    if (store.kind === 'mysql') {
      it('come before any SQL', async () => {
        const log = await StatementLog.open(store.databaseUrl)
        try {
          const lines = await log.during(async () => {
            for (const { query } of [...BAD_FILTERS, ...BAD_PAGING, ...BAD_QUERIES]) {
              expect((await store.call(`/products/paged?${query}`)).status, query).to.equal(400)
            }
            expect((await store.call('/products/abc')).status).to.equal(400)
            expect((await store.call('/products?fields=nope')).status).to.equal(400)
            expect((await store.call('/products/export?includeChildren=true')).status).to.equal(400)
            expect((await store.call('/orders')).status).to.equal(401)
            expect((await store.as('ada', '/customers')).status).to.equal(403)
            expect((await store.as('nobody', '/orders')).status).to.equal(403)
          })
          expect(statements(lines)).to.deep.equal([])
          const served = await log.during(() => store.call('/products/paged'))
          expect(statements(served)).not.to.be.empty
        } finally {
          await log.close()
        }
      })
    }
  },
  { also: ['document'] }
)
