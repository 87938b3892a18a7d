import type { Catalogue } from '../catalogue.js'
import type { DataClient } from '../data-calls.js'
import type { PublicAddress } from '../public-address.js'

/** What every operation works with. */
export interface EntityTools {
  readonly data: DataClient
  readonly catalogue: Catalogue
  readonly address: PublicAddress
  readonly now: () => Date
}

/** Path parameters as they are after one percent-decoding. */
export interface ResourceParams {
  readonly resource: string
}

export interface RowParams extends ResourceParams {
  readonly id: string
}
