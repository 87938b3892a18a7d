import type { OwnerFilterDefinition, ReadsDefinition, WritesDefinition } from './access.js'
import type { GuessBound, UntypedAction } from './action.js'
import type { CreationDefinition, DeletionDefinition } from './creates-and-deletes.js'
import type { UntypedCustomRead } from './custom-read.js'
import { suggestion } from './fields/names.js'
import type { ChildrenDefinition, ResourceChildren, TableChildren } from './fields/rows.js'
import { type Overrides, READ_OPERATIONS } from './operations.js'

// Words that a part of an entity file has. A compiler refuses others, and an application may run without one: a misspelt
// word would then be lost, and with it what it protects.

/** It does not compile without each word of the definition. */
export const wordsOf = <Definition>(words: Readonly<Record<keyof Definition & string, true>>): readonly string[] =>
  Object.keys(words)

const ACCESS = wordsOf<
  ReadsDefinition<string, never> & WritesDefinition<string, never> & { readonly ownerFilter: unknown }
>({
  read: true,
  reads: true,
  write: true,
  writes: true,
  writesUnseen: true,
  ownerFilter: true
})

const OWNER_FILTER = wordsOf<OwnerFilterDefinition>({
  property: true,
  parameter: true,
  on: true,
  allowMissingOwner: true
})

const ACTION = wordsOf<UntypedAction>({
  description: true,
  permission: true,
  handsOver: true,
  when: true,
  becomes: true,
  input: true,
  child: true,
  loads: true,
  guesses: true,
  change: true,
  effect: true
})

const GUARDED_CHILD = wordsOf<NonNullable<UntypedAction['child']>>({ children: true, id: true, version: true })

const GUESSES = wordsOf<GuessBound>({ of: true, most: true, minutes: true })

const CREATION = wordsOf<CreationDefinition<object, object>>({ children: true, prepare: true, guesses: true })

const CREATED_CHILDREN = wordsOf<{ readonly min: number }>({ min: true })

const DELETION = wordsOf<DeletionDefinition<object, object>>({ when: true, rule: true })

const TABLE_CHILDREN = wordsOf<Omit<TableChildren, 'entity'>>({
  table: true,
  foreignKey: true,
  foreignKeyColumn: true,
  fields: true,
  key: true,
  rowVersion: true,
  rowVersionColumn: true,
  store: true,
  children: true
})

const RESOURCE_CHILDREN = wordsOf<Omit<ResourceChildren, 'table' | 'fields'>>({
  entity: true,
  foreignKey: true,
  writtenBy: true
})

const CUSTOM_READ = wordsOf<UntypedCustomRead>({
  description: true,
  access: true,
  sort: true,
  where: true,
  item: true,
  items: true,
  params: true,
  limit: true
})

const OVERRIDES = wordsOf<Overrides>({
  list: true,
  paged: true,
  lookup: true,
  get: true,
  export: true,
  read: true,
  create: true,
  batch: true,
  update: true,
  delete: true,
  act: true
})

/** Words that a part of a file has and that nothing would read. `place` names the part; it is empty for the whole. */
export function unknownWords(place: string, given: object, known: readonly string[]): string[] {
  const before = place === '' ? '' : `${place}: `
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${before}there is no \`${name}\`.${suggestion(name, known)}`)
}

/** The same of the words of an entity file, of which some are words of its `access`. */
export function entityWordMistakes(definition: object, known: readonly string[]): string[] {
  const isOfAccess = (name: string): boolean => ACCESS.includes(name) && !known.includes(name)
  const others = Object.fromEntries(Object.entries(definition).filter(([name]) => !isOfAccess(name)))
  return [
    ...Object.keys(definition)
      .filter(isOfAccess)
      .map((name) => `there is no \`${name}\`. It is a word of \`access\`.`),
    ...unknownWords('', others, known)
  ]
}

const WRITE_WORDS = 'permission(…), ownRows(…) or rows(…)'
const READ_WORDS = `everyone, ${WRITE_WORDS}`

/** The names whose word is missing: a misspelt constant is one, and a weaker word would take its place. */
function withoutWord(words: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(words).filter((name) => words[name] === undefined || words[name] === null)
}

/** Mistakes in the words of `access`. The names of single writes, which actions may be, are checked with the writes. */
export function accessWordMistakes(
  access: {
    readonly reads?: Readonly<Record<string, unknown>>
    readonly writes?: Readonly<Record<string, unknown>>
    readonly ownerFilter?: object
  },
  customReads: readonly string[]
): string[] {
  const { reads = {}, writes = {}, ownerFilter = {} } = access
  const isCustom = (name: string): boolean => customReads.includes(name)
  const others = Object.fromEntries(Object.entries(reads).filter(([name]) => !isCustom(name)))
  return [
    ...unknownWords('access', access, ACCESS),
    ...unknownWords('ownerFilter', ownerFilter, OWNER_FILTER),
    ...unknownWords('access.reads', others, READ_OPERATIONS),
    ...withoutWord(others).map((name) => `access.reads: \`${name}\` says nothing: ${READ_WORDS}.`),
    ...withoutWord(writes).map((name) => `access.writes: \`${name}\` says nothing: ${WRITE_WORDS}.`),
    ...Object.keys(reads)
      .filter(isCustom)
      .map((name) => `access.reads names the custom read \`${name}\`, which says \`access\` itself.`)
  ]
}

export function customReadWordMistakes(name: string, definition: UntypedCustomRead): string[] {
  const place = `custom read \`${name}\``
  const saysNothing = 'access' in definition && (definition.access === undefined || definition.access === null)
  return [
    ...unknownWords(place, definition, CUSTOM_READ),
    ...(saysNothing ? [`${place}: its access says nothing: ${READ_WORDS}.`] : [])
  ]
}

export function actionWordMistakes(name: string, definition: UntypedAction): string[] {
  const place = `action \`${name}\``
  const isLost = 'permission' in definition && typeof definition.permission !== 'string'
  const { child = {}, guesses = {} } = definition
  return [
    ...unknownWords(place, definition, ACTION),
    ...unknownWords(`${place}: child`, child, GUARDED_CHILD),
    ...unknownWords(`${place}: guesses`, guesses, GUESSES),
    ...(isLost ? [`${place}: its permission is no text.`] : [])
  ]
}

/** The words of the writes of an entity file that are no actions. */
export function writeWordMistakes({
  creates = {},
  deletes = {},
  updates
}: {
  readonly creates?: { readonly children?: Readonly<Record<string, object | undefined>>; readonly guesses?: object }
  readonly deletes?: object
  readonly updates?: unknown
}): string[] {
  const { children = {}, guesses = {} } = creates
  return [
    ...unknownWords('creates', creates, CREATION),
    ...unknownWords('creates: guesses', guesses, GUESSES),
    ...Object.entries(children).flatMap(([name, limits = {}]) =>
      unknownWords(`creates: children \`${name}\``, limits, CREATED_CHILDREN)
    ),
    ...unknownWords('deletes', deletes, DELETION),
    ...(updates === undefined || typeof updates === 'function' ? [] : ['updates is no function.'])
  ]
}

/** The words of children; those of children of children are checked with these. */
export function childrenWordMistakes(definition: ChildrenDefinition): string[] {
  return unknownWords('', definition, definition.entity === undefined ? TABLE_CHILDREN : RESOURCE_CHILDREN)
}

export function overrideMistakes(overrides: Overrides): string[] {
  return unknownWords('overrides', overrides, OVERRIDES)
}
