import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import { act } from './act.js'
import type { UnaryHandler } from './call-context.js'
import { create } from './create.js'
import { overridable } from './overridable.js'
import { remove } from './remove.js'
import { update } from './update.js'
import type { Writing } from './writing.js'

export interface WriteHandlers {
  readonly create: UnaryHandler<CreateRequest__Output, CreateResponse>
  readonly update: UnaryHandler<UpdateRequest__Output, UpdateResponse>
  readonly delete: UnaryHandler<DeleteRequest__Output, DeleteResponse>
  readonly act: UnaryHandler<ActRequest__Output, ActResponse>
}

/** The writes of every resource, each entity's overrides in place of the standard ones. */
export function writeHandlers(writing: Writing): WriteHandlers {
  return {
    create: overridable(writing, create, (overrides) => overrides.create),
    update: overridable(writing, update, (overrides) => overrides.update),
    delete: overridable(writing, remove, (overrides) => overrides.delete),
    act: overridable(writing, act, (overrides) => overrides.act)
  }
}
