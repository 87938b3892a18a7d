import type { ClientReadableStream } from '@grpc/grpc-js'
import { DomainError } from '../shared/domain-error.js'
import type { ExportPart } from './data-calls.js'
import { domainErrorOf } from './grpc-failure.js'

/** How to run an export. */
export interface ExportRun {
  readonly start: () => ClientReadableStream<ExportPart>
  readonly signal: AbortSignal
  /** Milliseconds to wait for the next part before giving up with `upstream.timeout`. */
  readonly idleTimeout: number
}

/**
 * The parts of an export as they are pulled: grpc-js asks its peer for more only when the stream is read. However the
 * iteration ends, the rpc ends with it.
 */
export async function* exportParts({ start, signal, idleTimeout }: ExportRun): AsyncGenerator<ExportPart, void, void> {
  const call = start()
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
    if (timedOut)
      throw new DomainError('upstream.timeout', 'The data service did not answer in time.', { cause: error })
    throw domainErrorOf(error)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
