import { type DatabaseKind, databaseKinds } from '../stack/databases.js'
import { checkAllowLists } from './check-allow-lists.js'
import { checkCatalogue } from './check-catalogue.js'
import {
  checkForeignFilters,
  checkHistory,
  checkOwnerFilter,
  checkReads,
  checkTotals,
  checkWithoutBypass
} from './check-reads.js'
import { checkColumnPermissions, checkIncludes } from './check-shown.js'
import { checkForms } from './check-forms.js'
import { checkKeyless } from './check-keyless.js'
import { checkPreconditions } from './check-preconditions.js'
import { checkCreates, checkRowWrites } from './check-writes.js'
import { type EveryEntityOptions, TestedApplication } from './tested-application.js'

/** Milliseconds for one test: it may send some thousand requests. */
const TIMEOUT = 300_000

/**
 * Declares mocha tests of every entity of an application: for each of the databases they start a gateway and a data
 * service on a database of their own, insert rows, and hold every read, write and action, over HTTP and gRPC and by every
 * kind of caller, to the rules of the entity. docs/testing.md says what they cover.
 */
export function describeEveryEntity(options: EveryEntityOptions): void {
  for (const kind of options.databases ?? databaseKinds()) describeOn(kind, options)
}

function describeOn(kind: DatabaseKind, options: EveryEntityOptions): void {
  describe(`every entity on ${kind}`, function () {
    this.timeout(TIMEOUT)
    const tested = new TestedApplication(kind, options)
    before(function () {
      this.timeout(TIMEOUT + tested.setUpTime)
      return tested.start()
    })
    after(() => tested.stop())
    checkCatalogue(tested)
    for (const entity of tested.chosen) {
      describe(entity.name, () => {
        checkReads(tested, entity)
        checkTotals(tested, entity)
        checkCreates(tested, entity)
        checkIncludes(tested, entity)
        checkForeignFilters(tested, entity)
        checkOwnerFilter(tested, entity)
        checkAllowLists(tested, entity)
        checkColumnPermissions(tested, entity)
        checkRowWrites(tested, entity)
        checkPreconditions(tested, entity)
        checkForms(tested, entity)
        checkHistory(tested, entity)
      })
    }

    for (const entity of tested.keyless) describe(entity.name, () => checkKeyless(tested, entity))

    // A setting that the application states cannot be taken away by the environment.
    if (options.application.settings['OWNER_BYPASS_ROLE'] !== undefined) return
    describe('without OWNER_BYPASS_ROLE', () => {
      before(function () {
        this.timeout(TIMEOUT + tested.setUpTime)
        return tested.restart({ OWNER_BYPASS_ROLE: '' })
      })
      for (const entity of tested.chosen) checkWithoutBypass(tested, entity)
    })
  })
}
