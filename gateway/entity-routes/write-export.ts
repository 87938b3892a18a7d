import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { DomainError } from '../../shared/domain-error.js'
import type { CsvBatch } from './csv-batch.js'
import type { OpenedExport } from './open-export.js'

/**
 * Writes an export to its client, pulling the next batch only when the client has taken the last one. A failure on the
 * way becomes a remark as the last row, and then the connection is broken off, so that nobody takes the file for whole.
 * Answers that failure; never rejects.
 */
export async function writeExport(
  response: ServerResponse,
  { header, parts }: OpenedExport,
  { csv, bom }: { readonly csv: CsvBatch; readonly bom: boolean }
): Promise<unknown> {
  let rows = 0
  let complete = false
  try {
    await write(response, csv.header(header.columns, bom))
    for await (const part of parts) {
      if (part.rows) {
        await nextTurn()
        await write(response, csv.rows(part.rows.json))
        rows += part.rows.count
      } else if (part.end) {
        if (part.end.truncated) await write(response, csv.remark(`# export truncated at ${part.end.count} rows`))
        complete = true
      }
    }
    if (complete) {
      response.end()
      return undefined
    }
    throw new DomainError('upstream.bad-gateway', 'The export stopped without saying that it was complete.')
  } catch (error) {
    await breakOff(response, csv.remark(`# export incomplete after ${rows} rows`))
    return error
  }
}

let latestTurn: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other export has. Writing a part as CSV takes milliseconds: were all
 * exports to do so in one turn, every other request would wait for all of them at each of its steps.
 */
function nextTurn(): Promise<unknown> {
  latestTurn = latestTurn.then(() => setImmediate())
  return latestTurn
}

/** Resolves when there is room for more. Rejects when the client is gone; who reads nothing is disconnected elsewhere. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw gone()
  if (response.write(text)) return
  await new Promise<void>((resolve, reject) => {
    const settle = (settled: () => void): void => {
      response.off('drain', onDrain).off('close', onClose)
      settled()
    }
    const onDrain = (): void => settle(resolve)
    const onClose = (): void => settle(() => reject(gone()))
    response.on('drain', onDrain).on('close', onClose)
  })
}

async function breakOff(response: ServerResponse, remark: string): Promise<void> {
  if (!response.destroyed) {
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.write(remark, () => resolve())
    })
  }
  response.destroy()
}

function gone(): Error {
  return new Error('The client went away.')
}
