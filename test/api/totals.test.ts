import { expect } from 'chai'
import application from '../../examples/store/uniform-rest.config.js'
import { insertRows, type NewRow, TABLES } from '../harness/insert-rows.js'
import { inside, parametersOf } from '../harness/openapi-document.js'
import { type Message, TypedClient } from '../harness/typed-client.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'
import { type Answer, filter, json } from './http-call.js'

interface TotalsProblem {
  readonly errors: readonly { readonly code: string; readonly parameter: string; readonly detail: string }[]
}

describeApi(
  'GET /{resource}/totals',
  (store) => {
    const faults = (answer: Answer): unknown[] =>
      (json(answer) as TotalsProblem).errors.map(({ code, parameter }) => [code, parameter])

    it('answers the dimensions and then the measures of each group, in the order of the dimensions', async () => {
      const answer = await store.as('admin', '/orders/totals?by=status,placedAt.month&measures=count,sum.total')
      expect(answer.text).to.equal(
        '[{"status":"delivered","placedAt.month":"2026-04","count":1,"sum.total":"9999999999.99"},' +
          '{"status":"paid","placedAt.month":"2026-04","count":1,"sum.total":"37.90"},' +
          '{"status":"placed","placedAt.month":"2026-04","count":3,"sum.total":"6.50"}]'
      )
      expect(answer.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-row-limit': '1000'
      })
      expect(answer.headers).not.to.have.property('x-truncated')
    })

    it('answers one row of all measures without parameters, and null where there is no value', async () => {
      expect(json(await store.as('admin', '/orders/totals'))).to.deep.equal([
        {
          count: 5,
          'sum.total': '10000000044.39',
          'average.total': '2000000008.878000',
          'min.total': '0.00',
          'max.total': '9999999999.99'
        }
      ])
      expect(json(await store.as('admin', `/orders/totals?${filter('id', 'eq', '77')}`))).to.deep.equal([
        { count: 0, 'sum.total': null, 'average.total': null, 'min.total': null, 'max.total': null }
      ])
      const grouped = `/orders/totals?by=placedAt.year,placedAt.day&${filter('id', 'eq', '77')}`
      expect(json(await store.as('admin', grouped))).to.deep.equal([])
    })

    it('writes a year as a number, a day as a date, a flag as a flag, and rounds averages half away from zero', async () => {
      const [first] = json(await store.as('admin', '/orders/totals?by=placedAt.year,placedAt.day')) as object[]
      expect(first).to.include({ 'placedAt.year': 2026, 'placedAt.day': '2026-04-01', 'average.total': '37.900000' })
      // 29.99 by 3 is 9.99666…, and 20.00 + 0.00 + … by 2 has no rest.
      const products = `/products/totals?by=isActive&measures=average.price&${filter('id', 'in', '8,10,6,9,12')}`
      expect(json(await store.call(products))).to.deep.equal([
        { isActive: false, 'average.price': '10.500000' },
        { isActive: true, 'average.price': '3.670000' }
      ])
      const thirds = `/products/totals?measures=average.price&${filter('id', 'in', '1,2,3')}`
      expect(json(await store.call(thirds))).to.deep.equal([{ 'average.price': '8.466667' }])
    })

    it('counts the rows of the caller alone, and rejects whoever a list rejects', async () => {
      const own = json(await store.as('ada', '/orders/totals?measures=count,max.total'))
      expect(own).to.deep.equal([{ count: 2, 'max.total': '9999999999.99' }])
      store.problem(await store.as('nobody', '/orders/totals'), { status: 403, code: 'ownership.denied' })
      store.problem(await store.call('/orders/totals'), { status: 401, code: 'auth.required' })
      expect((await store.call('/products/totals')).status).to.equal(200)
    })

    it('takes filters, groups of filters and search as a page does', async () => {
      const count = async (query: string): Promise<unknown> =>
        (json(await store.call(`/products/totals?measures=count&${query}`)) as object[])[0]
      expect(await count('search=hammer')).to.deep.equal({ count: 3 })
      expect(await count(`search=hammer&${filter('price', 'lt', '20')}`)).to.deep.equal({ count: 2 })
      const group = [filter('id', 'eq', '1'), filter('id', 'eq', '7')].map((one) =>
        one.replaceAll('filters', 'anyOf[1].filters')
      )
      expect(await count(group.join('&'))).to.deep.equal({ count: 2 })
    })

    it('sorts by what it answers, with the dimensions behind', async () => {
      const ordered = async (query: string): Promise<unknown> =>
        (json(await store.as('admin', `/orders/totals?${query}`)) as Record<string, unknown>[]).map(Object.values)
      expect(await ordered('by=customerId&measures=count&sortColumn=count&sortDirection=desc')).to.deep.equal([
        [2, 2],
        [1, 2],
        [3, 1]
      ])
      expect(await ordered('by=customerId&measures=sum.total&sortColumn=SUM.total')).to.deep.equal([
        [3, '1.00'],
        [2, '5.50'],
        [1, '10000000037.89']
      ])
      expect(await ordered('by=customerId&measures=average.total&sortDirection=desc')).to.deep.equal([
        [3, '1.000000'],
        [2, '2.750000'],
        [1, '5000000018.945000']
      ])
    })

    it('names the dimensions and measures that there are for the caller, all faults at once', async () => {
      const answer = await store.as('ada', '/products/totals?by=colour,isActive&measures=sum.costPrice,count')
      store.problem(answer, { status: 400, code: 'totals.invalid' })
      expect(faults(answer)).to.deep.equal([
        ['totals.invalid', 'by'],
        ['totals.invalid', 'measures']
      ])
      expect((json(answer) as TotalsProblem).errors[0]?.detail).to.equal(
        '"colour" is no dimension. There are: categoryId, isActive.'
      )
      expect(answer.text.split('sum.costPrice')).to.have.length(2)
      const clerk = json(await store.as('clerk', '/products/totals')) as object[]
      const ada = json(await store.as('ada', '/products/totals')) as object[]
      expect(clerk[0]).to.have.property('sum.costPrice', null)
      expect(ada[0]).not.to.have.property('sum.costPrice')
      const several = 'a,b,c,d,e'
      expect((await store.call(`/products/totals?by=${several}`)).text).to.include('at most 4 dimensions, not 5')
      const unsorted = await store.call('/products/totals?by=isActive&measures=count&sortColumn=categoryId')
      store.problem(unsorted, { status: 400, code: 'sort.property.unknown' })
      store.problem(await store.call('/categories/totals'), { status: 404, code: 'route.not-found' })
      store.problem(await store.call('/products/totals', { method: 'DELETE' }), {
        status: 405,
        code: 'method.not-allowed'
      })
    })

    it('writes CSV for who accepts it', async () => {
      const headers = { accept: 'text/csv' }
      const answer = await store.as('admin', '/orders/totals?by=status&measures=count,sum.total', { headers })
      expect(answer.text).to.equal(
        '\uFEFFstatus,count,sum.total\r\ndelivered,1,9999999999.99\r\npaid,1,37.90\r\nplaced,3,6.50\r\n'
      )
      expect(answer.headers['content-type']).to.equal('text/csv; charset=utf-8')
      expect(answer.headers['vary']).to.include('Accept')
    })

    it('is the rpc Totals over gRPC, with the same bytes', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const http = await store.as('ada', '/orders/totals?by=status')
        const token = await store.stack.token('ada@example.com')
        const answer = await rpc.unary('Totals', { resource: 'orders', by: 'status' }, { token })
        expect(answer).to.have.property('json').that.deep.equals(http.bytes)
        expect(answer).to.include({ rowLimit: 1000, truncated: false })
        const failed = await rpc.unary('Totals', { resource: 'categories' }, { token })
        expect(JSON.stringify(failed)).to.include('route.not-found')
      } finally {
        rpc.close()
      }
    })

    it('is answered over gRPC in typed messages', async () => {
      const orders = new TypedClient(application, 'OrderService', store.stack.dataAddress)
      try {
        const token = await store.stack.token('admin@example.com')
        const by = ['DIMENSION_STATUS', 'DIMENSION_PLACED_AT_MONTH']
        const sort = [{ measure: 'MEASURE_COUNT', descending: true }]
        const measures = ['MEASURE_COUNT', 'MEASURE_SUM_TOTAL']
        const month = { placed_at_month: '2026-04' }
        const filter = { id: [{ greater_than: 1 }] }
        const http =
          '/orders/totals?by=status,placedAt.month&measures=count,sum.total&sortColumn=count&sortDirection=desc'
        const [first] = json(
          await store.as('admin', `${http}&filters[id].operator=gt&filters[id].value=1`)
        ) as Message[]
        const answer = await orders.call('TotalOrders', { by, measures, sort, filter }, token)
        expect((answer['groups'] as readonly Message[])[0]).to.deep.equal({
          ...month,
          status: 'STATUS_PLACED',
          count: String(first?.['count']),
          sum_total: first?.['sum.total']
        })
        expect(answer).to.include({ row_limit: 1000, truncated: false })
        // The rows of the caller alone, and the rejections of the generic service.
        const own = (await orders.call('TotalOrders', {}, await store.stack.token('ada@example.com')))['groups']
        const [mine] = json(await store.as('ada', '/orders/totals')) as Message[]
        expect(own).to.have.nested.property('[0].count', String(mine?.['count']))
        expect(await orders.failure('TotalOrders', { sort })).to.include({ reason: 'auth.required' })
        const unknown = await orders.failure('TotalOrders', { by: [77] }, token)
        expect(unknown.reason).to.equal('totals.invalid')
      } finally {
        orders.close()
      }
    })

    it('is in the OpenAPI document with the names that the caller may use', async () => {
      const names = (document: unknown, parameter: string): unknown => {
        const { schema } = parametersOf(document, '/products/totals', 'get').get(parameter) ?? {}
        return inside(document, ...followedPath(document, schema), 'enum')
      }
      const followedPath = (_document: unknown, schema: unknown): string[] => {
        const items = (schema as { items: { anyOf: readonly { $ref: string }[] } }).items
        return items.anyOf[0]?.$ref.split('/').slice(1) ?? []
      }
      const anonymous = json(await store.call('/openapi.json?exact=true'))
      expect(names(anonymous, 'by')).to.deep.equal(['categoryId', 'isActive'])
      expect(names(anonymous, 'measures')).to.deep.equal([
        'count',
        'sum.price',
        'average.price',
        'min.price',
        'max.price'
      ])
      const clerk = json(await store.as('clerk', '/openapi.json?exact=true'))
      expect(names(clerk, 'measures')).to.include('sum.costPrice')
      expect(inside(anonymous, 'paths', '/categories/totals')).to.equal(undefined)
    })

    it('stops at 1000 rows and says so', async () => {
      const day = (n: number): string => new Date(Date.UTC(2000, 0, 1 + n)).toISOString()
      const rows = Array.from({ length: 1200 }, (_, n): NewRow => ({
        id: 100 + n,
        number: `N-${n}`,
        customerId: 3,
        status: 'cancelled',
        total: '0.10',
        placedAt: day(n)
      }))
      await withTestDatabase(store.databaseUrl, (database) => insertRows(database, TABLES.orders, rows))
      const query = `by=placedAt.day&measures=count&${filter('status', 'eq', 'cancelled')}`
      const answer = await store.as('admin', `/orders/totals?${query}`)
      expect(json(answer)).to.deep.equal(
        Array.from({ length: 1000 }, (_, n) => ({ 'placedAt.day': day(n).slice(0, 10), count: 1 }))
      )
      expect(answer.headers).to.include({ 'x-row-limit': '1000', 'x-truncated': 'true' })
      const years = `/orders/totals?by=placedAt.year&${filter('status', 'eq', 'cancelled')}`
      expect(json(await store.as('admin', `${years}&measures=sum.total,count`))).to.deep.equal([
        { 'placedAt.year': 2000, 'sum.total': '36.60', count: 366 },
        { 'placedAt.year': 2001, 'sum.total': '36.50', count: 365 },
        { 'placedAt.year': 2002, 'sum.total': '36.50', count: 365 },
        { 'placedAt.year': 2003, 'sum.total': '10.40', count: 104 }
      ])
    })
  },
  { also: ['document'] }
)
