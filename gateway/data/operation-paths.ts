import { percentDecode } from '../http/query-string.js'
import type { Operation } from './data-client.js'

/** An operation of the application at the path of a request, with the parameters in that path, decoded. */
export interface OperationAtPath {
  readonly operation: Operation
  readonly path: Readonly<Record<string, string>>
}

/** The paths of the application's operations, all methods of one together. */
export class OperationPaths {
  /** By the first segment, which is never a parameter. */
  readonly #bySegment = new Map<
    string,
    readonly { readonly operation: Operation; readonly segments: readonly string[] }[]
  >()

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const segments = operation.path.split('/').slice(1)
      const [first = ''] = segments
      this.#bySegment.set(first, [...(this.#bySegment.get(first) ?? []), { operation, segments }])
    }
  }

  get isEmpty(): boolean {
    return this.#bySegment.size === 0
  }

  /** Whether paths that begin with this segment, decoded, are those of operations. */
  has(segment: string): boolean {
    return this.#bySegment.has(segment)
  }

  /**
   * The operations at a path, which begins with a slash and is not decoded. A fixed segment comes before a parameter:
   * `/reports/latest` is not `/reports/{id}`.
   */
  at(path: string): readonly OperationAtPath[] {
    const sent = path.slice(1).split('/').map(percentDecode)
    const candidates = this.#bySegment.get(sent[0] ?? '') ?? []
    const found = candidates.flatMap(({ operation, segments }) => {
      const match = matched(segments, sent)
      return match === undefined ? [] : [{ operation, ...match }]
    })
    const fewest = Math.min(...found.map(({ rank }) => rank))
    return found.filter(({ rank }) => rank === fewest)
  }
}

/** `rank` is less the earlier the path has fixed segments. undefined for another path. */
function matched(
  segments: readonly string[],
  sent: readonly (string | undefined)[]
): { readonly path: Readonly<Record<string, string>>; readonly rank: number } | undefined {
  if (segments.length !== sent.length) return undefined
  const path = new Map<string, string>()
  let rank = 0
  for (const [index, segment] of segments.entries()) {
    const text = sent[index]
    const isParameter = segment.startsWith('{')
    if (text === undefined || text === '' || (!isParameter && segment !== text)) return undefined
    if (isParameter) path.set(segment.slice(1, -1), text)
    rank = rank * 2 + (isParameter ? 1 : 0)
  }
  return { path: Object.fromEntries(path), rank }
}
