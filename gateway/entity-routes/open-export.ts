import { DomainError, refusal, type Fault } from '../../shared/domain-error.js'
import { unintelligible } from '../unintelligible.js'
import type { ExportPart } from '../data-calls.js'
import { PROBLEM_KINDS } from '../problem-details.js'

/** An export that has begun: its header is here, and its first batch or its end. */
export interface OpenedExport {
  readonly header: NonNullable<ExportPart['header']>
  /** The first batch or the end, and what follows. Leaving it ends the rpc. */
  readonly parts: AsyncGenerator<ExportPart, void, void>
}

/**
 * Waits for the header and the part after it, so that whatever fails before the first row is still a problem document.
 * The gateway's own faults come after who the caller is and what they may, and together with the data service's.
 */
export async function openExport(parts: AsyncIterable<ExportPart>, faults: readonly Fault[]): Promise<OpenedExport> {
  const iterator = parts[Symbol.asyncIterator]()
  try {
    const opening = await iterator.next()
    const header = opening.done === true ? undefined : opening.value.header
    const first = await iterator.next()
    if (header === undefined || header === null || first.done === true) throw unintelligible()
    const [fault, ...others] = faults
    if (fault !== undefined) throw refusal([fault, ...others])
    return { header, parts: following(first.value, iterator) }
  } catch (error) {
    await iterator.return?.()
    throw together(error, faults)
  }
}

/** One refusal of both where the data service found faults in the request as well. */
function together(error: unknown, own: readonly Fault[]): unknown {
  if (!(error instanceof DomainError) || PROBLEM_KINDS[error.code].status !== 400) return error
  const [first, ...others] = error.faults
  return first === undefined || own.includes(first) ? error : refusal([first, ...others, ...own])
}

async function* following(first: ExportPart, rest: AsyncIterator<ExportPart>): AsyncGenerator<ExportPart, void, void> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
