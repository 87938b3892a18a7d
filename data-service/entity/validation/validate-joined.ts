import type { ReadAccess, WriteAccess } from '../access.js'
import type { Entity, Joined, Reference } from '../entity.js'
import type { Permission } from '../fields/names.js'
import { isEach } from './validate-access.js'

/**
 * Properties that are joined from rows which the callers who set the reference may be unable to read: such a caller would
 * choose the row and then read a value of it. `showsUnseen` allows it.
 */
export function joinedReadMistakes(entity: Entity, entities: readonly Entity[]): string[] {
  return entity.joined
    .filter(({ showsUnseen }) => !showsUnseen)
    .flatMap((joined) => {
      const closed = writersOf(joined.through, entity, entities)
        .map((writer) => closedTarget(joined, { writer, entities }))
        .find((one) => one !== undefined)
      if (closed === undefined) return []
      return [
        `joined \`${joined.name}\` comes from \`${closed}\`, whose rows not every caller who sets \`${joined.through.name}\` ` +
          `may read by id: one could point it at any of them and read the value. Say showsUnseen: true in the joined ` +
          'property if that is meant, or if a rule keeps such rows out.'
      ]
    })
}

/** Callers who set a reference: each of the words is an access that they have. */
interface Writer {
  readonly words: readonly (ReadAccess | WriteAccess)[]
  /** Those that it takes to set a column of the reference. */
  readonly permissions: readonly Permission[]
}

/** One for each write whose body sets a column of the reference, those of roots that write the rows included. */
function writersOf({ via }: Reference, entity: Entity, entities: readonly Entity[]): Writer[] {
  const { writes, actions, writeAccess, writesUnseen, access } = entity
  const permissions = via.flatMap(({ field }) => field.writableBy ?? [])
  const onCreate = via.some(({ field }) => field.writability === 'always' || field.writability === 'onCreate')
  const onUpdate = via.some(({ field }) => field.writability === 'always')
  const acting = [...actions.values()].filter(({ input }) =>
    input.some(({ name }) => via.some((one) => one.name === name))
  )
  const read = writesUnseen ? [] : [access.get]
  const own = [
    ...(onCreate && writes.has('create') ? ['create'] : []),
    ...(onUpdate && writes.has('update') ? ['update'] : [])
  ].map((route): Writer => ({ words: [...wordsOf(writeAccess.get(route)), ...read], permissions }))
  const ofActions = acting.map(({ name, permission }): Writer => ({
    words: [...wordsOf(writeAccess.get(name)), ...read],
    permissions: permission === undefined ? [] : [permission]
  }))
  const ofRoots = entities.flatMap((root): Writer[] =>
    onCreate && root.creation.children.some(({ children }) => children.resource === entity.name)
      ? [{ words: wordsOf(root.writeAccess.get('create')), permissions }]
      : []
  )
  return [...own, ...ofActions, ...ofRoots]
}

function wordsOf<Access>(access: Access | undefined): Access[] {
  return access === undefined ? [] : [access]
}

/** The first resource on the path whose rows the writer may be unable to read. */
function closedTarget(
  { through, further, property, field }: Joined,
  { writer, entities }: { readonly writer: Writer; readonly entities: readonly Entity[] }
): string | undefined {
  const targetOf = (reference: Reference | undefined): Entity | undefined =>
    entities.find(({ name }) => name === reference?.to)
  let target = targetOf(through)
  const path = [target]
  for (const step of further) {
    target = targetOf(target?.references.find(({ name }) => name === step))
    path.push(target)
  }
  // Others do not see the value.
  const shown = [
    field,
    ...through.via.map((one) => one.field),
    target?.columns.find(({ name }) => name === property)?.field
  ]
  const permissions = [...writer.permissions, ...shown.flatMap((one) => one?.readableBy ?? [])]
  return path.find((one, step) => {
    // An unknown resource or step is a mistake of its own.
    if (one === undefined) return false
    if (one.ownerFilter?.routes.has('get') === true) return true
    return !isOpen(
      one.access.get,
      { words: writer.words, permissions },
      step === 0 ? ownerOf(through, one) : () => false
    )
  })?.name
}

type IsOwn = (word: ReadAccess | WriteAccess, access: ReadAccess) => boolean

/** Whether a word on the row, `ownRows` of the foreign key, says of the row that it refers to what an access says. */
function ownerOf({ via }: Reference, target: Entity): IsOwn {
  return (word, access) =>
    word.kind === 'ownRows' &&
    access.kind === 'ownRows' &&
    word.owner === access.owner &&
    via.some(({ name }, at) => name === word.property && target.key[at]?.name === access.property)
}

/** Whether every writer passes the access for every row. */
function isOpen(access: ReadAccess | undefined, writer: Writer, isOwn: IsOwn): boolean {
  switch (access?.kind) {
    case 'everyone':
      return true
    case 'permission':
      return (
        writer.permissions.includes(access.permission) ||
        writer.words.some((word) =>
          isEach(word, (part) => part.kind === 'permission' && part.permission === access.permission)
        )
      )
    case 'ownRows':
      return writer.words.some((word) => isEach(word, (part) => isOwn(part, access)))
    case 'anyOf':
      return access.parts.some((part) => isOpen(part, writer, isOwn))
    case 'allOf':
      return access.parts.every((part) => isOpen(part, writer, isOwn))
    case 'rows':
    case undefined:
      return false
  }
}
