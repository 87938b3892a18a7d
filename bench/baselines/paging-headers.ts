import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageRequest } from './page-request.js'

/** `X-Pagination`, `X-Total-Count` and `Link`. */
export function setPagingHeaders(request: FastifyRequest, reply: FastifyReply, found: PageRequest & { total: number }) {
  const { pageSize, pageNumber: currentPage, total: totalCount } = found
  const totalPages = Math.ceil(totalCount / pageSize)
  const hasPrevious = currentPage > 1
  const hasNext = currentPage < totalPages
  const members = { totalCount, pageSize, currentPage, totalPages, hasPrevious, hasNext }
  reply.header('x-pagination', JSON.stringify(members))
  reply.header('x-total-count', totalCount)
  const otherParameters = request.url.replace(/([?&])pageNumber=[^&]*&?/, '$1').replace(/[?&]$/, '')
  const base = `http://${request.host}${otherParameters}${otherParameters.includes('?') ? '&' : '?'}pageNumber=`
  const link = (page: number, rel: string): string => `<${base}${page}>; rel="${rel}"`
  const links = [link(1, 'first')]
  if (hasPrevious) links.push(link(Math.min(currentPage - 1, totalPages), 'prev'))
  if (hasNext) links.push(link(currentPage + 1, 'next'))
  if (totalPages > 0) links.push(link(totalPages, 'last'))
  reply.header('link', links.join(', '))
}
