import type { Action, GuardedChild } from './action.js'
import { defineAction, type DefinedAction } from './action-definition.js'
import type { Creation } from './creation.js'
import type { Children, Column, Entity } from './entity.js'
import { snakeCase } from './snake-case.js'
import { suggestion } from './suggestion.js'
import type { WriteAccess, WriteOperation } from './write-access.js'

/** The part of an entity file about writes, names and types forgotten: a resolved entity knows them by name. */
export interface WritesDefinition {
  readonly access: { readonly write?: WriteAccess }
  readonly writes?: readonly WriteOperation[]
  readonly creates?: {
    readonly children?: Readonly<Record<string, { readonly min: number } | undefined>>
    readonly prepare?: Creation['prepare']
  }
  readonly updates?: Entity['updateRule']
  readonly actions?: (
    action: ReturnType<typeof defineAction<object, object>>
  ) => Readonly<Record<string, DefinedAction>>
}

/** What the names of the rest of the file stand for. Each notes a mistake for a name that it does not know. */
export interface Names {
  readonly column: (name: string) => Column
  readonly children: (name: string) => Children
}

export function resolveWrites(
  { access, writes = [], creates = {}, updates, actions }: WritesDefinition,
  names: Names
): Pick<Entity, 'writes' | 'writeAccess' | 'creation' | 'updateRule' | 'actions'> {
  const definitions = Object.entries(actions?.(defineAction()) ?? {})
  return {
    writes: new Set(writes),
    writeAccess: access.write,
    creation: {
      children: Object.entries(creates.children ?? {}).map(([name, limits]) => ({
        children: names.children(name),
        min: limits?.min ?? 0
      })),
      prepare: creates.prepare
    },
    updateRule: updates,
    actions: new Map(definitions.map(([name, definition]) => [name, resolveAction(name, definition, names)]))
  }
}

function resolveAction(name: string, definition: DefinedAction, names: Names): Action {
  const { description, permission, when = {}, input = {}, child, loads = [], change } = definition
  const members = Object.entries(input).map(([name, field]) => ({ name, column: snakeCase(name), field }))
  const guardedChild: GuardedChild | undefined = child && {
    children: names.children(child.children),
    idMember: child.id,
    versionMember: child.version
  }
  return {
    name,
    description,
    permission,
    required: Object.entries(when).map(([name, anyOf = []]) => ({ column: names.column(name), anyOf })),
    input: members,
    guardedChild,
    loads: loads.map(names.children),
    change
  }
}

/** Finds by name; for a name that there is none of, a stand-in until the mistake is reported. */
export function finder<One extends { readonly name: string }>(
  all: readonly One[],
  otherwise: { readonly what: string; readonly standIn: (name: string) => One; readonly mistakes: string[] }
): (name: string) => One {
  return (name) => {
    const found = all.find((one) => one.name === name)
    if (found !== undefined) return found
    const names = all.map((one) => one.name)
    otherwise.mistakes.push(`\`${name}\` is not ${otherwise.what}.${suggestion(name, names)}`)
    return otherwise.standIn(name)
  }
}
