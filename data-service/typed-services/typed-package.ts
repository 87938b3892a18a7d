import { StartError } from '../../shared/start-error.js'
import type { Operation } from '../../shared/gen/entity/v1/Operation.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../shared/gen/entity/v1/Resource.js'
import type { TypedRpc } from './generic.js'
import { EMPTY_LOCK, Numbers, type ProtoLock, type TypedServices } from './numbers.js'
import { protoText } from './proto-text.js'
import { Conditions, makeQuery } from './queries.js'
import { hasIds, type KeyedTypes, makeRows, type ResourceTypes, type RowType, uniqueFields } from './rows.js'
import { type EnumType, isEnum, type MessageType, pascalCase, rowName, type ServiceType } from './schema.js'
import { operationRpc } from './typed-operations.js'
import { byName, customReadRpc, exportRpc, getRpc, listRpc, lookupRpc } from './typed-reads.js'
import { importRpc } from './typed-imports.js'
import { totalsRpc } from './typed-totals.js'
import { batchDeleteRpc, batchUpdateRpc } from './typed-batches.js'
import { actionRpc, actionRpcName, batchCreateRpc, createRpc, deleteRpc, updateRpcs } from './typed-writes.js'
import { valueTypeOf } from './values.js'

/** The typed services of an application, as a proto file and as rpcs. */
export interface TypedPackage {
  /** The name of its proto package. */
  readonly name: string
  /** Writes the proto file. */
  readonly text: () => string
  /** Its path in a folder of protos, `store/v1/store.proto`. */
  readonly path: string
  /** Makes the lock with the numbers of this file, and those of all files before. */
  readonly lock: () => ProtoLock
  /** Whether the numbers are those of the lock that was given: none was new, and none has gone. */
  readonly isLocked: boolean
  readonly services: readonly { readonly name: string; readonly rpcs: readonly TypedRpc[] }[]
}

/** Makes the package for resources and operations as a gateway sees them, in the order of their names. */
export function makeTypedPackage(
  { resources, operations }: { readonly resources: readonly Resource[]; readonly operations: readonly Operation[] },
  typed: TypedServices
): TypedPackage {
  const numbers = new Numbers(typed.lock ?? EMPTY_LOCK)
  const names = new Map(
    resources.map(({ name = '' }) => [name, numbers.rowName(name, rowName(name), `${pascalCase(name)}Row`)])
  )
  const rows = makeRows(numbers, resources, (resource) => names.get(resource) ?? rowName(resource))
  const ownNames = new Set([
    ...operations.map(({ name = '' }) => pascalCase(name)),
    ...resources.flatMap(({ name = '', actions = [] }) =>
      actions.map((action) => actionRpcName(action.name ?? '', names.get(name) ?? ''))
    )
  ])
  // An application may have had an operation or an action of the name before there was such an rpc, which gives way.
  const isOwn = (name: string): boolean => ownNames.has(name)
  const later = (name: string, make: () => TypedRpc): readonly TypedRpc[] => (isOwn(name) ? [] : [make()])
  const conditions = new Conditions(numbers)
  const types: (MessageType | EnumType)[] = []
  const ofResources = resources.map((resource): ServiceType & { readonly rpcs: readonly TypedRpc[] } => {
    const { name = '', description = '', operations = [] } = resource
    const row = rows.get(name)
    if (row === undefined) throw new TypeError(`there is no row of ${name}`)
    const of: ResourceTypes = {
      name,
      numbers,
      resource,
      row,
      plural: pascalCase(name)
    }
    const { plural } = of
    const query = makeQuery(resource, row, { numbers, conditions })
    const has = (operation: string): boolean => operations.includes(operation)
    const { totals } = resource
    const reads = [
      ...(has('totals') && totals ? later(`Total${plural}`, () => totalsRpc(of, query, totals)) : []),
      ...(resource.reads ?? []).map((read) => customReadRpc(of, read))
    ]
    const ofNamed = (keyed: KeyedTypes): readonly TypedRpc[] => [
      getRpc(keyed),
      ...uniqueFields(of).flatMap((by) => later(`Get${row.message.name}${byName(by)}`, () => getRpc(keyed, by))),
      listRpc(of, query),
      lookupRpc(keyed),
      exportRpc(of, query),
      ...reads,
      ...(has('create') ? [createRpc(keyed)] : []),
      ...(has('batch') ? [batchCreateRpc(keyed)] : []),
      ...(has('import') ? later(`Import${plural}`, () => importRpc(keyed)) : []),
      ...(has('update') ? updateRpcs(keyed, isOwn) : []),
      ...(has('updateBatch') ? later(`BatchUpdate${plural}`, () => batchUpdateRpc(keyed)) : []),
      ...(has('delete') ? [deleteRpc(keyed)] : []),
      ...(has('deleteBatch') ? later(`BatchDelete${plural}`, () => batchDeleteRpc(keyed)) : []),
      ...(resource.actions ?? []).map((action) => actionRpc(keyed, action))
    ]
    const rpcs = !hasIds(resource)
      ? [listRpc(of, query), exportRpc(of, query), ...reads]
      : ofNamed({ ...of, idType: idTypeOf(resource, row) })
    types.push(row.message, ...query.types, ...rpcs.flatMap(({ request, response }) => [request, response]))
    return { name: `${row.message.name}Service`, comment: description, rpcs }
  })
  const operationRpcs = operations.map((operation) => operationRpc(numbers, operation))
  types.push(...operationRpcs.flatMap(({ request, response }) => [request, response]))
  const services = operations.length === 0 ? ofResources : [...ofResources, { ...OPERATIONS, rpcs: operationRpcs }]
  const all = [...types, ...conditions.types]
  requireDifferentNames([...namesWithin(all), ...services.map(({ name }) => name)])
  const { package: packageName } = typed
  const [first = ''] = packageName.split('.')
  const comment =
    'Written by `uniform-rest proto` from the entities of the application. Do not edit it: change the entities.'
  return {
    name: packageName,
    text: () => protoText({ packageName, comment, services, types: all }),
    path: `${packageName.replaceAll('.', '/')}/${first}.proto`,
    lock: () => numbers.lock,
    isLocked: numbers.areLocked,
    services: services.map(({ name, rpcs }) => ({ name: `${packageName}.${name}`, rpcs }))
  }
}

const OPERATIONS = { name: 'OperationService', comment: 'Operations of the application beside those of its entities.' }

/** The property `id`, of which a composite key has one too. */
function idTypeOf({ properties = [], name = '' }: Resource, row: RowType): ReturnType<typeof valueTypeOf> {
  const member = row.members.find(({ key }) => key === 'id')
  if (member?.kind === 'value') return member.type
  const id: Property | undefined = properties.find((property) => property.name === 'id')
  if (id === undefined) throw new TypeError(`${name} has no id`)
  return valueTypeOf(id)
}

function namesWithin(types: readonly (MessageType | EnumType)[]): string[] {
  return types.flatMap((type) => [type.name, ...(isEnum(type) ? [] : namesWithin(type.nested))])
}

function requireDifferentNames(names: readonly string[]): void {
  const twice = names.filter((name, index) => names.indexOf(name) < index)
  if (twice.length === 0) return
  throw new StartError(
    `The typed services have two types called ${[...new Set(twice)].join(', ')}. Give a resource of one another name ` +
      'under "rows" of proto.lock.json, or an operation or a member another name.'
  )
}
