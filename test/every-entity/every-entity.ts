import { entities } from '../../examples/store/entities/index.js'
import type { DatabaseKind } from '../harness/database.js'
import { checkAllowLists } from './check-allow-lists.js'
import { checkCatalogue } from './check-catalogue.js'
import { checkColumnPermissions } from './check-column-permissions.js'
import { checkCreates } from './check-creates.js'
import { checkForeignFilters } from './check-foreign-filters.js'
import { checkIncludes } from './check-includes.js'
import { checkOwnerFilter } from './check-owner-filter.js'
import { checkPreconditions } from './check-preconditions.js'
import { checkReads } from './check-reads.js'
import { checkRowWrites } from './check-row-writes.js'
import { checkWithoutBypass } from './check-without-bypass.js'
import { EveryStore } from './every-store.js'

/** Declares the tests of every registered entity on one database, over one stack. */
export function describeEveryEntity(kind: DatabaseKind): void {
  describe(`every entity on ${kind}`, function () {
    this.timeout(60_000)
    const store = new EveryStore(kind)
    before(() => store.start())
    after(() => store.stop())
    checkCatalogue(store)
    for (const entity of entities) {
      describe(entity.name, () => {
        checkReads(store, entity)
        checkCreates(store, entity)
        checkIncludes(store, entity)
        checkForeignFilters(store, entity)
        checkOwnerFilter(store, entity)
        checkAllowLists(store, entity)
        checkColumnPermissions(store, entity)
        checkRowWrites(store, entity)
        checkPreconditions(store, entity)
      })
    }
  })

  describe(`every entity on ${kind} without OWNER_BYPASS_ROLE`, function () {
    this.timeout(60_000)
    const store = new EveryStore(kind)
    before(() => store.start({ OWNER_BYPASS_ROLE: '' }))
    after(() => store.stop())
    for (const entity of entities) checkWithoutBypass(store, entity)
  })
}
