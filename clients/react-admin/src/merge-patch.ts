// What an edited record changes, as a merge patch (RFC 7396).

type JsonObject = Readonly<Record<string, unknown>>

/** Members that name the row and its version. */
const NOT_SENT: readonly string[] = ['id', 'rowVersion']

/**
 * The members of `edited` that differ from those of `base`; without a base all of them. Members that `edited` does not have
 * stay as they are. Throws a TypeError for what no merge patch can say: a null inside of a JSON value removes the member.
 */
export function changesOf(edited: object, base: object | undefined): JsonObject {
  const known = membersOf(base ?? {})
  const changed = Object.entries(membersOf(edited)).filter(([name, value]) => !isEqual(value, known[name]))
  return Object.fromEntries(changed.map(([name, value]) => [name, patchOf(value, known[name], name)]))
}

/** A record as a body: dates are texts, and what names the row is left out, as are members that are undefined. */
export function membersOf(record: object): JsonObject {
  const members = Object.entries(JSON.parse(JSON.stringify(record)) as JsonObject)
  return Object.fromEntries(members.filter(([name]) => !NOT_SENT.includes(name)))
}

function patchOf(value: unknown, base: unknown, path: string): unknown {
  if (!isObject(value)) return value
  // An object is merged into the one that is stored: what is no longer there must be removed by name.
  const before = isObject(base) ? base : {}
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(value, name))
  const changed = Object.entries(value).filter(([name, one]) => !isEqual(one, before[name]))
  for (const [name, one] of changed) {
    if (one !== null) continue
    throw new TypeError(
      `${path}.${name} cannot become null by a merge patch, which would remove it. Send the whole row: meta: { replace: true }.`
    )
  }
  return Object.fromEntries([
    ...removed.map((name) => [name, null] as const),
    ...changed.map(([name, one]) => [name, patchOf(one, before[name], `${path}.${name}`)] as const)
  ])
}

/** Whether two values of JSON are the same. The order of members does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => isEqual(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  )
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
