import type { ReadAccess, WriteAccess } from '../access.js'
import type { Children, Column, Entity, Joined, KeyColumns, Reference } from '../entity.js'
import type { Field } from '../fields/field.js'
import type { Permission } from '../fields/names.js'
import { isEach } from './validate-access.js'

/**
 * Properties that are joined from rows which the callers who set a reference may be unable to read: such a caller would
 * choose the row and then read a value of it. For each step of the path, whoever may set any one column of that step's
 * reference by any write must be able to read every target from that step on. `showsUnseen` allows the rest.
 */
export function joinedReadMistakes(entity: Entity, entities: readonly Entity[]): string[] {
  return entity.joined
    .filter(({ showsUnseen }) => !showsUnseen)
    .flatMap((joined) => {
      const steps = pathStepsOf(joined, entity, entities)
      const isSeen = readersOf(joined, entity, steps)
      for (const [at, step] of steps.entries()) {
        const further = steps.slice(at)
        const closed = writersOf(step, entities)
          .map((writer) => closedStep(further, writer, isSeen))
          .find((one) => one !== undefined)
        if (closed !== undefined) return [mistakeOf(joined, step, closed.target)]
      }
      return []
    })
}

/** A search that some readers of the rows would not have: it takes a permission to see each of its properties. */
export function searchReaderMistakes(entity: Entity, entities: readonly Entity[]): string[] {
  const { searchable, columns, joined } = entity
  const searched = [
    ...columns.filter(({ field }) => !field.hidden).map(({ name, field }) => ({ name, sources: [field] })),
    ...joined.map((one) => ({ name: one.name, sources: sourcesOf(one, pathStepsOf(one, entity, entities)) }))
  ].filter(({ name }) => searchable.includes(name))
  const isOpen = searched.some(({ sources }) => sources.every(({ readableBy }) => readableBy === undefined))
  return searched.length === 0 || isOpen ? [] : ['searchable needs a property that every reader of the rows may see.']
}

function mistakeOf({ name, through }: Joined, { source, reference }: PathStep, target: Entity): string {
  const set = reference === through ? `\`${through.name}\`` : `\`${reference.name}\` of \`${source.name}\``
  return (
    `joined \`${name}\` comes from \`${target.name}\`, whose rows not every caller who sets ${set} ` +
    `may read by id: one could point it at any of them and read the value. Say showsUnseen: true in the joined ` +
    'property if that is meant, or if a rule keeps such rows out.'
  )
}

/** A reference on the path of a joined property. */
interface PathStep {
  /** The resource that has the reference. */
  readonly source: Entity
  readonly reference: Reference
  readonly target: Entity
}

/** An unknown step or resource, at which the path ends, is a mistake of its own. */
function pathStepsOf({ through, further }: Joined, entity: Entity, entities: readonly Entity[]): PathStep[] {
  const steps: PathStep[] = []
  let source = entity
  for (const name of [through.name, ...further]) {
    const reference = source.references.find((one) => one.name === name)
    const target = entities.find((one) => one.name === reference?.to)
    if (reference === undefined || target === undefined) break
    steps.push({ source, reference, target })
    source = target
  }
  return steps
}

type IsHeld = (permission: Permission) => boolean

/** The fields that the value of a joined property tells of. It takes the permissions of all of them to see it. */
function sourcesOf({ field, property }: Joined, steps: readonly PathStep[]): Field[] {
  const source = steps.at(-1)?.target.columns.find(({ name }) => name === property)
  return [
    field,
    ...steps.flatMap(({ reference }) => reference.via.map((one) => one.field)),
    ...(source === undefined ? [] : [source.field])
  ]
}

/** Whether it takes a permission to see the value at all. */
function readersOf(joined: Joined, { access }: Entity, steps: readonly PathStep[]): IsHeld {
  const sources = sourcesOf(joined, steps)
  // An entity file that bypasses its types may lack an access.
  const reads: readonly (ReadAccess | undefined)[] = Object.values(access)
  return (permission) =>
    sources.some(({ readableBy }) => readableBy === permission) ||
    reads.every((one) => one !== undefined && takes(one, permission))
}

/** Callers who set a reference: each of the words is an access that they have. */
interface ReferenceWriter {
  readonly words: readonly (ReadAccess | WriteAccess)[]
  /** Those that it takes besides. */
  readonly permissions: readonly Permission[]
  /**
   * The row that `ownRows` among the words is said of: that with the reference, that which it names, or a row that need not
   * be the caller's afterwards.
   */
  readonly owns: 'source' | 'target' | 'neither'
  /** Whether they can only name a row that they read by id. */
  readonly readsTarget?: boolean
}

/** One for each way to set a column of the reference, those of roots that write the rows included. */
function writersOf(step: PathStep, entities: readonly Entity[]): ReferenceWriter[] {
  const { source, reference } = step
  const { via } = reference
  const createdBy = via.flatMap(permissionsToCreate)
  const updatedBy = via
    .filter(({ field }) => field.writability === 'always')
    .map(({ field: { writableBy } }) => (writableBy === undefined ? [] : [writableBy]))
  const setBy = { create: createdBy, update: updatedBy } as const
  const own = (['create', 'update'] as const)
    .filter((route) => source.writes.has(route))
    .flatMap((route) => setBy[route].map((permissions) => ({ ...writerOf(route, source), permissions })))
  return [
    ...own,
    ...actionsSetting(via, source),
    ...entities
      .filter(({ children }) => children.some((one) => holds(one, source)))
      .flatMap((root): ReferenceWriter[] => {
        const isCreated = root.creation.children.some(({ children }) => holds(children, source))
        const created = isCreated ? createdBy.map((permissions) => ({ ...writerOf('create', root), permissions })) : []
        const ofChildren = [...created, ...actionsSetting(via, root)]
        return [...ofChildren.map((one) => ({ ...one, owns: 'neither' as const })), ...actionsInserting(step, root)]
      })
  ]
}

/** Whoever calls a write or an action, and what that takes. A caller reads the row unless `writesUnseen` is said. */
function writerOf(route: string, { writeAccess, writesUnseen, access, actions }: Entity): ReferenceWriter {
  const write = writeAccess.get(route)
  const action = actions.get(route)
  return {
    words: [...(write === undefined ? [] : [write]), ...(writesUnseen ? [] : [access.get])],
    permissions: action?.permission === undefined ? [] : [action.permission],
    // A row that is handed over need not be of its owner afterwards.
    owns: action?.handsOver === true ? 'neither' : 'source'
  }
}

/** What it takes to set a column by a create, where one sets it. A default is chosen by leaving the column out. */
function permissionsToCreate({ field }: Column): (readonly Permission[])[] {
  const { writability, preset, defaultTo, filledByDatabase, writableBy } = field
  if (preset !== undefined) return [[]]
  if (writability !== 'always' && writability !== 'onCreate') return []
  const isOpen = writableBy === undefined || defaultTo !== undefined || filledByDatabase
  return [isOpen ? [] : [writableBy]]
}

/** Whether these children, or children of theirs, are the rows of the entity. */
function holds({ resource, children }: Children, entity: Entity): boolean {
  return resource === entity.name || children.some((one) => holds(one, entity))
}

/** Those who call an action of an entity that has an input of the name of a column. */
function actionsSetting(via: KeyColumns, entity: Entity): ReferenceWriter[] {
  return [...entity.actions.values()]
    .filter(({ input }) => input.some(({ name }) => via.some((one) => one.name === name)))
    .map(({ name }) => writerOf(name, entity))
}

/** Those who call an action of a root that may insert the rows, which then refer to the root whatever the input is. */
function actionsInserting({ source, reference }: PathStep, root: Entity): ReferenceWriter[] {
  const isInserted = root.children.some(
    ({ resource, rootWrites, foreignKey }) =>
      resource === source.name &&
      rootWrites === 'all' &&
      foreignKey.some(({ column }) => reference.via.some((one) => one.column === column))
  )
  if (!isInserted) return []
  const isTarget = reference.to === root.name
  return [...root.actions.values()].map(({ name, handsOver }) => ({
    ...writerOf(name, root),
    owns: isTarget && !handsOver ? 'target' : 'neither',
    readsTarget: isTarget && !root.writesUnseen
  }))
}

/** The first of these steps, of which the writer sets the reference of the first one, to rows that it may be unable to read. */
function closedStep(
  steps: readonly PathStep[],
  { words, permissions, owns, readsTarget = false }: ReferenceWriter,
  isSeen: IsHeld
): PathStep | undefined {
  const isHeld: IsHeld = (permission) =>
    permissions.includes(permission) || isSeen(permission) || words.some((word) => takes(word, permission))
  const owned = steps[['source', 'target'].indexOf(owns)]
  return steps.find((step, at) => {
    if (at === 0 && readsTarget) return false
    const { reference, target } = step
    if (target.ownerFilter?.routes.has('get') === true) return true
    const isOwn = step === owned ? isOwnThrough(reference, target) : () => false
    return !isOpen(target.access.get, { words, isHeld }, isOwn)
  })
}

/** Whether every caller with the access has the permission. */
function takes(access: ReadAccess | WriteAccess, permission: Permission): boolean {
  return isEach(access, (part) => part.kind === 'permission' && part.permission === permission)
}

type IsOwn = (word: ReadAccess | WriteAccess, access: ReadAccess) => boolean

/** Whether a word on the row, `ownRows` of the foreign key, says of the row that it refers to what an access says. */
function isOwnThrough({ via }: Reference, target: Entity): IsOwn {
  return (word, access) =>
    word.kind === 'ownRows' &&
    access.kind === 'ownRows' &&
    word.owner === access.owner &&
    via.some(({ name }, at) => name === word.property && target.key[at]?.name === access.property)
}

/** Whether every writer passes the access for every row. */
function isOpen(
  access: ReadAccess | undefined,
  writer: Pick<ReferenceWriter, 'words'> & { readonly isHeld: IsHeld },
  isOwn: IsOwn
): boolean {
  switch (access?.kind) {
    case 'everyone':
      return true
    case 'permission':
      return writer.isHeld(access.permission)
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
