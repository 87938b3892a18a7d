import type { ClientReadableStream } from '@grpc/grpc-js'
import { DomainError } from '../shared/domain-error.js'
import type { ExportPart } from './data-calls.js'
import { domainErrorOf, isTransportFailure } from './grpc-failure.js'
import type { Replica } from './replica.js'

/** How to run an export. */
export interface ExportRun {
  /** Begins it at a replica that is none of `avoided`, unless `again` allows that where no other serves. */
  readonly start: (how: { avoided: ReadonlySet<Replica>; again: boolean }) => Promise<StartedExport>
  readonly signal: AbortSignal
  /** Milliseconds to wait for the next part before giving up with `upstream.timeout`. */
  readonly idleTimeout: number
}

export interface StartedExport {
  readonly replica: Replica
  readonly stream: ClientReadableStream<ExportPart>
}

/**
 * The parts of an export as they are pulled: grpc-js asks its peer for more only when the stream is read. However the
 * iteration ends, the rpc ends with it. An export is a read: where the transport failed before the first part, it is
 * begun once more, at another replica if there is one.
 */
export async function* exportParts(run: ExportRun): AsyncGenerator<ExportPart, void, void> {
  const first = await run.start({ avoided: new Set(), again: false })
  let begun = false
  try {
    for await (const part of partsOf(first.stream, run)) {
      begun = true
      yield part
    }
    return
  } catch (error) {
    if (begun || !isTransportFailure(error) || run.signal.aborted) throw domainErrorOf(error)
  }
  const second = await run.start({ avoided: new Set([first.replica]), again: true })
  try {
    yield* partsOf(second.stream, run)
  } catch (error) {
    throw domainErrorOf(error)
  }
}

async function* partsOf(
  call: ClientReadableStream<ExportPart>,
  { signal, idleTimeout }: ExportRun
): AsyncGenerator<ExportPart, void, void> {
  // A cancelled call emits its status after the iteration has left: an `error` nobody listens to would end the process.
  call.on('error', () => {})
  const cancel = (): void => call.cancel()
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()

  let timedOut = false
  const giveUp = (): void => {
    timedOut = true
    cancel()
  }
  let timer = setTimeout(giveUp, idleTimeout)
  try {
    for await (const part of call as AsyncIterable<ExportPart>) {
      clearTimeout(timer)
      yield part
      timer = setTimeout(giveUp, idleTimeout)
    }
  } catch (error) {
    if (!timedOut) throw error
    throw new DomainError('upstream.timeout', 'The data service did not answer in time.', { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
