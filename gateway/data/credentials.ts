import { type ChannelCredentials, type ClientOptions, InterceptingCall, type Interceptor } from '@grpc/grpc-js'
import type { Following } from '../../shared/files.js'
import type { Logger } from '../../shared/logger.js'
import { channelCredentials, GATEWAY_SECRET_METADATA, type GrpcSecurity, TlsCertificates } from '../../shared/tls.js'

/** How this gateway knows the data service, and shows it who it is. Every client of the data service is made with both. */
export interface DataCredentials {
  readonly channel: ChannelCredentials
  /** Puts the gateway's secret, where there is one, into the metadata of each call. */
  readonly options: ClientOptions
}

/** Plain text and no secret. */
export const NO_CREDENTIALS: DataCredentials = { channel: channelCredentials(undefined), options: {} }

/** Reads the certificates, which are followed until `stopping`. Throws with a sentence for people that names the file. */
export async function openDataCredentials(
  { tls, gatewaySecret }: GrpcSecurity,
  { log, ...following }: Following & { readonly log: Logger }
): Promise<DataCredentials> {
  const certificates =
    tls === undefined ? undefined : await TlsCertificates.open(tls, { ...following, log, what: 'gRPC client' })
  if (gatewaySecret === undefined && tls?.certFile === undefined) {
    log.warn(
      'neither GATEWAY_SECRET nor a client certificate is set: the data service counts every log-in through this ' +
        "gateway under the gateway's own address"
    )
  }
  return {
    channel: channelCredentials(certificates),
    options: gatewaySecret === undefined ? {} : { interceptors: [sending(gatewaySecret)] }
  }
}

function sending(secret: string): Interceptor {
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, listener, next) => {
        metadata.set(GATEWAY_SECRET_METADATA, secret)
        next(metadata, listener)
      }
    })
}
