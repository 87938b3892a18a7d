import { isSoak } from './in-soak.js'

/**
 * Declares every `share`-th of the tests that `declare` declares for each entity, and all of them in the soak. The first
 * entity keeps the first of its tests and each `share`-th after it, the next entity those beside them, and so on: each
 * check meets some entity, and each entity some checks. Tests of all entities together stay.
 */
export function declarePart(share: number, declare: () => void): void {
  const suite = describe(isSoak ? 'all tests' : `each ${share}. test, of which the soak runs all`, declare)
  if (isSoak) return
  for (const { suites } of suite.suites) {
    for (const [entity, ofEntity] of suites.entries()) {
      ofEntity.tests = ofEntity.tests.filter((_, at) => (at + entity) % share === 0)
    }
  }
}
