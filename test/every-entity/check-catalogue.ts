import { expect } from 'chai'
import { type Children, type Entity, tellingColumns } from '../../data-service/entity/entity.js'
import { hasRowVersion } from '../../data-service/entity/fields/row-version.js'
import type { Writability } from '../../data-service/entity/fields/field.js'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Navigation__Output } from '../../shared/gen/entity/v1/Navigation.js'
import type { Property__Output } from '../../shared/gen/entity/v1/Property.js'
import type { Resource__Output } from '../../shared/gen/entity/v1/Resource.js'
import type { WireType } from '../oracle/resource.js'
import { isFailure } from '../stack/grpc-caller.js'
import { ANONYMOUS, type Caller } from './callers.js'
import { mayRead, propertiesFor, type Rule } from './rule.js'
import type { TestedApplication } from './tested-application.js'
import { admission } from './verdict.js'

/** What is served is what the rules list, property by property. */
export function checkCatalogue(tested: TestedApplication): void {
  const seen = new Map<Caller, readonly Resource__Output[]>()
  const deciding = new Set(tested.entities.flatMap((one) => Object.values(tested.ruleOf(one).byPermission).flat()))
  const permissions = tested.callers.permissions.filter((one) => deciding.has(one))
  const others = tested.callers.permissions.filter((one) => !deciding.has(one))
  // Each is told of all resources: with a permission for each of hundreds of them these would be minutes.
  permissions.push(...tested.some('permissions that decide on no column', others, 5))
  const callers = [tested.callers.bypass, ANONYMOUS, ...permissions.map((one) => tested.callers.permitted([one]))]
  before(async function () {
    this.timeout(this.timeout() + tested.setUpTime)
    for (const caller of callers) seen.set(caller, await describedResources(tested, caller))
  })
  const described = (name: string, caller = tested.callers.bypass): Resource__Output => {
    const found = seen.get(caller)?.find((one) => one.name === name)
    if (found === undefined) throw new Error(`Describe lacks ${name}`)
    return found
  }

  it('serves every entity of the application', () => {
    const registered = [...tested.entities, ...tested.keyless].map(({ name }) => name)
    for (const caller of callers) expect(seen.get(caller)?.map(({ name }) => name)).to.have.members(registered)
  })

  for (const entity of tested.entities) {
    const rule = tested.ruleOf(entity)
    it(`serves ${entity.name} as it is listed: its properties, writes, actions and reads`, () => {
      const { operations, actions, reads, publicReads } = described(entity.name)
      for (const caller of callers) {
        const names = described(entity.name, caller).properties.map(({ name }) => name)
        expect(names, caller.name).to.have.members([
          ...propertiesFor(rule, caller.permissions),
          ...(rule.versioned ? ['rowVersion'] : [])
        ])
      }
      const written = entity.columns.filter(({ field }) => field.hidden && SET_BY_REQUESTS.includes(field.writability))
      for (const caller of callers) {
        const { writeOnly } = described(entity.name, caller)
        expect(
          writeOnly.map(({ name }) => name),
          caller.name
        ).to.have.members(written.map(({ name }) => name))
      }
      for (const caller of callers) {
        const told = described(entity.name, caller).navigations.filter(({ kind }) => kind === CHILDREN)
        expect(told.map(treeOf), caller.name).to.deep.equal(childTrees(entity.children, { rule, caller, path: '' }))
      }
      const others = described(entity.name).navigations.filter(({ kind }) => kind !== CHILDREN)
      expect(others.map(({ name }) => name)).to.have.members(
        [...entity.references, ...entity.manyToMany].map(({ name }) => name)
      )
      const reading = [
        'list',
        'paged',
        'export',
        'lookup',
        'get',
        ...(entity.totals === undefined ? [] : ['totals']),
        ...(entity.history ? ['history'] : [])
      ]
      const { create, update, delete: remove, ...batches } = entity.overrides
      const has = (write: Rule['writes'][number]): boolean => rule.writes.includes(write)
      const batched = [
        ...(has('create') && (!create || batches.batch) ? ['batch'] : []),
        ...(has('create') && !create ? ['import'] : []),
        ...(rule.versioned && has('update') && (!update || batches.updateBatch) ? ['updateBatch'] : []),
        ...(rule.versioned && has('delete') && (!remove || batches.deleteBatch) ? ['deleteBatch'] : [])
      ]
      expect(operations).to.have.members([...reading, ...rule.writes, ...batched])
      expect(actions.map(({ name }) => name)).to.have.members(Object.keys(rule.actions))
      expect(reads.map(({ name }) => name)).to.have.members(Object.keys(rule.customReads))
      const isPublic = (operation: 'list' | 'get'): boolean =>
        admission({ ...rule, ownerFilter: undefined }, { resource: entity.name, operation }, ANONYMOUS).code === 'ok'
      expect(publicReads).to.equal(isPublic('list') && isPublic('get'))
    })
  }
}

const SET_BY_REQUESTS: readonly Writability[] = ['always', 'onCreate']

const CHILDREN = 'NAVIGATION_KIND_CHILDREN'

/** Children, the names of what they show, and their own children. */
interface ChildTree {
  readonly name: string
  readonly members: readonly string[]
  readonly children: readonly ChildTree[]
}

function treeOf({ name, properties, navigations }: Navigation__Output): ChildTree {
  return { name, members: properties.map((one) => one.name), children: navigations.map(treeOf) }
}

interface Seen {
  readonly rule: Rule
  readonly caller: Caller
  readonly path: string
}

/** Those whose foreign key the caller may see. */
function childTrees(children: readonly Children[], of: Seen): ChildTree[] {
  const isSeen = (one: Children): boolean =>
    tellingColumns(one).every(({ name }) => mayRead(of.rule, `${of.path}${one.name}.${name}`, of.caller.permissions))
  return children.filter(isSeen).map((one) => childTree(one, of))
}

/** By the entity file: the `id` of a composite key, the columns that the caller may see, and the row version. */
function childTree(tree: Children, of: Seen): ChildTree {
  const { name, key, columns, children } = tree
  const path = `${of.path}${name}.`
  const seen = columns.filter(
    ({ name: own, field }) => !field.hidden && mayRead(of.rule, `${path}${own}`, of.caller.permissions)
  )
  return {
    name,
    members: [
      ...(key.length > 1 ? ['id'] : []),
      ...seen.map((column) => column.name),
      ...(hasRowVersion(tree) ? ['rowVersion'] : [])
    ],
    children: childTrees(children, { ...of, path })
  }
}

/** A property as the service tells it, its type one that filters know; `rowVersion` is text then. */
export type Described = Omit<Property__Output, 'type'> & { readonly type: WireType }

/** The catalogue as a gateway gets it for a client: with the resources of which that may call nothing, too. */
async function describedResources(tested: TestedApplication, caller: Caller): Promise<readonly Resource__Output[]> {
  const token = tested.tokenOf(caller)
  const options = { asGateway: true, ...(token === undefined ? {} : { token }) }
  const answer = await tested.rpc.unary('Describe', { asCaller: true }, options)
  if (isFailure(answer)) throw new Error(answer.message)
  return (answer as DescribeResponse__Output).resources // of the proto
}

/** As the bypass role sees them. They stay the same while an application is tested. */
const known = new WeakMap<TestedApplication, Promise<readonly Resource__Output[]>>()

/** The properties of one resource, as the bypass role sees them. */
export async function describedResource(tested: TestedApplication, { name }: Entity): Promise<readonly Described[]> {
  const resources = known.get(tested) ?? describedResources(tested, tested.callers.bypass)
  known.set(tested, resources)
  const resource = (await resources).find((one) => one.name === name)
  if (resource === undefined) throw new Error(`Describe lacks ${name}`)
  return resource.properties.map((property) => ({ ...property, type: wireType(property.type) }))
}

const TYPES: readonly string[] = [
  ...(['string', 'bool', 'int', 'long', 'decimal', 'double', 'dateTime', 'date', 'time', 'guid'] satisfies WireType[]),
  ...(['enum', 'set', 'json', 'binary', 'base64url'] satisfies WireType[])
]

function wireType(type: string): WireType {
  const known = TYPES.includes(type) ? type : 'string'
  return known as WireType // one of TYPES
}
