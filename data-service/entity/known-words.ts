import type { OwnerFilterDefinition, ReadsDefinition, WritesDefinition } from './access.js'
import type { Change, ChildChanges, GuessBound, NewRoot, RootUpdate, UntypedAction } from './action.js'
import type { Preparation, CreationDefinition, DeletionDefinition } from './creates-and-deletes.js'
import type { UntypedCustomRead } from './custom-read.js'
import { unknownWords, wordMistakes, definitionWords } from './fields/definition-words.js'
import type { EmitHook, BeforeCommitHook } from './hooks.js'
import type { ChildrenDefinition, ResourceChildren, TableChildren } from './fields/rows.js'
import { type Overrides, READ_OPERATIONS } from './operations.js'

const ACCESS = definitionWords<
  ReadsDefinition<string, never> & WritesDefinition<string, never> & { readonly ownerFilter: unknown }
>({
  read: 'object',
  reads: 'object',
  write: 'object',
  writes: 'object',
  writesUnseen: 'flag',
  ownerFilter: 'object'
})

const OWNER_FILTER = definitionWords<OwnerFilterDefinition>({
  property: 'text',
  parameter: 'text',
  on: 'list',
  allowMissingOwner: 'text or object'
})

const ACTION = definitionWords<UntypedAction>({
  description: 'text',
  permission: 'text',
  handsOver: 'flag',
  when: 'object',
  becomes: 'object',
  input: 'object',
  child: 'object',
  loads: 'list',
  guesses: 'object',
  change: 'function',
  effect: 'object or function'
})

// What rules answer. They run for each write, so that only unknown words are looked for.
export const CHANGE = definitionWords<Change>({ set: 'object', children: 'object', create: 'list', update: 'list' })
export const PREPARATION = definitionWords<Preparation>({
  values: 'object',
  children: 'object',
  create: 'list',
  update: 'list'
})
export const OTHERS = definitionWords<Pick<Change, 'create' | 'update'>>({ create: 'list', update: 'list' })
export const NEW_ROOT = definitionWords<NewRoot>({ resource: 'text', values: 'object', children: 'object' })
export const ROOT_UPDATE = definitionWords<RootUpdate>({
  resource: 'text',
  id: 'text or number',
  set: 'object',
  children: 'object'
})
export const CHILD_CHANGES = definitionWords<ChildChanges>({ insert: 'list', update: 'list', remove: 'list' })

const GUARDED_CHILD = definitionWords<NonNullable<UntypedAction['child']>>({
  children: 'text',
  id: 'text',
  version: 'text'
})

const GUESSES = definitionWords<GuessBound>({ of: 'text', most: 'number', minutes: 'number' })

const CREATION = definitionWords<CreationDefinition<object, object>>({
  children: 'object',
  prepare: 'function',
  guesses: 'object'
})

const CREATED_CHILDREN = definitionWords<{ readonly min: number }>({ min: 'number' })

const DELETION = definitionWords<DeletionDefinition<object, object>>({ when: 'object', rule: 'function' })

const TABLE_CHILDREN = definitionWords<Omit<TableChildren, 'entity'>>({
  table: 'text',
  foreignKey: 'text or list',
  foreignKeyColumn: 'text or list',
  fields: 'object',
  key: 'list',
  rowVersion: 'text',
  rowVersionColumn: 'text',
  store: 'text',
  references: 'object',
  children: 'object'
})

const RESOURCE_CHILDREN = definitionWords<Omit<ResourceChildren, 'table' | 'fields'>>({
  entity: 'object',
  foreignKey: 'text or list',
  writtenBy: 'text'
})

const CUSTOM_READ = definitionWords<UntypedCustomRead>({
  description: 'text',
  access: 'object',
  sort: 'list',
  where: 'object or function',
  item: 'text',
  items: 'list',
  params: 'object',
  limit: 'text'
})

const BEFORE_COMMIT = definitionWords<BeforeCommitHook>({
  kind: 'text',
  on: 'text or list',
  readBefore: 'flag',
  run: 'function'
})

const EMIT = definitionWords<EmitHook>({
  kind: 'text',
  on: 'text or list',
  readBefore: 'flag',
  event: 'object',
  payload: 'function'
})

const OVERRIDES = definitionWords<Overrides>({
  list: 'function',
  paged: 'function',
  lookup: 'function',
  get: 'function',
  export: 'function',
  totals: 'function',
  read: 'function',
  create: 'function',
  batch: 'function',
  updateBatch: 'function',
  deleteBatch: 'function',
  update: 'function',
  delete: 'function',
  act: 'function'
})

/** The words of an entity file that nothing reads, of which some are words of its `access`. */
export function entityWordMistakes(definition: object, known: readonly string[]): string[] {
  const isOfAccess = (name: string): boolean => Object.hasOwn(ACCESS, name) && !known.includes(name)
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
    ...wordMistakes('access', access, ACCESS),
    ...wordMistakes('ownerFilter', ownerFilter, OWNER_FILTER),
    ...unknownWords('access.reads', others, READ_OPERATIONS),
    ...withoutWord(others).map((name) => `access.reads: \`${name}\` says nothing: ${READ_WORDS}.`),
    ...withoutWord(writes).map((name) => `access.writes: \`${name}\` says nothing: ${WRITE_WORDS}.`),
    ...Object.keys(reads)
      .filter(isCustom)
      .map((name) => `access.reads names the custom read \`${name}\`, which says \`access\` itself.`)
  ]
}

/** A condition or a state whose values are missing: a misspelt constant is one, and every row would meet it. */
function valueMistakes(place: string, values: object = {}): string[] {
  return Object.entries(values)
    .filter(([, value]) => value === undefined || (Array.isArray(value) && value.includes(undefined)))
    .map(([name]) => `${place}: the value of \`${name}\` is undefined.`)
}

export function customReadWordMistakes(name: string, definition: UntypedCustomRead): string[] {
  const place = `custom read \`${name}\``
  const { where } = definition
  return [
    ...wordMistakes(place, definition, CUSTOM_READ),
    ...valueMistakes(`${place}: where`, typeof where === 'object' ? where : {})
  ]
}

export function actionWordMistakes(name: string, definition: UntypedAction): string[] {
  const place = `action \`${name}\``
  const { child = {}, guesses = {}, when, becomes, change, effect } = definition
  return [
    ...wordMistakes(place, definition, ACTION),
    ...wordMistakes(`${place}: child`, child, GUARDED_CHILD),
    ...wordMistakes(`${place}: guesses`, guesses, GUESSES),
    ...valueMistakes(`${place}: when`, when),
    ...valueMistakes(`${place}: becomes`, becomes),
    ...(typeof effect === 'object' ? wordMistakes(`${place}: effect`, effect, CHANGE) : []),
    ...(change !== undefined && effect !== undefined ? [`${place} says both \`change\` and \`effect\`.`] : [])
  ]
}

/** The words of the writes of an entity file that are no actions. */
export function writeWordMistakes({
  creates = {},
  deletes = {}
}: {
  readonly creates?: { readonly children?: Readonly<Record<string, object | undefined>>; readonly guesses?: object }
  readonly deletes?: { readonly when?: object | undefined }
}): string[] {
  const { children = {}, guesses = {} } = creates
  return [
    ...wordMistakes('creates', creates, CREATION),
    ...wordMistakes('creates: guesses', guesses, GUESSES),
    ...Object.entries(children).flatMap(([name, limits]) => [
      ...(limits === undefined ? [`creates: children \`${name}\` is undefined.`] : []),
      ...wordMistakes(`creates: children \`${name}\``, limits ?? {}, CREATED_CHILDREN)
    ]),
    ...wordMistakes('deletes', deletes, DELETION),
    ...valueMistakes('deletes: when', deletes.when)
  ]
}

/** The words of children; those of children of children are checked with these. */
export function childrenWordMistakes(definition: ChildrenDefinition): string[] {
  const { store } = definition as { readonly store?: string }
  return [
    ...wordMistakes('', definition, definition.entity === undefined ? TABLE_CHILDREN : RESOURCE_CHILDREN),
    ...(store === undefined || store === 'primary' || store === 'second'
      ? []
      : [`there is no store \`${store}\`: second, or no word.`])
  ]
}

/** The words of a hook, in the order of the entity file. `at` counts from 0. */
export function hookWordMistakes(hook: object, at: number): string[] {
  return wordMistakes(`hook ${String(at + 1)}`, hook, 'event' in hook ? EMIT : BEFORE_COMMIT)
}

export function overrideMistakes(overrides: Overrides): string[] {
  return wordMistakes('overrides', overrides, OVERRIDES)
}
