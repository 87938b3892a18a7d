import type { OwnerFilterDefinition, ReadsDefinition, WritesDefinition } from './access.js'
import type { UntypedAction } from './action.js'
import type { UntypedCustomRead } from './custom-read.js'
import { suggestion } from './fields/names.js'
import { type Overrides, READ_OPERATIONS } from './operations.js'

// Words that a part of an entity file has. A compiler refuses others, and an application may run without one: a misspelt
// word would then be lost, and with it what it protects.

/** It does not compile without each word of the definition. */
const wordsOf = <Definition>(words: Readonly<Record<keyof Definition & string, true>>): string[] => Object.keys(words)

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

function unknown(place: string, given: object, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${place}: there is no \`${name}\`.${suggestion(name, known)}`)
}

/** Mistakes in the words of `access`. Those of single writes, which actions may be, are checked with the writes. */
export function accessWordMistakes(
  access: { readonly reads?: Readonly<Record<string, unknown>>; readonly ownerFilter?: object },
  customReads: readonly string[]
): string[] {
  const { reads = {}, ownerFilter = {} } = access
  const isCustom = (name: string): boolean => customReads.includes(name)
  const others = Object.fromEntries(Object.entries(reads).filter(([name]) => !isCustom(name)))
  return [
    ...unknown('access', access, ACCESS),
    ...unknown('ownerFilter', ownerFilter, OWNER_FILTER),
    ...unknown('access.reads', others, READ_OPERATIONS),
    ...Object.entries(others)
      .filter(([, word]) => word === undefined || word === null)
      .map(([name]) => `access.reads: \`${name}\` says nothing: everyone, permission(…), ownRows(…) or rows(…).`),
    ...Object.keys(reads)
      .filter(isCustom)
      .map((name) => `access.reads names the custom read \`${name}\`, which says \`access\` itself.`)
  ]
}

export function customReadWordMistakes(name: string, definition: UntypedCustomRead): string[] {
  return unknown(`custom read \`${name}\``, definition, CUSTOM_READ)
}

export function actionWordMistakes(name: string, definition: UntypedAction): string[] {
  const place = `action \`${name}\``
  const isLost = 'permission' in definition && typeof definition.permission !== 'string'
  return [...unknown(place, definition, ACTION), ...(isLost ? [`${place}: its permission is no text.`] : [])]
}

export function overrideMistakes(overrides: Overrides): string[] {
  return unknown('overrides', overrides, OVERRIDES)
}
