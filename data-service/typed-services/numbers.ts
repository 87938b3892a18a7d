// Field numbers of messages and numbers of enums. A number once given belongs to its member for ever: what is removed is
// reserved, and what is new gets a number that nothing has had (https://protobuf.dev/programming-guides/proto3/#updating).

/** What an application states of its typed services (docs/grpc.md). */
export interface TypedServices {
  /** Of the proto: names in lower case with dots between, the last a version, `store.v1`. */
  readonly package: string
  /** What `proto.lock.json` holds, which `uniform-rest proto` writes. Without it every number is new. */
  readonly lock?: ProtoLock
}

/** The file beside a generated proto, `proto.lock.json`: every number that was ever given. */
export interface ProtoLock {
  /** The name of a row's message for each resource: `products` → `Product`. */
  readonly rows: Readonly<Record<string, string>>
  /** Messages and enums by their names in the package, `Order.LinesItem`. Those that are gone stay, with their numbers. */
  readonly types: Readonly<Record<string, LockedType>>
}

interface LockedType {
  /** Members by their names in JSON, or by their words. */
  readonly members: Readonly<Record<string, LockedMember>>
  readonly removed: readonly RemovedMember[]
}

interface LockedMember {
  readonly number: number
  /** As written in the proto. A member whose type changes is another member. */
  readonly type: string
}

interface RemovedMember {
  readonly number: number
  /** As written in the proto. */
  readonly name: string
}

const NO_MEMBERS: LockedType = { members: {}, removed: [] }

export const EMPTY_LOCK: ProtoLock = { rows: {}, types: {} }

/** A member that is to have a number. */
export interface Unnumbered {
  /** Name in JSON, or a word: what the member is known by from one generation to the next. */
  readonly key: string
  readonly type: string
}

export interface Numbered {
  readonly number: number
  /** As written in the proto. */
  readonly name: string
}

interface NumberedType {
  /** In the order of the members. */
  readonly members: readonly Numbered[]
  readonly removed: readonly RemovedMember[]
}

/** Numbers that protobuf keeps for itself. */
const FIRST_KEPT = 19_000
const LAST_KEPT = 19_999

/** Gives numbers, those of the lock first, and keeps what was given. */
export class Numbers {
  readonly #before: ProtoLock
  readonly #types = new Map<string, LockedType>()
  readonly #rows = new Map<string, string>()
  #areLocked = true

  constructor(before: ProtoLock) {
    this.#before = before
    for (const [name, type] of Object.entries(before.types)) this.#types.set(name, type)
    for (const [resource, name] of Object.entries(before.rows)) this.#rows.set(resource, name)
  }

  /** The type that the lock has for a member; undefined for one that is new. */
  lockedType(message: string, key: string): string | undefined {
    return ownOf(ownOf(this.#before.types, message)?.members, key)?.type
  }

  /** Whether every number so far, and nothing else of its types, stands in the lock. */
  get areLocked(): boolean {
    return this.#areLocked
  }

  /** The name of a resource's row message: that of the lock, else `preferred`, or `otherwise` where that one is taken. */
  rowName(resource: string, preferred: string, otherwise: string): string {
    const taken = [...this.#rows.values()]
    const name = this.#rows.get(resource) ?? (taken.includes(preferred) ? otherwise : preferred)
    this.#rows.set(resource, name)
    return name
  }

  /**
   * Numbers the members of a message or an enum. `nameOf` writes the name of a member in the proto; a name that another
   * member has, or that is reserved, gets the number at its end.
   */
  assign(
    type: string,
    members: readonly Unnumbered[],
    nameOf: (member: Unnumbered, number: number) => string
  ): NumberedType {
    const before = ownOf(this.#before.types, type) ?? NO_MEMBERS
    const wanted = new Map(members.map(({ key, type: written }) => [key, written]))
    const gone = Object.entries(before.members).filter(([key, { type: written }]) => wanted.get(key) !== written)
    const isSame = gone.length === 0 && members.every(({ key }) => Object.hasOwn(before.members, key))
    const locked = isSame ? before : this.#changed(before, { members, gone, nameOf })
    if (!isSame) this.#areLocked = false
    this.#types.set(type, locked)
    const names = namesByKey(locked, nameOf)
    return {
      members: members.map(({ key }) => ({
        number: ownOf(locked.members, key)?.number ?? 0,
        name: names.get(key) ?? key
      })),
      removed: locked.removed
    }
  }

  #changed(
    before: LockedType,
    change: {
      readonly members: readonly Unnumbered[]
      readonly gone: readonly (readonly [key: string, member: LockedMember])[]
      readonly nameOf: (member: Unnumbered, number: number) => string
    }
  ): LockedType {
    const { members, gone, nameOf } = change
    const named = namesByKey(before, nameOf)
    const removed = [
      ...before.removed,
      ...gone.map(([key, { number }]) => ({ number, name: named.get(key) ?? key }))
    ].toSorted((a, b) => a.number - b.number)
    const used = [...Object.values(before.members), ...before.removed].map(({ number }) => number)
    let last = Math.max(0, ...used)
    const next = (): number => {
      last += 1
      if (last >= FIRST_KEPT && last <= LAST_KEPT) last = LAST_KEPT + 1
      return last
    }
    const kept = Object.fromEntries(
      members.map(({ key, type: written }): [string, LockedMember] => {
        const known = ownOf(before.members, key)
        return [key, { number: known?.type === written ? known.number : next(), type: written }]
      })
    )
    return { members: kept, removed }
  }

  /** Every number that was ever given, the new ones included, in an order that a comparison of two versions shows well. */
  get lock(): ProtoLock {
    return { rows: sorted(this.#rows), types: sorted(this.#types) }
  }
}

/** A member by a name of the application's own, which may be `constructor`. */
function ownOf<Value>(members: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return members !== undefined && Object.hasOwn(members, key) ? members[key] : undefined
}

/** The names in the proto of the members of a type, by key. The one with the lowest number gets a name that two want. */
function namesByKey(
  { members, removed }: LockedType,
  nameOf: (member: Unnumbered, number: number) => string
): ReadonlyMap<string, string> {
  const taken = new Set(removed.map(({ name }) => name))
  const names = new Map<string, string>()
  const byNumber = Object.entries(members).toSorted(([, a], [, b]) => a.number - b.number)
  for (const [key, { number, type }] of byNumber) {
    const preferred = nameOf({ key, type }, number)
    const name = taken.has(preferred) ? `${preferred}_${number}` : preferred
    taken.add(name)
    names.set(key, name)
  }
  return names
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The lock as the text of its file: a member a line. */
export function lockText({ rows, types }: ProtoLock): string {
  const line = (indent: string) => (entry: readonly [string, unknown]) =>
    `${indent}${JSON.stringify(entry[0])}: ${spaced(entry[1])}`
  const lines = (entries: readonly (readonly [string, unknown])[], indent: string): string =>
    entries.length === 0 ? '{}' : `{\n${entries.map(line(`${indent}  `)).join(',\n')}\n${indent}}`
  const typeTexts = Object.entries(types).map(([name, { members, removed }]) => {
    const list =
      removed.length === 0 ? '[]' : `[\n${removed.map((one) => `        ${spaced(one)}`).join(',\n')}\n      ]`
    const body = lines(Object.entries(members), '      ')
    return `    ${JSON.stringify(name)}: {\n      "members": ${body},\n      "removed": ${list}\n    }`
  })
  const typesText = typeTexts.length === 0 ? '{}' : `{\n${typeTexts.join(',\n')}\n  }`
  return `{\n  "rows": ${lines(Object.entries(rows), '  ')},\n  "types": ${typesText}\n}\n`
}

/** `{ "number": 1, "type": "string" }` */
function spaced(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${JSON.stringify(member)}`)
  return `{ ${members.join(', ')} }`
}
