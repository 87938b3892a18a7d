import type { Entity } from '../entity.js'
import type { OutboxTarget } from '../event.js'
import { accessMistakes, columnPermissionMistakes, ownerFilterMistakes, routeMistakes } from './validate-access.js'
import { fieldMistakes, namingMistakes, navigationMistakes, queryMistakes } from './validate-fields.js'
import type { Operation } from '../define-operation.js'
import { joinedReadMistakes, searchReaderMistakes } from './validate-joined.js'
import { operationMistakes } from './validate-operations.js'
import { hookMistakes, outboxMistakes } from './validate-hooks.js'
import { ownerKindMistakes, ownersMistakes } from './validate-owners.js'
import { actionMistakes, writeMistakes } from './validate-writes.js'
import { listed } from '../../../shared/start-error.js'

/** What the application has beside its entities, which these can use. */
interface EntitySurroundings {
  /** Those of its roles. */
  readonly permissions: readonly string[]
  readonly hasSecondStore: boolean
  /** `owners` of the application. */
  readonly owners?: Readonly<Record<string, string>> | undefined
  /** Its operations, whose mistakes are reported with those of the entities. */
  readonly operations?: readonly Operation[] | undefined
  /** `outbox` of the application. */
  readonly outbox?: readonly OutboxTarget[] | undefined
}

/**
 * Throws one CatalogueError with every mistake of every entity, and of `outbox` of the application. A mistake in a name
 * suggests the nearest known name.
 */
export function checkCatalogue(
  entities: readonly Entity[],
  { permissions, hasSecondStore, owners = {}, operations = [], outbox = [] }: EntitySurroundings
): void {
  const mistakes = [
    ...namingMistakes(entities),
    ...ownersMistakes(owners),
    ...operationMistakes(operations, entities, permissions),
    ...outboxMistakes(entities, outbox)
  ]
  for (const entity of entities) {
    const own = [
      ...entity.mistakes,
      ...fieldMistakes(entity),
      ...navigationMistakes(entity, entities),
      ...joinedReadMistakes(entity, entities),
      ...(hasSecondStore ? [] : secondStoreMistakes(entity)),
      ...queryMistakes(entity),
      ...searchReaderMistakes(entity, entities),
      ...accessMistakes(entity, permissions),
      ...ownerKindMistakes(entity, Object.keys(owners)),
      ...columnPermissionMistakes(entity, permissions),
      ...ownerFilterMistakes(entity),
      ...routeMistakes(entity, permissions),
      ...writeMistakes(entity, permissions),
      ...actionMistakes(entity, permissions),
      ...hookMistakes(entity)
    ]
    mistakes.push(...new Set(own.map((mistake) => `${entity.name}: ${mistake}`)))
  }
  if (mistakes.length > 0) throw new CatalogueError(mistakes)
}

function secondStoreMistakes({ children }: Entity): string[] {
  return children
    .filter(({ store }) => store === 'second')
    .map(({ name }) => `children \`${name}\` are in the second store, and the application states no \`secondStore\`.`)
}

export class CatalogueError extends Error {
  override readonly name = 'CatalogueError'
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    const count = `${mistakes.length} mistake${mistakes.length === 1 ? '' : 's'}`
    super(`Cannot start: ${count} in the entities.${listed(mistakes)}`)
    this.mistakes = mistakes
  }
}
