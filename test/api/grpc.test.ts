import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import { describeApi } from './api-store.js'
import { productItem, PRODUCTS, rowOf } from './fixture.js'
import { GrpcCaller, isFailure, type Method, type RpcFailure, type RpcOptions } from '../stack/grpc-caller.js'
import { rowVersionOf } from '../harness/insert-rows.js'

describeApi(
  'gRPC for internal services',
  (store) => {
    let rpc: GrpcCaller
    before(() => {
      rpc = new GrpcCaller(store.stack.dataAddress)
    })
    after(() => rpc.close())

    const fail = async (method: Method, request: object, options: RpcOptions = {}): Promise<RpcFailure> => {
      const answer = await rpc.unary(method, request, options)
      if (!isFailure(answer)) throw new Error(`${method} ${JSON.stringify(request)} did not fail`)
      return answer
    }
    const as = async (account: string): Promise<RpcOptions> => ({
      token: await store.stack.token(`${account}@example.com`)
    })

    it('answers a record as the exact bytes of the wire with its row version', async () => {
      const answer = await rpc.unary('Get', { resource: 'products', id: '1' })
      const http = await store.call('/products/1')
      expect(answer).to.have.nested.property('record.json').that.deep.equals(http.bytes)
      expect(answer)
        .to.have.nested.property('record.rowVersion')
        .that.deep.equals(rowVersionOf(rowOf(PRODUCTS, 1)))
      expect(JSON.parse(http.text)).to.deep.equal(productItem(1))
    })

    it('pages with totals', async () => {
      const answer = await rpc.unary('Page', { resource: 'products', pageSize: '5', pageNumber: '2' })
      expect(answer).to.include({ pageSize: 5, currentPage: '2', totalCount: '12', hasNext: true })
      expect(answer).to.have.property('records').with.length(5)
    })

    it('tells its catalogue to anyone', async () => {
      const answer = await rpc.unary('Describe', {})
      expect(JSON.stringify(answer))
        .to.include('"products"')
        .and.not.match(/riskNote/)
    })

    it('tells a caller that is no gateway of what it may call, and a gateway of everything', async () => {
      const named = async (options: RpcOptions): Promise<readonly string[]> => {
        const { resources } = (await rpc.unary('Describe', {}, options)) as DescribeResponse__Output // of the proto
        return resources.map(({ name }) => name)
      }
      const whole = await named({ asGateway: true })
      const [anonymous, clerk] = [await named({}), await named({ token: await store.stack.token('clerk@example.com') })]
      expect(whole).to.include.members(['products', 'orders', 'audit-entries'])
      expect(anonymous).to.include('products').and.not.include('audit-entries').and.not.include('orders')
      expect(clerk.length).to.be.above(anonymous.length)
      const described = JSON.stringify(await rpc.unary('Describe', {}))
      for (const name of whole.filter((one) => !anonymous.includes(one))) {
        expect(described, name).to.not.include(`"resource":"${name}"`)
      }
    })

    it('streams an export between header and end', async () => {
      const messages = await rpc.export({ resource: 'products', idleTimeoutMs: 5000 }, { deadline: null })
      expect(messages).to.be.an('array')
      const parts = Array.isArray(messages) ? messages : []
      expect(parts.at(0)).to.have.property('header')
      expect(parts.at(-1)).to.have.property('end').that.deep.includes({ count: 12, truncated: false })
    })

    const filtered = (property: string, operator: string, value: string): object => ({
      resource: 'products',
      selection: { filters: [{ property, operator, value }] }
    })

    const REFUSED: readonly (readonly [method: Method, request: object, status: status, reason: string])[] = [
      ['Page', filtered('nope', 'equals', '1'), status.INVALID_ARGUMENT, 'filter.property.unknown'],
      ['Page', filtered('name', 'gt', '1'), status.INVALID_ARGUMENT, 'filter.operator.unsupported'],
      ['Page', filtered('id', 'equals', 'x'), status.INVALID_ARGUMENT, 'filter.value.invalid'],
      ['Page', filtered('name', 'equals', 'a\0b'), status.INVALID_ARGUMENT, 'filter.value.invalid'],
      ['Page', filtered('name', 'in', 'a,\0'), status.INVALID_ARGUMENT, 'filter.value.invalid'],
      ['Page', filtered('price', 'between', '1,2\0'), status.INVALID_ARGUMENT, 'filter.value.invalid'],
      ['Lookup', { resource: 'products', search: 'a\0b' }, status.INVALID_ARGUMENT, 'filter.value.invalid'],
      ['Page', filtered('name', 'equals', 'x'.repeat(4097)), status.INVALID_ARGUMENT, 'filter.too-many'],
      ['Page', { resource: 'products', pageSize: '0' }, status.INVALID_ARGUMENT, 'paging.invalid'],
      ['Page', { resource: 'products', pageNumber: '1e2' }, status.INVALID_ARGUMENT, 'paging.invalid'],
      [
        'Page',
        { resource: 'products', selection: { sortColumn: 'nope' } },
        status.INVALID_ARGUMENT,
        'sort.property.unknown'
      ],
      [
        'Page',
        { resource: 'products', selection: { sortDirection: 'up' } },
        status.INVALID_ARGUMENT,
        'sort.direction.invalid'
      ],
      ['List', { resource: 'products', shape: { fields: 'nope' } }, status.INVALID_ARGUMENT, 'fields.invalid'],
      ['List', { resource: 'products', shape: { includeFks: '1' } }, status.INVALID_ARGUMENT, 'include.invalid'],
      [
        'List',
        { resource: 'products', unplaced: { parameters: ['foo'] } },
        status.INVALID_ARGUMENT,
        'parameter.unknown'
      ],
      ['Get', { resource: 'products', id: 'x' }, status.INVALID_ARGUMENT, 'id.invalid'],
      ['Get', { resource: 'products', id: '99' }, status.NOT_FOUND, 'not-found'],
      ['Read', { resource: 'products', name: 'nope' }, status.NOT_FOUND, 'route.not-found'],
      ['Read', { resource: 'nope', name: 'session-ids' }, status.NOT_FOUND, 'route.not-found'],
      ['Read', { resource: 'bookmarks', name: 'session-ids' }, status.UNAUTHENTICATED, 'auth.required'],
      ['List', { resource: 'orders' }, status.UNAUTHENTICATED, 'auth.required'],
      ['Lookup', { resource: 'customers' }, status.UNAUTHENTICATED, 'auth.required'],
      ['Get', { resource: 'customers', id: '1' }, status.UNAUTHENTICATED, 'auth.required']
    ]
    for (const [method, request, code, reason] of REFUSED) {
      it(`rejects ${method} with ${reason}`, async () => {
        const failure = await fail(method, request)
        expect(failure.status).to.equal(code)
        expect(failure.details.reason).to.equal(reason)
        expect(failure.message).not.to.equal('')
      })
    }

    it('tells where a new row is to be read, a retry from elsewhere what the first call was told', async () => {
      const create = async (linkBase: string): Promise<object> => {
        const body = Buffer.from('{"name":"Saws","slug":"saws"}')
        return rpc.unary('Create', { resource: 'categories', body, idempotencyKey: 'k', linkBase }, await as('clerk'))
      }
      const first = await create('https://one.example/api')
      if (!('id' in first)) throw new Error(JSON.stringify(first))
      expect(first).to.have.property('location', `https://one.example/api/categories/${String(first.id)}`)
      expect(await create('https://two.example')).to.deep.equal({ ...first, replayed: true })
      expect(await create(`http://${'x'.repeat(2041)}`)).to.deep.equal({ ...first, replayed: true })
      const header = ['http://a\r\nX-Evil: y', 'http://é', 'http://a b']
      for (const linkBase of ['x', 'ftp://x', 'http://', ...header, `http://${'x'.repeat(2042)}`]) {
        const rejected = await create(linkBase)
        expect(isFailure(rejected) && [rejected.status, rejected.details.reason], linkBase).to.deep.equal([
          status.INVALID_ARGUMENT,
          'request.malformed'
        ])
      }
    })

    it('rejects an unknown resource', async () => {
      const { status: code } = await fail('List', { resource: 'nope' })
      expect([status.NOT_FOUND, status.INVALID_ARGUMENT]).to.include(code)
    })

    it('judges callers by itself, whatever a gateway might have let through', async () => {
      const denied = async (account: string, method: Method, request: object): Promise<string> => {
        const { status: code, details } = await fail(method, request, await as(account))
        return `${status[code]} ${details.reason}`
      }
      expect(await denied('ada', 'List', { resource: 'customers' })).to.equal('PERMISSION_DENIED capability.denied')
      expect(await denied('nobody', 'List', { resource: 'orders' })).to.equal('PERMISSION_DENIED ownership.denied')
      expect(await denied('nobody', 'Lookup', { resource: 'orders' })).to.equal('PERMISSION_DENIED ownership.denied')
      expect(await denied('ada', 'Get', { resource: 'customers', id: '2' })).to.equal(
        'PERMISSION_DENIED ownership.denied'
      )
      expect(await denied('ada', 'Get', { resource: 'orders', id: '2' })).to.equal('NOT_FOUND not-found')
      const own = await rpc.unary('List', { resource: 'orders' }, await as('ada'))
      expect(own).to.have.property('records').with.length(2)
      const exported = await rpc.export({ resource: 'orders', idleTimeoutMs: 5000 }, await as('nobody'))
      expect(isFailure(exported) && exported.details.reason).to.equal('ownership.denied')
    })

    it('rejects a bad token on a public read', async () => {
      const { status: code, details } = await fail('List', { resource: 'products' }, { token: 'garbage' })
      expect(code).to.equal(status.UNAUTHENTICATED)
      expect(details.reason).to.equal('auth.invalid-token')
    })

    for (const method of ['List', 'Page', 'Lookup', 'Get', 'Read'] as const) {
      it(`rejects ${method} without a deadline`, async () => {
        const failure = await fail(method, { resource: 'products', id: '1' }, { deadline: null })
        expect(failure.status).to.equal(status.INVALID_ARGUMENT)
        expect(failure.message).to.match(/deadline/i)
      })
    }

    it('rejects an export with neither deadline nor idle timeout', async () => {
      const failure = await rpc.export({ resource: 'products' }, { deadline: null })
      expect(isFailure(failure) && failure.status).to.equal(status.INVALID_ARGUMENT)
    })

    it('keeps the details of many long faults within 6 KiB, the rest counted', async () => {
      const filters = Array.from({ length: 50 }, (_, n) => ({
        property: `unknown-${n}-${'x'.repeat(400)}`,
        operator: 'equals',
        value: '1'
      }))
      const failure = await fail('Page', { resource: 'products', selection: { filters } })
      expect(failure.details.reason).to.equal('filter.property.unknown')
      expect(failure.detailBytes).to.be.within(1, 6 * 1024)
      expect(failure.details.violations.length).to.be.within(1, 49)
    })

    it('lists several faults as field violations, each with its reason', async () => {
      const failure = await fail('Page', { resource: 'products', pageSize: '0', selection: { sortColumn: 'nope' } })
      expect(failure.details.violations.map(({ reason }) => reason)).to.have.members([
        'paging.invalid',
        'sort.property.unknown'
      ])
    })
  },
  { on: 'sqlite', never: ['cuts', 'document'] }
)
