import { openDataCredentials } from '../../gateway/data/replica.js'
import { ReplicaPool } from '../../gateway/data/replica-pool.js'
import { createLogger } from '../../shared/logger.js'
import { GATEWAY_SECRET } from '../stack/service-process.js'

/** The connections of a gateway to a data service. They send the gateway's secret, because only gateways may open streams. */
export async function gatewayPool(address: string, gatewaySecret = GATEWAY_SECRET): Promise<ReplicaPool> {
  const credentials = await openDataCredentials(
    { tls: undefined, gatewaySecret },
    { log: createLogger({ name: 'test', level: 'silent' }), stopping: new AbortController().signal }
  )
  return new ReplicaPool({ addresses: [address], credentials })
}
