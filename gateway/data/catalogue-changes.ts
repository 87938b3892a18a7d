import type { Operation, Resource } from './data-client.js'

/** Changes that are named; beyond them their number is. */
const MOST = 20

interface DescribedParts {
  readonly resources: ReadonlyMap<string, Resource>
  readonly operations: readonly Operation[]
}

/** The members of a resource that are lists of named parts, with what one part is called. */
const PARTS = {
  properties: 'property',
  writeOnly: 'property',
  navigations: 'navigation',
  actions: 'action',
  reads: 'read'
} as const satisfies Partial<Record<keyof Resource, string>>

type Named = Readonly<Record<string, unknown>> & { readonly name: string }

/** What of a catalogue was added, removed and changed: `tasks: property priority added`, `tasks: sortable of title changed`. */
export function catalogueChanges(before: DescribedParts, after: DescribedParts): string[] {
  const changes = [
    ...compared('resource', [[...before.resources.values()], [...after.resources.values()]], resourceChanges),
    ...compared('operation', [before.operations, after.operations], ({ name, ...was }: Operation, { name: _, ...is }) =>
      changedWords(was, is).map((word) => `operation ${name}: ${word} changed`)
    )
  ]
  return changes.length > MOST ? [...changes.slice(0, MOST), `and ${changes.length - MOST} more`] : changes
}

function resourceChanges(was: Resource, is: Resource): string[] {
  const parts = Object.entries(PARTS).flatMap(([member, what]) => {
    const list = (one: Resource): readonly Named[] => one[member as keyof typeof PARTS] as unknown as readonly Named[]
    return compared(what, [list(was), list(is)], (old, current) =>
      changedWords(old, current).map((word) => `${word} of ${old.name} changed`)
    )
  })
  const others = changedWords(was, is).filter((word) => !Object.hasOwn(PARTS, word))
  return [...parts, ...others.map((word) => `${word} changed`)].map((change) => `${was.name}: ${change}`)
}

/** Parts of two lists by name: those that one list lacks, and what `differences` finds in those of both. */
function compared<One extends { readonly name: string }>(
  what: string,
  [before, after]: readonly [readonly One[], readonly One[]],
  differences: (was: One, is: One) => string[]
): string[] {
  const old = new Map(before.map((one) => [one.name, one]))
  const current = new Map(after.map((one) => [one.name, one]))
  return [
    ...after.flatMap((is) => {
      const was = old.get(is.name)
      return was === undefined ? [`${what} ${is.name} added`] : differences(was, is)
    }),
    ...before.filter(({ name }) => !current.has(name)).map(({ name }) => `${what} ${name} removed`)
  ]
}

/** The members whose values differ. */
function changedWords(was: object, is: object): string[] {
  const values = new Map<string, unknown>(Object.entries(was))
  return Object.entries(is)
    .filter(([word, value]) => JSON.stringify(value) !== JSON.stringify(values.get(word)))
    .map(([word]) => word)
}
