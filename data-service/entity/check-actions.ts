import type { Action, GuardedChild } from './action.js'
import { columnMistakes, nameMistakes } from './check-fields.js'
import { neededPermission } from './check-writes.js'
import type { Children, Entity } from './entity.js'
import { suggestion } from './suggestion.js'

const KEBAB_CASE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
/** Segments of reads, which an action's name is better not taken for. */
const RESERVED: readonly string[] = ['paged', 'export', 'lookup']

/** Mistakes in actions: names, states, inputs, child preconditions. */
export function actionMistakes({ actions }: Entity, permissions: readonly string[]): string[] {
  return [...actions.values()].flatMap((action) =>
    [
      ...ownNameMistakes(action),
      ...neededPermission(action.permission, permissions),
      ...stateMistakes(action),
      ...inputMistakes(action),
      ...action.loads.flatMap(storeMistakes),
      ...(action.guardedChild === undefined ? [] : childMistakes(action, action.guardedChild))
    ].map((mistake) => `action \`${action.name}\`: ${mistake}`)
  )
}

function ownNameMistakes({ name }: Action): string[] {
  if (RESERVED.includes(name)) return ['the name is that of a read.']
  return KEBAB_CASE.test(name) ? [] : ['the name must be kebab-case such as `change-price`.']
}

function stateMistakes({ required }: Action): string[] {
  return required.flatMap(({ column, anyOf }) => {
    const { name, field } = column
    if (anyOf.length === 0) return [`\`${name}\` is required to be none of anything.`]
    const type = field.type === 'bool' ? 'boolean' : field.type === 'int' ? 'number' : 'string'
    const odd = anyOf.find((one) => typeof one !== type)
    return odd === undefined ? [] : [`\`${name}\` is ${field.type} and never ${JSON.stringify(odd)}.`]
  })
}

function inputMistakes({ input }: Action): string[] {
  const mistakes = [...nameMistakes(input.map(({ name }) => name)), ...columnMistakes(input)]
  for (const { name, field } of input) {
    // source.md: no update request carries a concurrency token.
    if (/rowversion$/i.test(name)) mistakes.push(`\`${name}\` would be a concurrency token; say \`child\` for one.`)
    if (field.hidden || field.writability === 'never') mistakes.push(`\`${name}\` is a member that nobody could send.`)
  }
  return mistakes
}

function storeMistakes({ name, store }: Children): string[] {
  return store === 'primary' ? [] : [`\`${name}\` is in another store and cannot be put under lock.`]
}

function childMistakes({ input }: Action, { children, idMember, versionMember }: GuardedChild): string[] {
  const mistakes = storeMistakes(children)
  const id = input.find(({ name }) => name === idMember)
  const [key] = children.columns
  const names = input.map(({ name }) => name)
  if (id === undefined) mistakes.push(`child: \`${idMember}\` is no input.${suggestion(idMember, names)}`)
  else if (id.field.nullable) mistakes.push(`child: \`${idMember}\` may not be null.`)
  else if (key !== undefined && key.field.type !== id.field.type) {
    mistakes.push(
      `child: \`${idMember}\` is ${id.field.type}, but the id of \`${children.name}\` is ${key.field.type}.`
    )
  }
  const wanted = idMember.replace(/Id$/, 'RowVersion')
  if (!idMember.endsWith('Id') || versionMember !== wanted) {
    mistakes.push(`child: the version of \`${idMember}\` must be called \`${wanted}\`, and the id end in Id.`)
  }
  return mistakes
}
