import { AllowedAnswers } from './answers.js'
import { AuthAnswers } from './auth-answers.js'
import type { Checker } from './checker.js'
import { CreatedOnce } from './creates.js'
import { OneMoment } from './exports.js'
import { FailuresHaveCauses } from './failures.js'
import { OwnRowsOnly } from './owners.js'
import { WholePages } from './pages.js'
import { FreshReads } from './reads.js'
import { SessionsEndOnce } from './sessions.js'
import { StockAddsUp } from './stock.js'
import { OneChain } from './versions.js'

/** Every promise that a run is held to. A checker remembers what it saw, so each run has its own. */
export function checkers(): readonly Checker[] {
  return [
    new CreatedOnce(),
    new OneChain(),
    new FreshReads(),
    new WholePages(),
    new OneMoment(),
    new OwnRowsOnly(),
    new StockAddsUp(),
    new SessionsEndOnce(),
    new AuthAnswers(),
    new AllowedAnswers(),
    new FailuresHaveCauses()
  ]
}
