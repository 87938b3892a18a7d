import { AllowedAnswers } from './answers/answers.js'
import { AuthAnswers } from './callers/auth-answers.js'
import type { Checker } from './checker.js'
import { CreatedOnce } from './writes/creates.js'
import { DeliveredInOrder } from './writes/deliveries.js'
import { ImportedOnce } from './writes/imports.js'
import { MachinesEndAtOnce } from './callers/machines.js'
import { OneMoment } from './reads/exports.js'
import { FailuresHaveCauses } from './answers/failures.js'
import { OwnRowsOnly } from './callers/owners.js'
import { WholePages } from './reads/pages.js'
import { FreshReads } from './reads/reads.js'
import { RefusalsHaveReasons } from './writes/refusals.js'
import { SessionsEndOnce } from './callers/sessions.js'
import { StockAddsUp } from './writes/stock.js'
import { OneChain } from './writes/versions.js'

/** Every promise that a run is held to. A checker remembers what it saw, so each run has its own. */
export function checkers(): readonly Checker[] {
  return [
    new CreatedOnce(),
    new ImportedOnce(),
    new DeliveredInOrder(),
    new OneChain(),
    new RefusalsHaveReasons(),
    new FreshReads(),
    new WholePages(),
    new OneMoment(),
    new OwnRowsOnly(),
    new StockAddsUp(),
    new SessionsEndOnce(),
    new AuthAnswers(),
    new MachinesEndAtOnce(),
    new AllowedAnswers(),
    new FailuresHaveCauses()
  ]
}
