import type { SampleAccounts } from './auth/accounts/accounts.js'
import type { OwnerClaims, Roles } from './auth/tokens/claims.js'
import type { Operation } from './entity/define-operation.js'
import type { Entity } from './entity/entity.js'
import type { OutboxTarget } from './entity/event.js'
import type { TypedServices } from './typed-services/numbers.js'

/** What the data service knows of an application. The engine itself contains none of its names. */
export interface ServedApplication {
  readonly entities: readonly Entity[]
  /** Routes and rpcs of its own beside the uniform ones of its entities (docs/own-operations.md). */
  readonly operations?: readonly Operation[]
  /** The service does not start if an entity requires a permission that no role has. */
  readonly roles: Roles
  /** The claim of access tokens that names the owner of rows, where OWNER_CLAIM_TYPE is not set. */
  readonly ownerClaimType: string
  /**
   * Further kinds of owners and the claims that name them, `{ patient: 'patient_id' }`: each is a number space of its own,
   * for `ownRows('patientId', { owner: 'patient' })`.
   */
  readonly owners?: OwnerClaims
  /** A further database that cannot be joined to the first one, for children that say `store: 'second'`. */
  readonly secondStore?: SecondStore
  /**
   * Typed gRPC services of its entities beside the generic one (docs/grpc.md): `{ package: 'shop.v1', lock }`, where `lock`
   * is what `uniform-rest proto` wrote, imported as JSON.
   */
  readonly typedServices?: TypedServices
  /** A handler for each type of event that the entities emit (docs/hooks.md), or webhooks (docs/webhooks.md), or both. */
  readonly outbox?: readonly OutboxTarget[]
  /** Accounts to try the service with. They exist only if SAMPLE_DATA is on. */
  readonly sample?: SampleAccounts
}

export interface SecondStore {
  /** The setting that holds its URL, such as `REVIEWS_DATABASE_URL`. */
  readonly setting: string
  /** The name, without an ending, of the embedded database under DATA_DIR that is used where the setting is not set. */
  readonly name: string
}
