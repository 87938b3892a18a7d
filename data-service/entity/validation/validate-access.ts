import { type Guard, type OwnerFilter, ownersIn, type ReadAccess, type WriteAccess } from '../access.js'
import type { CustomRead } from '../custom-read.js'
import { routeNames } from '../resolve-routes.js'
import { type Children, type Column, type Entity, tellingColumns } from '../entity.js'
import type { FieldType } from '../fields/field.js'
import { CAMEL_CASE, GUID, KEBAB_CASE, type Permission, suggestion } from '../fields/names.js'
import type { ReadName } from '../../../shared/read-parameters.js'
import { READ_OPERATIONS, READ_PARAMETERS, READ_SEGMENTS, READS, WITHOUT_ID } from '../operations.js'
import { textParameterMistakes } from './validate-fields.js'

/** Owner claims are 64-bit integers (contract.md section 6). */
const OWNER_TYPES: readonly FieldType[] = ['int', 'long']

/** Whether an answer of the entity depends on the owner of rows, so that OWNER_BYPASS_ROLE must be set. */
export function asksForOwner({ access, writeAccess, ownerFilter }: Entity): boolean {
  const asks = (one: ReadAccess): boolean =>
    one.kind === 'ownRows' || ((one.kind === 'anyOf' || one.kind === 'allOf') && one.parts.some(asks))
  return ownerFilter !== undefined || [...writeAccess.values(), ...Object.values(access)].some(asks)
}

/** Mistakes in read access: unknown permissions, owner properties that cannot hold an owner, no access at all. */
export function accessMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return [
    ...READ_OPERATIONS.flatMap((operation) => readMistakes(entity, entity.access[operation], permissions)),
    ...exportMistakes(entity)
  ]
}

/** Mistakes in the words of an access. It is undefined for an entity file that bypasses its types. */
export function readMistakes(entity: Entity, access: ReadAccess | undefined, permissions: readonly string[]): string[] {
  switch (access?.kind) {
    case undefined:
      return ['access says nothing of its reads: everyone, permission(…), ownRows(…) or rows(…).']
    case 'everyone':
      return []
    case 'permission':
      return permissionMistakes(access.permission, permissions)
    case 'ownRows':
      return ownerMistakes(entity, access.property)
    case 'rows':
      return []
    case 'anyOf':
    case 'allOf':
      if (access.parts.length === 0) return [`access says ${access.kind}() of nothing.`]
      return access.parts.flatMap((part) => readMistakes(entity, part, permissions))
    default:
      // `authenticated`, a word of operations.
      return [
        "access of an entity is everyone, permission(…), ownRows(…) or rows(…); rows(() => 'all') takes any token."
      ]
  }
}

/** The list and the pages must have the access of the export (source.md, read-scope hook). */
function exportMistakes(entity: Entity): string[] {
  return READ_OPERATIONS.filter((operation) => READS[operation].protectedAsExport).flatMap((operation) => {
    const predicates: object[] = []
    const [here, there] = [protection(entity, 'export', predicates), protection(entity, operation, predicates)]
    return here === there
      ? []
      : [`\`export\` is for ${here}, but \`${operation}\` for ${there}: they must be the same.`]
  })
}

/**
 * The protection of a read in words, to compare and to report. An owner filter adds nothing to a row scope by the owner,
 * which is narrower, and does not count where the request may leave the owner parameter out. `predicates` numbers the
 * predicates, which have no words: the same function is the same protection.
 */
function protection({ access, ownerFilter }: Entity, operation: ReadName, predicates: object[]): string {
  const word: ReadAccess | undefined = access[operation]
  if (word === undefined) return 'nobody'
  const who = protectionWords(word, predicates)
  const filtered = ownerFilter?.routes.has(operation) === true && ownerFilter.routes.get(operation) === undefined
  return filtered && !isOwnerScope(word) ? `${who} behind the owner filter` : who
}

function protectionWords(access: ReadAccess, predicates: object[]): string {
  switch (access.kind) {
    case 'everyone':
      return 'everyone'
    case 'permission':
      return `callers with ${access.permission}`
    case 'ownRows':
      return `the ${access.owner === undefined ? 'owners' : `owners ${access.owner}`} by ${access.property}`
    case 'rows': {
      if (!predicates.includes(access.predicate)) predicates.push(access.predicate)
      const number = predicates.indexOf(access.predicate) + 1
      return `${access.anonymous ? 'everyone' : 'callers with a token'} by predicate ${number}`
    }
    case 'anyOf':
    case 'allOf':
      return `${access.kind}(${access.parts.map((part) => protectionWords(part, predicates)).join(', ')})`
  }
}

/** Whether the access lets callers without the bypass role see rows of their own only. */
function isOwnerScope(access: ReadAccess): boolean {
  return isEach(access, ({ kind }) => kind === 'ownRows')
}

/** Whether an access always includes a part of some kind: one part of allOf, and each part of anyOf. */
export function isEach(access: ReadAccess, isKind: (part: ReadAccess) => boolean): boolean {
  if (access.kind === 'allOf') return access.parts.some((part) => isEach(part, isKind))
  return access.kind === 'anyOf' ? access.parts.every((part) => isEach(part, isKind)) : isKind(access)
}

/** A permission that no role has. */
export function permissionMistakes(name: string, permissions: readonly string[]): string[] {
  if (permissions.includes(name)) return []
  const remedy = `Give it to one in \`roles\` of the config, such as { Admin: ['${name}'] }.`
  return [`permission \`${name}\` is given to no role.${suggestion(name, permissions)} ${remedy}`]
}

/** An owner property that cannot hold an owner. */
export function ownerMistakes({ columns }: Entity, property: string): string[] {
  const owner = columns.find((one) => one.name === property)
  if (owner === undefined) {
    const near = suggestion(
      property,
      columns.map((one) => one.name)
    )
    return [`owner \`${property}\` is not a field.${near}`]
  }
  const { hidden, type } = owner.field
  return [
    ...(hidden ? [`owner \`${property}\` is in no answer, and filters by the owner would tell it.`] : []),
    ...(OWNER_TYPES.includes(type) ? [] : [`owner \`${property}\` must be int or long, not ${type}.`])
  ]
}

/** Mistakes in an owner filter: its parameter, its owner, and routes that nothing guards without the parameter. */
export function ownerFilterMistakes(entity: Entity): string[] {
  const { ownerFilter, columns } = entity
  if (ownerFilter === undefined) return []
  const { owner, routes } = ownerFilter
  return [
    // defineEntity has noted an unknown column already.
    ...(columns.includes(owner) ? ownerMistakes(entity, owner.name) : []),
    ...(routes.size === 0 ? ['it stands before no route.'] : []),
    ...ownerParameterMistakes(entity, ownerFilter),
    ...Array.from(routes).flatMap(([route, guard]) =>
      guard === undefined || isGuardedBy(guard, route, entity)
        ? []
        : [`\`${route}\` may go without the owner, but its ${GUARD_WORDS[guard] ?? guard} does not stand there.`]
    )
  ].map((mistake) => `ownerFilter: ${mistake}`)
}

const GUARD_WORDS: Readonly<Partial<Record<string, string>>> = {
  rowScope: 'row scope (ownRows or rows)',
  permission: 'permission'
} satisfies Record<Guard, string>

function ownerParameterMistakes({ customReads }: Entity, { parameter, owner, routes }: OwnerFilter): string[] {
  if (parameter === undefined) return []
  if (!CAMEL_CASE.test(parameter)) return [`parameter \`${parameter}\` must be camelCase.`]
  if (READ_PARAMETERS.has(parameter.toLowerCase()))
    return [`parameter \`${parameter}\` is one that every resource has.`]
  const withoutId: readonly string[] = WITHOUT_ID
  const byId = [...routes.keys()].find((route) => !withoutId.includes(route) && !customReads.has(route))
  if (parameter.toLowerCase() !== 'id' || owner.name === 'id' || byId === undefined) return []
  return [`\`${byId}\` would take the id of its path for the owner, which is in \`${owner.name}\`: name a parameter.`]
}

/** Whether the route has this protection. */
function isGuardedBy(guard: Guard, route: string, entity: Entity): boolean {
  const { customReads, actions, writeAccess } = entity
  const read = READ_OPERATIONS.find((one) => one === route)
  const access: ReadAccess | WriteAccess | undefined =
    read === undefined ? (customReads.get(route)?.access ?? writeAccess.get(route)) : entity.access[read]
  const includes = (...kinds: readonly ReadAccess['kind'][]): boolean =>
    access !== undefined && isEach(access, ({ kind }) => kinds.includes(kind))
  if (guard === 'rowScope') return includes('ownRows', 'rows')
  // An entity file that bypasses its types may name another guard.
  return guard === 'permission' && (includes('permission') || actions.get(route)?.permission !== undefined)
}

/** What `where` may compare, by the type of its value. */
const TYPE_OF_VALUE: Readonly<Partial<Record<FieldType, string>>> = { string: 'string', bool: 'boolean', int: 'number' }

/** Mistakes in route names and in custom reads. */
export function routeMistakes(entity: Entity, permissions: readonly string[]): string[] {
  const names = routeNames(entity)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...twice.map((name) => `two routes are called \`${name}\`; an owner filter could not tell them apart.`),
    ...[...entity.customReads.values()].flatMap((read) =>
      [
        ...readNameMistakes(read),
        ...readMistakes(entity, read.access, permissions),
        ...shownMistakes(read),
        ...paramMistakes(read, entity)
      ].map((mistake) => `custom read \`${read.name}\`: ${mistake}`)
    )
  ]
}

function readNameMistakes({ name }: CustomRead): string[] {
  if (READ_SEGMENTS.includes(name)) return ['the name is that of a read.']
  if (name === 'batch') return ['the name is that of batches of writes.']
  if (!KEBAB_CASE.test(name)) return ['the name must be kebab-case such as `session-ids`.']
  return GUID.test(name) ? ['the name could be an id.'] : []
}

const MAX_ITEMS = 1000

function paramMistakes({ name, params, limit }: CustomRead, { ownerFilter }: Entity): string[] {
  const mistakes = textParameterMistakes(params)
  for (const param of params.filter(({ field }) => field.requiredNullable))
    mistakes.push(`\`${param.name}\` is a text in a query, which is never null: say optional(…) or nothing.`)
  // Without a name of its own the owner filter has that of the setting OWNER_PARAMETER_NAME, `id` by default.
  const owner = ownerFilter?.routes.has(name) === true ? (ownerFilter.parameter ?? 'id') : undefined
  if (params.some((param) => param.name.toLowerCase() === owner?.toLowerCase()))
    mistakes.push(`\`${owner}\` is the parameter of the owner filter.`)
  if (limit === undefined) return mistakes
  const field = params.find((param) => param.name === limit)?.field
  const [least, most] = [Number(field?.minimum ?? 0), Number(field?.maximum ?? Infinity)]
  if (field?.type !== 'int' || least < 1 || most > MAX_ITEMS)
    mistakes.push(`limit \`${limit}\` must be a parameter of int({ min: 1, max: ${MAX_ITEMS} }) or less.`)
  return mistakes
}

function shownMistakes({ items, sort, where }: CustomRead): string[] {
  const mistakes = items.length === 0 ? ['it shows nothing: say item or items.'] : []
  for (const { name, field } of [...items, ...sort]) {
    if (field.hidden) mistakes.push(`\`${name}\` is hidden.`)
  }
  if (new Set(items).size < items.length) mistakes.push('items names a field twice.')
  for (const { column, value } of where) {
    const { name, field } = column
    if (typeof value !== TYPE_OF_VALUE[field.type])
      mistakes.push(`\`${name}\` is ${field.type} and never ${JSON.stringify(value)}.`)
  }
  return mistakes
}

/**
 * Mistakes in columns by permission: what would tell a caller without the permission of the column. A row is found, told
 * apart, owned and rejected by columns that all its readers see.
 */
export function columnPermissionMistakes(entity: Entity, permissions: readonly string[]): string[] {
  const { columns, joined, children, label, customReads } = entity
  const owners = ownerColumns(entity)
  const told = new Map<Column, string>([
    ...(label === undefined ? [] : [[label, 'the label'] as const]),
    ...owners.map((owner): [Column, string] => [owner, 'the owner'])
  ])
  const reads = [...customReads.values()].flatMap(({ name, access, items, sort, where }) =>
    [...items, ...sort, ...where.map(({ column }) => column)]
      .filter(({ field: { readableBy } }) => readableBy !== undefined && !isFor(access, readableBy))
      .map((column) => `custom read \`${name}\` names \`${column.name}\`: its access must be the same permission.`)
  )
  return [
    ...withPermission(columns, permissions, ''),
    ...children.flatMap((one) => childrenWithPermission(one, permissions, '')),
    ...joined.flatMap(({ field: { readableBy } }) =>
      readableBy === undefined ? [] : permissionMistakes(readableBy, permissions)
    ),
    ...Array.from(told)
      .filter(([{ field }]) => field.readableBy !== undefined)
      .map(([{ name }, what]) => `\`${name}\` is ${what}: it cannot take a permission to read.`),
    ...reads,
    ...uncreatable(entity)
  ]
}

function childrenWithPermission(of: Children, permissions: readonly string[], path: string): string[] {
  const prefix = `${path}${of.name}.`
  // The columns of a resource are checked with it.
  if (of.resource !== undefined) return []
  return [
    ...withPermission(of.columns, permissions, prefix),
    ...of.children.flatMap((one) => childrenWithPermission(one, permissions, prefix))
  ]
}

function withPermission(columns: readonly Column[], permissions: readonly string[], prefix: string): string[] {
  return columns.flatMap(({ name, field: { readableBy, writableBy, unique } }) => {
    const writing = writableBy === undefined ? [] : permissionMistakes(writableBy, permissions)
    if (readableBy === undefined) return writing
    const mistakes = [...writing, ...permissionMistakes(readableBy, permissions)]
    if (name === 'id') mistakes.push(`\`${prefix}id\` cannot take a permission to read.`)
    if (unique)
      mistakes.push(`\`${prefix}${name}\` is unique: its conflicts would tell of it, so it takes no permission.`)
    return mistakes
  })
}

/** The columns that any read, write or owner filter finds the owner in. */
export function ownerColumns({ columns, access, customReads, writeAccess, ownerFilter }: Entity): Column[] {
  const ofReads: readonly (ReadAccess | undefined)[] = Object.values(access)
  const every = [...ofReads, ...Array.from(customReads.values(), (read) => read.access), ...writeAccess.values()]
  // An entity file that bypasses its types may lack an access.
  const names = every.flatMap((one) => (one === undefined ? [] : ownersIn(one)))
  return [
    ...columns.filter(({ name }) => names.includes(name)),
    ...(ownerFilter === undefined ? [] : [ownerFilter.owner])
  ]
}

/** Columns that a create leaves out for callers without the permission, and that then would have no value. */
function uncreatable({ columns, writes, writeAccess, creation }: Entity): string[] {
  if (!writes.has('create')) return []
  const named = [
    ...columns.map((column) => ({ path: column.name, column })),
    ...creation.children.flatMap(({ children: { name, columns: ofChild, foreignKey } }) =>
      ofChild
        .filter(({ column }) => foreignKey.every((one) => one.column !== column))
        .map((column) => ({ path: `${name}.${column.name}`, column }))
    )
  ]
  const access = writeAccess.get('create')
  const isOpen = (permission: Permission): boolean => access === undefined || !isFor(access, permission)
  const unseen = creation.children
    .filter(({ children, min }) => {
      const needed = tellingColumns(children).flatMap(({ field }) => field.readableBy ?? [])
      return min > 0 && needed.some(isOpen)
    })
    .map(({ children: { name } }) => {
      const remedy = 'callers without the permission of its foreign key create rows too.'
      return `\`${name}\` needs min 0: ${remedy}`
    })
  const unset = named
    .filter(({ column: { field } }) => {
      const { readableBy, writableBy, writability, nullable, defaultTo, filledByDatabase, preset } = field
      const needed = [readableBy, writableBy].filter((one) => one !== undefined)
      if (needed.length === 0 || writability === 'never' || writability === 'generated') return false
      if (nullable || defaultTo !== undefined || filledByDatabase || preset !== undefined) return false
      return needed.some(isOpen)
    })
    .map(({ path }) => `\`${path}\` needs a default or optional(…): callers without its permission create rows too.`)
  return [...unset, ...unseen]
}

/** Whether exactly the holders of the permission have the access. */
function isFor(access: ReadAccess | WriteAccess, permission: Permission): boolean {
  return access.kind === 'permission' && access.permission === permission
}
