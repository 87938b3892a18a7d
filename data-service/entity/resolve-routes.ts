import { type OwnerFilterDefinition, type ReadAccess, resolveOwnerFilter, type WriteAccess } from './access.js'
import {
  type Action,
  type Change,
  defineAction,
  type GuardedChild,
  type GuessBound,
  type Outcome,
  type RequiredColumns,
  type UntypedAction
} from './action.js'
import type { Creation, Deletion } from './creates-and-deletes.js'
import { type DefineRead, defineRead, resolveCustomRead, type UntypedCustomRead } from './custom-read.js'
import type { Column, Entity } from './entity.js'
import { accessWordMistakes, actionWordMistakes, customReadWordMistakes, writeWordMistakes } from './known-words.js'
import type { ReadName } from '../../shared/read-parameters.js'
import { READ_OPERATIONS, readsOf, type WriteOperation } from './operations.js'
import type { Operand, Value } from './fields/field.js'
import { columnOf, findOrReport, type NameResolver } from './resolve-columns.js'

// Makes the reads, writes and actions of an Entity out of the words of an entity file.

/** The reads of an entity file without the types of its names. */
export interface UntypedReads {
  readonly access: {
    readonly read?: ReadAccess
    readonly reads?: Readonly<Partial<Record<ReadName, ReadAccess>>>
    readonly writes?: Readonly<Record<string, unknown>>
    readonly ownerFilter?: OwnerFilterDefinition
  }
  readonly totals?: object
  readonly customReads?:
    | Readonly<Record<string, UntypedCustomRead>>
    | ((read: DefineRead<object>) => Readonly<Record<string, UntypedCustomRead>>)
}

export function resolveReads(
  { access, customReads = {}, totals }: UntypedReads,
  { columnIn, mistakes }: Pick<NameResolver, 'columnIn'> & { readonly mistakes: string[] }
): Pick<Entity, 'access' | 'customReads'> {
  const { reads = {} } = access
  const read = access.read ?? reads.export
  // An entity file that bypasses its types may lack every access; checkCatalogue reports that.
  const every = Object.fromEntries(
    READ_OPERATIONS.map((operation) => [
      operation,
      // Totals tell of the rows that a list shows.
      reads[operation] ?? (operation === 'totals' ? reads.list : undefined) ?? read
    ])
  ) as Entity['access']
  const definitions = Object.entries(typeof customReads === 'function' ? customReads(defineRead) : customReads)
  mistakes.push(
    ...accessWordMistakes(
      access,
      definitions.map(([name]) => name)
    ),
    ...definitions.flatMap(([name, definition]) => customReadWordMistakes(name, definition)),
    ...(reads.totals !== undefined && totals === undefined ? ['access.reads: there are no `totals`.'] : [])
  )
  return {
    access: every,
    customReads: new Map(
      definitions.map(([name, definition]) => [
        name,
        resolveCustomRead(name, definition, {
          listAccess: every.list,
          column: columnIn(`custom read \`${name}\``),
          columnOf
        })
      ])
    )
  }
}

/** The owner filter of an entity file, over the routes that the resource has. */
export function resolveFilter(
  { access: { ownerFilter } }: UntypedReads,
  of: Pick<Entity, 'customReads' | 'writes' | 'actions' | 'totals' | 'key'>,
  { columnIn, mistakes }: Pick<NameResolver, 'columnIn'> & { readonly mistakes: string[] }
): Entity['ownerFilter'] {
  if (ownerFilter === undefined) return undefined
  const routes = routeNames(of)
  const route = findOrReport(
    routes.map((name) => ({ name })),
    { what: 'a route of the resource', standIn: (name) => ({ name }), mistakes }
  )
  return resolveOwnerFilter(ownerFilter, routes, {
    column: columnIn('`ownerFilter`'),
    route: (name) => void route(name),
    mistakes
  })
}

/** Every route of a resource by name. */
export function routeNames({
  customReads,
  writes,
  actions,
  totals,
  key
}: Pick<Entity, 'customReads' | 'writes' | 'actions' | 'totals' | 'key'>): string[] {
  return [...readsOf({ totals, key }), ...customReads.keys(), ...writes, ...actions.keys()]
}

/** The writes of an entity file without the types of its names. */
export interface UntypedWrites {
  readonly access: {
    readonly write?: WriteAccess
    readonly writes?: Readonly<Record<string, WriteAccess | undefined>>
    readonly writesUnseen?: boolean
  }
  readonly writes?: readonly WriteOperation[]
  readonly creates?: {
    readonly children?: Readonly<Record<string, { readonly min: number } | undefined>>
    readonly prepare?: Creation['prepare']
    readonly guesses?: GuessBound
  }
  readonly deletes?: { readonly when?: UntypedAction['when']; readonly rule?: Deletion['rule'] }
  readonly updates?: Entity['updateRule']
  readonly actions?: (
    action: ReturnType<typeof defineAction<object, object>>
  ) => Readonly<Record<string, UntypedAction>>
}

export function resolveWrites(
  { access, writes = [], creates = {}, deletes = {}, updates, actions }: UntypedWrites,
  names: NameResolver & { readonly mistakes: string[] }
): Pick<Entity, 'writes' | 'writeAccess' | 'writesUnseen' | 'creation' | 'deletion' | 'updateRule' | 'actions'> {
  const answered: unknown = actions === undefined ? {} : actions(defineAction())
  const isAnswered = typeof answered === 'object' && answered !== null
  const definitions = Object.entries(isAnswered ? (answered as Readonly<Record<string, UntypedAction>>) : {})
  names.mistakes.push(
    ...(isAnswered ? [] : ['`actions` answers no actions: a body in braces needs `return`.']),
    ...writeWordMistakes({ creates, deletes }),
    ...definitions.flatMap(([name, definition]) => actionWordMistakes(name, definition))
  )
  return {
    writes: new Set(writes),
    ...writeAccessOf(access, [...writes, ...definitions.map(([name]) => name)]),
    creation: {
      children: Object.entries(creates.children ?? {}).map(([name, limits]) => ({
        children: names.children(name),
        min: limits?.min ?? 0
      })),
      prepare: creates.prepare,
      guesses: creates.guesses
    },
    deletion: { required: requiredColumns(deletes.when, names.columnIn('`deletes`')), rule: deletes.rule },
    updateRule: updates,
    actions: new Map(definitions.map(([name, definition]) => [name, resolveAction(name, definition, names)]))
  }
}

/** The access of each write. What `writes` of the access names besides is a mistake, which checkCatalogue reports. */
function writeAccessOf(
  { write, writes = {}, writesUnseen = false }: UntypedWrites['access'],
  routes: readonly string[]
): Pick<Entity, 'writeAccess' | 'writesUnseen'> {
  const named = [...routes, ...Object.keys(writes)].flatMap((route): [string, WriteAccess][] => {
    const access = writes[route] ?? write
    return access === undefined ? [] : [[route, access]]
  })
  return { writeAccess: new Map(named), writesUnseen }
}

function requiredColumns(when: UntypedAction['when'] = {}, column: (name: string) => Column): RequiredColumns {
  return Object.entries(when).map(([name, anyOf = []]) => ({ column: column(name), anyOf }))
}

function resolveAction(name: string, definition: UntypedAction, names: NameResolver): Action {
  const { description, permission, when, input = {}, child, loads = [], change, effect = {} } = definition
  const { handsOver = false, guesses } = definition
  const column = names.columnIn(`action \`${name}\``)
  const members = Object.entries(input).map(([name, field]) => columnOf(name, field))
  const guardedChild: GuardedChild | undefined = child && {
    children: names.children(child.children),
    idMember: child.id,
    versionMember: child.version
  }
  const next = nextState(definition.becomes)
  const parts = {
    name,
    description,
    permission,
    required: requiredColumns(when, column),
    becomes: requiredColumns(next, column),
    input: members,
    guardedChild,
    handsOver,
    loads: loads.map(names.children),
    guesses,
    sets: Object.entries((typeof effect === 'object' && effect.set) || {}).map(([name, value]) => ({
      column: column(name),
      value
    }))
  }
  const isStateful = Object.keys(next).length > 0
  if (change !== undefined) {
    return { ...parts, change: isStateful ? async (call) => outcomeWith(await change(call), next) : change }
  }
  const changeOf = typeof effect === 'function' ? effect : () => effect
  return { ...parts, change, effect: isStateful ? (call) => changeWith(changeOf(call), next) : changeOf }
}

type UntypedNextState = Readonly<Record<string, readonly Operand[]>>

function nextState(becomes: UntypedAction['becomes'] = {}): UntypedNextState {
  const entries = Object.entries(becomes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat()]]
  )
  // Each entry is a pair of a name and an array.
  return Object.fromEntries(entries) as UntypedNextState
}

function outcomeWith(outcome: Outcome, next: UntypedNextState): Outcome {
  return 'rejection' in outcome ? outcome : changeWith(outcome, next)
}

/** The change with the state that the action declares. Throws a TypeError for a change that sets any other. */
function changeWith(change: Change, next: UntypedNextState): Change {
  const set: Record<string, Value> = { ...change.set }
  for (const [name, values] of Object.entries(next)) {
    const [only] = values
    if (values.length === 1 && only !== undefined) set[name] ??= only
    if (name in set && !values.some((value) => value === set[name])) {
      throw new TypeError(`An action sets ${name} to a value that its \`becomes\` does not name.`)
    }
  }
  return { ...change, set }
}
