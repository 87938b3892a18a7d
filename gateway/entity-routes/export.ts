import type { FastifyInstance } from 'fastify'
import { attachmentName } from '../headers/attachment-name.js'
import { exportOptions } from '../headers/export-options.js'
import { admission } from './admit.js'
import { CsvBatch } from './csv-batch.js'
import { dataCall } from './data-call.js'
import { EXPORT_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { openExport } from './open-export.js'
import { readQuery, selectionOf } from './read-query.js'
import { EXPORT_IDLE_TIMEOUT, writeExport } from './write-export.js'

/** `GET /{resource}/export`: every row that matches as CSV, streamed. */
export function exportRoute(app: FastifyInstance, { data, catalogue, now }: EntityTools): void {
  app.get<{ Params: ResourceParams }>(
    EXPORT_PATH.url,
    { ...admission(catalogue, EXPORT_PATH), exposeHeadRoute: false },
    async (request, reply) => {
      const { resource } = request.params
      const query = readQuery({ resource: catalogue.find(resource), operation: 'export' }, request, reply)
      const { bom, escapeFormulas, faults } = exportOptions(query.values)
      const { fields } = query.values
      const call = dataCall(request, reply)
      const parts = data.export(call, {
        resource,
        selection: selectionOf(query),
        ...(fields === undefined ? {} : { fields }),
        idleTimeoutMs: EXPORT_IDLE_TIMEOUT,
        ...query.owner,
        unplaced: query.unplaced
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
    }
  )
}
