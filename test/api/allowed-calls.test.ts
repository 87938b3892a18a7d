import { expect } from 'chai'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Resource__Output } from '../../shared/gen/entity/v1/Resource.js'
import { isSoak } from '../harness/in-soak.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'
import { call } from './http-call.js'

/** Sample accounts with their owner claims; `anonymous` sends no token. */
const CALLERS: Readonly<Record<string, string>> = {
  anonymous: '',
  admin: '',
  clerk: '',
  ada: '1',
  ben: '2',
  nobody: ''
}

const READS = ['list', 'paged', 'export', 'lookup', 'totals', 'get', 'history']

interface Probe {
  /** As `allowed` calls it. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Resources whose rows are written by their owners (domain.md). A caller without an owner is rejected when the row is looked
 * for, which none of the probes gets to.
 */
const OF_OWNERS = ['bookmarks', 'orders', 'returns', 'shopping-carts', 'subscriptions', 'tickets']

const JSON_TYPE = { 'content-type': 'application/json' }

/** A request for each name that `allowed` may hold. None writes: each lacks something that is looked at after the caller. */
function probesOf({ name, key, operations, actions, reads }: Resource__Output, owner: string): Probe[] {
  // The id that an owner filter by id lets pass.
  const id = owner === '' ? '1' : owner
  const of = (operation: string): Probe => {
    switch (operation) {
      case 'list':
        return { name: operation, method: 'GET', path: `/${name}` }
      case 'get':
        return { name: operation, method: 'GET', path: `/${name}/${key.length > 1 ? '1,1' : id}` }
      case 'history':
        return { name: operation, method: 'GET', path: `/${name}/${id}/history` }
      case 'create':
        return { name: operation, method: 'POST', path: `/${name}`, headers: JSON_TYPE, body: '[]' }
      case 'batch':
        return { name: operation, method: 'POST', path: `/${name}/batch`, headers: JSON_TYPE, body: '[]' }
      case 'import': {
        const headers = { 'content-type': 'application/x-ndjson' }
        return { name: operation, method: 'POST', path: `/${name}/import`, headers, body: '[]' }
      }
      case 'update':
        return { name: operation, method: 'PUT', path: `/${name}/${id}`, headers: JSON_TYPE, body: '{}' }
      case 'updateBatch': {
        const headers = { 'content-type': 'application/merge-patch+json' }
        return { name: operation, method: 'PATCH', path: `/${name}/batch`, headers, body: '[]' }
      }
      case 'deleteBatch':
        return { name: operation, method: 'POST', path: `/${name}/batch/delete`, headers: JSON_TYPE, body: '[]' }
      case 'delete':
        return { name: operation, method: 'DELETE', path: `/${name}/${id}`, headers: { 'if-match': 'malformed' } }
      default:
        return { name: operation, method: 'GET', path: `/${name}/${operation}` }
    }
  }
  const acts = actions.map((one): Probe => {
    return { name: one.name, method: 'PUT', path: `/${name}/${id}/${one.name}`, headers: JSON_TYPE, body: '{}' }
  })
  return [...operations.map(of), ...reads.map((read) => of(read.name)), ...acts]
}

describeApi(
  'the calls that Describe allows a caller',
  (store) => {
    let rpc: GrpcCaller
    before(() => {
      rpc = new GrpcCaller(store.stack.dataAddress)
    })
    after(() => rpc.close())

    for (const [at, [account, owner]] of Object.entries(CALLERS).entries()) {
      it(`are those that are not rejected: ${account}`, async () => {
        const token = account === 'anonymous' ? undefined : await store.stack.token(`${account}@example.com`)
        const options = { asGateway: true, ...(token === undefined ? {} : { token }) }
        const answer = await rpc.unary('Describe', { asCaller: true }, options)
        if (isFailure(answer)) throw new Error(answer.message)
        const told = answer as DescribeResponse__Output // of the proto
        expect([told.owner, told.everyOwner]).to.deep.equal([owner, account === 'admin'])
        expect(told.allowed.map(({ resource }) => resource)).to.have.members(told.resources.map(({ name }) => name))
        // `npm test` tries each resource with every third caller, and the soak with all of them.
        const tried = told.resources.filter((_, n) => isSoak || (n + at) % 3 === 0)
        expect(tried).not.to.be.empty
        for (const resource of tried) {
          const { ownerParameter } = resource
          const query =
            ownerParameter === '' || ownerParameter === 'id' || owner === '' ? '' : `?${ownerParameter}=${owner}`
          const passed: string[] = []
          for (const { name, path, ...request } of probesOf(resource, owner)) {
            const { status } = await call(store.url, path + query, { ...request, token })
            if (status !== 401 && status !== 403) passed.push(name)
          }
          const names = told.allowed.find((one) => one.resource === resource.name)?.names
          const ownsNone = owner === '' && account !== 'admin' && OF_OWNERS.includes(resource.name)
          const reading = [...READS, ...resource.reads.map((read) => read.name)]
          const expected = ownsNone ? passed.filter((one) => reading.includes(one)) : passed
          expect(names, resource.name).to.have.members(expected)
        }
      })
    }

    it('come with the states that actions and deletes need, and with what references stand on', async () => {
      const { resources } = (await rpc.unary('Describe', {}, { asGateway: true })) as DescribeResponse__Output // of the proto
      const orders = resources.find(({ name }) => name === 'orders')
      const states = Object.fromEntries((orders?.actions ?? []).map((action) => [action.name, action.states]))
      expect(states['cancel']).to.deep.equal([{ property: 'status', values: ['"placed"', '"paid"'] }])
      expect(orders?.deleteStates).to.deep.equal([{ property: 'status', values: ['"placed"', '"cancelled"'] }])
      expect(orders?.navigations.find(({ name }) => name === 'customer')?.via).to.deep.equal(['customerId'])
      const products = resources.find(({ name }) => name === 'products')
      expect(products?.actions.find(({ name }) => name === 'publish')?.states).to.deep.equal([
        { property: 'isActive', values: ['false'] }
      ])
      const stock = products?.actions.find(({ name }) => name === 'adjust-variant-stock')
      expect(stock).to.include({ childPrecondition: 'variantRowVersion', child: 'variants', childId: 'variantId' })
    })
  },
  { on: 'sqlite' }
)
