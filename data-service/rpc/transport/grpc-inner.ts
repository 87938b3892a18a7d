import type { Http2Server } from 'node:http2'
import { Server as NetServer } from 'node:net'
import type { Server } from '@grpc/grpc-js'
import { InnerMembers, type InnerPackage, requireInner } from '../../../shared/inner-members.js'

// The inner member of grpc-js that is used: nothing public has the header lines of a call, its connection or its HTTP/2 stream. docs/decisions/053 has the reasons.

export const GRPC: InnerPackage = { name: '@grpc/grpc-js', tested: '1.14.7' }

interface InnerServer {
  /** The HTTP/2 servers of the addresses that the server listens at, with what grpc-js knows of each. */
  readonly http2Servers: ReadonlyMap<Http2Server, unknown>
}

const SERVER = new InnerMembers<InnerServer>({ http2Servers: 'object' })

/** Throws a StartError for a grpc-js without the inner member. */
export function probeServer(server: Server): void {
  requireInner(GRPC, SERVER.missingIn(server))
}

/** The HTTP/2 servers of a server that listens, one at least. Throws a StartError where grpc-js does not show them. */
export function http2ServersOf(server: Server): readonly Http2Server[] {
  const { http2Servers } = SERVER.of(server)
  const isMap: boolean = http2Servers instanceof Map
  const servers = isMap ? Array.from(http2Servers.keys()) : []
  const isAsTested = servers.length > 0 && servers.every((one) => one instanceof NetServer)
  requireInner(GRPC, isAsTested ? [] : ['http2Servers'])
  return servers
}
