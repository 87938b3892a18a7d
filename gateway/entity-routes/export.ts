import type { FastifyInstance } from 'fastify'
import { FairSemaphore } from '../../shared/fair-semaphore.js'
import { throttledAddress } from '../../shared/throttled-address.js'
import { clientAddress } from '../client-address.js'
import { attachmentName } from '../headers/attachment-name.js'
import { exportOptions } from '../headers/export-options.js'
import { admission } from './admit.js'
import { CsvBatch } from './csv-batch.js'
import { dataCall } from './data-call.js'
import { EXPORT_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { openExport } from './open-export.js'
import { readQuery, selectionOf } from './read-query.js'
import { writeExport } from './write-export.js'

/** Milliseconds for the data service to send the next part of an export. */
const PART_TIMEOUT = 60_000

/**
 * Milliseconds for which the data service keeps an export that this process asks no more of. Whether a client still
 * reads is judged at its connection; from one part to the next a slow one takes minutes.
 */
const READER_TIMEOUT = 3_600_000

/**
 * Anonymous exports of one address at a time. The data service counts them too, as it counts those of known callers, but
 * only where it knows this process as a gateway.
 */
const EXPORTS_OF_ADDRESS = 4

/** `GET /{resource}/export`: every row that matches as CSV, streamed. */
export function exportRoute(app: FastifyInstance, { data, catalogue, now }: EntityTools): void {
  const detail = 'Too many exports to your address are under way. Try again.'
  const anonymous = new FairSemaphore({ places: 1000, waiting: 1000, patience: 5_000, detail })

  app.get<{ Params: ResourceParams }>(
    EXPORT_PATH.url,
    { ...admission(catalogue, EXPORT_PATH), exposeHeadRoute: false },
    async (request, reply) => {
      const { resource } = request.params
      const query = readQuery({ resource: catalogue.find(resource), operation: 'export' }, request, reply)
      const { bom, escapeFormulas, faults } = exportOptions(query.values)
      const { fields } = query.values
      const call = dataCall(request, reply)
      const shares = [{ of: throttledAddress(clientAddress(request)), most: EXPORTS_OF_ADDRESS }] as const
      const leave =
        call.authorization === undefined ? await anonymous.enter({ shares, signal: call.signal }) : undefined
      try {
        const parts = data.export(call, {
          resource,
          selection: selectionOf(query),
          ...(fields === undefined ? {} : { fields }),
          idleTimeoutMs: PART_TIMEOUT,
          readerTimeoutMs: READER_TIMEOUT,
          ...query.owner,
          unplaced: query.unplaced,
          clientAddress: request.ip
        })
        const opened = await openExport(parts, faults)

        reply.headers({
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': attachmentName(resource, now()),
          'x-export-row-limit': String(opened.header.rowLimit)
        })
        // From here on the answer is under way: Fastify must not answer a failure in its place.
        reply.hijack()
        for (const [name, value] of Object.entries(reply.getHeaders())) {
          if (value !== undefined) reply.raw.setHeader(name, value)
        }
        const csv = new CsvBatch(opened.header.columns, escapeFormulas)
        const failure = await writeExport(reply.raw, opened, { csv, bom })
        if (failure !== undefined && !call.signal.aborted) {
          request.log.error({ requestId: request.id, err: failure }, 'export broken off')
        }
      } finally {
        leave?.()
      }
    }
  )
}
