import { DomainError } from '../../shared/domain-error.js'
import type { ExportPart } from '../data-calls.js'

/** An export that has begun: its header is here, and its first batch or its end. */
export interface OpenedExport {
  readonly header: NonNullable<ExportPart['header']>
  /** The first batch or the end, and what follows. Leaving it ends the rpc. */
  readonly parts: AsyncGenerator<ExportPart, void, void>
}

/**
 * Waits for the header and the part after it, so that whatever fails before the first row is still a problem document.
 */
export async function openExport(parts: AsyncIterable<ExportPart>): Promise<OpenedExport> {
  const iterator = parts[Symbol.asyncIterator]()
  try {
    const opening = await iterator.next()
    const header = opening.done === true ? undefined : opening.value.header
    const first = await iterator.next()
    if (header === undefined || header === null || first.done === true) throw broken()
    return { header, parts: following(first.value, iterator) }
  } catch (error) {
    await iterator.return?.()
    throw error
  }
}

async function* following(first: ExportPart, rest: AsyncIterator<ExportPart>): AsyncGenerator<ExportPart, void, void> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

function broken(): DomainError {
  return new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
}
