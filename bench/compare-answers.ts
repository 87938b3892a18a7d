/** A target as compared: its name and where it answers. */
export interface Answering {
  readonly name: string
  readonly origin: string
}

/** Headers that no two answers share, that are the transport's own business, or that only this system has: cursors. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'date',
  'x-request-id',
  'connection',
  'keep-alive',
  'x-next-cursor',
  'x-previous-cursor'
])

/** As compared. */
export interface Answer {
  readonly status: number
  readonly headers: string
  readonly body: Buffer
}

/**
 * Asks every target the same things and throws unless status, headers and body are the same, byte for byte: targets
 * that do different work cannot be compared.
 *
 * @returns how many answers were compared for each target
 */
export async function compareAnswers(
  targets: readonly [Answering, ...Answering[]],
  paths: readonly string[]
): Promise<number> {
  const [first, ...others] = targets
  for (const path of paths) {
    const expected = await ask(first.origin, path)
    if (expected.status !== 200) throw new Error(`${first.name} answers ${expected.status} to ${path}.`)
    for (const other of others) {
      const difference = firstDifference(expected, await ask(other.origin, path))
      if (difference !== undefined) {
        throw new Error(`${first.name} and ${other.name} answer ${path} differently: ${difference}`)
      }
    }
  }
  return paths.length
}

/** Asks one target. */
export async function ask(origin: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, init)
  const headers = [...response.headers]
    .filter(([name]) => !NOT_COMPARED.has(name))
    // Links name the target's own origin, file names the second of the export.
    .map(([name, value]) => `${name}: ${value.replaceAll(origin, '').replace(/\d{8}T\d{6}Z/, '<now>')}`)
  return {
    status: response.status,
    headers: headers.toSorted().join('\n'),
    body: Buffer.from(await response.arrayBuffer())
  }
}

/** undefined for none. */
export function firstDifference(left: Answer, right: Answer): string | undefined {
  if (left.status !== right.status) return `status ${left.status} and ${right.status}`
  // Before the headers, of which content-length says less of what differs.
  if (!left.body.equals(right.body)) return bodyDifference(left.body, right.body)
  return left.headers === right.headers ? undefined : `headers\n${left.headers}\n\nand\n${right.headers}`
}

function bodyDifference(left: Buffer, right: Buffer): string {
  const found = left.findIndex((byte, index) => byte !== right[index])
  const at = found === -1 ? left.length : found
  const from = Math.max(0, at - 100)
  const excerpt = (body: Buffer): string => JSON.stringify(body.toString('utf8', from, from + 200))
  return `bodies of ${left.length} and ${right.length} bytes, from byte ${at}\n${excerpt(left)}\nand\n${excerpt(right)}`
}
