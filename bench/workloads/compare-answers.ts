import type { Client } from '../load/load.js'
import type { Answering } from './workload.js'

/** Headers that no two answers share, or that are the transport's own business, and cursors, whose form is each one's own. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'date',
  'x-request-id',
  'connection',
  'keep-alive',
  'x-next-cursor',
  'x-previous-cursor'
])

/** How many paths are compared at most, and how many clients with paths of their own. */
const COMPARED = { paths: 60, clients: 5, ofClient: 6 }

/** As compared. */
export interface Answer {
  readonly status: number
  readonly headers: string
  readonly body: Buffer
  /** Of the page behind. */
  readonly cursor: string | undefined
}

/** What is asked, and what of the answers must be the same. */
interface Comparison {
  /** What clients without paths of their own ask. A target may have to be asked in words of its own. */
  paths(target: Answering): Promise<readonly string[]>
  /** `body`: pages at cursors, whose links hold cursors. */
  readonly parts: 'all' | 'body'
}

/**
 * Asks every target the same things and throws unless status, headers and body are the same, byte for byte: targets that
 * do different work cannot be compared. Targets with a form of their own must answer the same rows in the same order.
 *
 * @returns how many answers were compared for each target
 */
export async function compareAnswers(
  targets: readonly Answering[],
  clients: readonly Client[],
  { paths, parts }: Comparison
): Promise<number> {
  const [first, ...others] = targets
  if (first === undefined) return 0
  const questionsFor = async (target: Answering) => {
    const shared = (await paths(target)).slice(0, COMPARED.paths)
    const [client] = clients
    const own = clients.filter((one) => one.paths !== undefined).slice(0, COMPARED.clients)
    return own.length > 0
      ? own.flatMap(({ headers, paths: ofClient = [] }) =>
          ofClient.slice(0, COMPARED.ofClient).map((path) => ({ path, headers }))
        )
      : shared.map((path) => ({ path, headers: client?.headers ?? [] }))
  }
  const asked = await questionsFor(first)
  const questions = await Promise.all(others.map(questionsFor))
  for (const [index, { path, headers }] of asked.entries()) {
    const expected = await ask(first.origin, path, { headers })
    if (expected.status !== 200) throw new Error(`${first.name} answers ${expected.status} to ${path}.`)
    for (const [number, other] of others.entries()) {
      const own = questions[number]?.[index]?.path ?? path
      const found = await ask(
        other.origin,
        other.ownForm?.pathOf(own) ?? own,
        other.ownForm === undefined ? { headers } : {}
      )
      const difference =
        other.ownForm === undefined ? firstDifference(expected, found, parts) : differenceOfRows(expected, found)
      if (difference !== undefined) {
        throw new Error(`${first.name} and ${other.name} answer ${own} differently: ${difference}`)
      }
    }
  }
  return asked.length
}

/** Asks one target; `headers` are lines. */
export async function ask(
  origin: string,
  path: string,
  { headers = [], ...init }: Omit<RequestInit, 'headers'> & { readonly headers?: readonly string[] } = {}
): Promise<Answer> {
  const sent = headers.map((line): [string, string] => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1)
  ])
  const response = await fetch(`${origin}${path}`, { ...init, headers: sent })
  const kept = [...response.headers]
    .filter(([name]) => !NOT_COMPARED.has(name))
    // Links name the target's own origin, file names the second of the export.
    .map(([name, value]) => `${name}: ${value.replaceAll(origin, '').replace(/\d{8}T\d{6}Z/, '<now>')}`)
  return {
    status: response.status,
    headers: kept.toSorted().join('\n'),
    body: Buffer.from(await response.arrayBuffer()),
    cursor: response.headers.get('x-next-cursor') ?? undefined
  }
}

/** undefined for none. */
export function firstDifference(left: Answer, right: Answer, parts: Comparison['parts'] = 'all'): string | undefined {
  if (left.status !== right.status) return `status ${left.status} and ${right.status}`
  // Before the headers, of which content-length says less of what differs.
  if (!left.body.equals(right.body)) return bodyDifference(left.body, right.body)
  if (parts === 'body' || left.headers === right.headers) return undefined
  return `headers\n${left.headers}\n\nand\n${right.headers}`
}

function bodyDifference(left: Buffer, right: Buffer): string {
  const found = left.findIndex((byte, index) => byte !== right[index])
  const at = found === -1 ? left.length : found
  const from = Math.max(0, at - 100)
  const excerpt = (body: Buffer): string => JSON.stringify(body.toString('utf8', from, from + 200))
  return `bodies of ${left.length} and ${right.length} bytes, from byte ${at}\n${excerpt(left)}\nand\n${excerpt(right)}`
}

function differenceOfRows(expected: Answer, found: Answer): string | undefined {
  if (found.status !== 200) return `status ${found.status}`
  const [left, right] = [idsOf(expected), idsOf(found)]
  return left === right ? undefined : `rows ${left} and ${right}`
}

function idsOf({ body }: Answer): string {
  const answer: unknown = JSON.parse(body.toString('utf8'))
  const list = typeof answer === 'object' && answer !== null && 'items' in answer ? answer.items : answer
  return (Array.isArray(list) ? list : [list]).map((row: { id?: unknown }) => String(row.id)).join(' ')
}
