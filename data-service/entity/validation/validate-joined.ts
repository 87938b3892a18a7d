import type { ReadAccess, WriteAccess } from '../access.js'
import type { Children, Entity, Joined, KeyColumns, Reference } from '../entity.js'
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
  const { writes, writeAccess, writesUnseen, access } = entity
  const permissions = via.flatMap(({ field }) => field.writableBy ?? [])
  const onCreate = via.some(({ field }) => field.writability === 'always' || field.writability === 'onCreate')
  const onUpdate = via.some(({ field }) => field.writability === 'always')
  const read = writesUnseen ? [] : [access.get]
  const own = [
    ...(onCreate && writes.has('create') ? ['create'] : []),
    ...(onUpdate && writes.has('update') ? ['update'] : [])
  ].map((route): Writer => ({ words: [...wordsOf(writeAccess.get(route)), ...read], permissions }))
  const ofRoots = entities.flatMap((root): Writer[] => {
    const created = onCreate && root.creation.children.some(({ children }) => holds(children, entity))
    return [
      ...(created ? [{ words: wordsOf(root.writeAccess.get('create')), permissions }] : []),
      ...(root.children.some((children) => holds(children, entity)) ? actionsSetting(via, root) : [])
    ]
  })
  return [...own, ...actionsSetting(via, entity).map((one) => ({ ...one, words: [...one.words, ...read] })), ...ofRoots]
}

/** Whether these children, or children of theirs, are the rows of the entity. */
function holds({ resource, children }: Children, entity: Entity): boolean {
  return resource === entity.name || children.some((one) => holds(one, entity))
}

/** Those who call an action of an entity that has an input of the name of a column. */
function actionsSetting(via: KeyColumns, { actions, writeAccess }: Entity): Writer[] {
  return [...actions.values()]
    .filter(({ input }) => input.some(({ name }) => via.some((one) => one.name === name)))
    .map(({ name, permission, handsOver }): Writer => ({
      // A row that is handed over need not be of its owner afterwards.
      words: wordsOf(writeAccess.get(name)).filter((word) => !handsOver || word.kind === 'permission'),
      permissions: permission === undefined ? [] : [permission]
    }))
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
