import type { FastifyReply } from 'fastify'

/** Headers of the CSV export. */
export function setExportHeaders(reply: FastifyReply, rowLimit: number): void {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="products-${stamp}.csv"`)
  reply.header('x-export-row-limit', rowLimit)
}
