import type { Checker } from './checker.js'
import { CreatedOnce } from './creates.js'

/** Every promise that a run is held to. A checker remembers what it saw, so each run has its own. */
export function checkers(): readonly Checker[] {
  return [new CreatedOnce()]
}
