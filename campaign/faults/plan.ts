import { randomNumbers, shuffled } from '../../test/runner/random.js'
import type { Fault } from './fault.js'

/** Something that will break. */
export interface PlannedInjury {
  readonly fault: Fault
  /** Milliseconds from the moment of its group. */
  readonly after: number
  /** Milliseconds that it lasts before it is mended. */
  readonly lasts: number
  /** What the fault itself leaves to chance. */
  readonly random: () => number
}

/** What breaks at about the same time: one thing, or two. */
export interface PlannedGroup {
  /** Milliseconds of peace before. */
  readonly peace: number
  readonly injuries: readonly PlannedInjury[]
}

const QUIET_EVERY = 10

/**
 * The groups of a run one after another, without an end. They depend on the names of the faults, the seed, the pace and
 * how often there are pairs alone.
 * Each kind of fault has its turn before one has its second, each time with another of its targets. Before one in `QUIET_EVERY`
 * groups, on average, is a peace of `quiet` milliseconds (default: none), in which everything recovers and is then whole for a while.
 */
export function* planOf(
  faults: readonly Fault[],
  {
    seed,
    pace,
    pairs,
    quiet = 0
  }: { readonly seed: number; readonly pace: number; readonly pairs: number; readonly quiet?: number }
): Generator<PlannedGroup, void> {
  if (faults.length === 0) return
  const random = randomNumbers(seed)
  const kinds = new Map<string, Fault[]>()
  for (const fault of faults) kinds.set(fault.kind, [...(kinds.get(fault.kind) ?? []), fault])
  let turn = 0
  let waiting: Fault[] = []
  const next = (isAllowed: (fault: Fault) => boolean): Fault | undefined => {
    if (waiting.length === 0) {
      turn++
      const chosen = [...kinds.values()].map((of) => of[Math.floor(random() * of.length)])
      waiting = shuffled(
        chosen.filter((one) => one !== undefined),
        seed + turn
      )
    }
    const at = waiting.findIndex(isAllowed)
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }
  const injury = (fault: Fault, after: number): PlannedInjury => ({
    fault,
    after,
    lasts: random() ** 2 * 2 * pace,
    random: randomNumbers(Math.floor(random() * 2 ** 32))
  })
  for (;;) {
    const first = next(() => true)
    if (first === undefined) return
    const peace = random() * pace + (quiet > 0 && random() * QUIET_EVERY < 1 ? quiet : 0)
    const isPair = random() < pairs
    const injuries = [injury(first, 0)]
    const second = isPair ? next(({ target }) => target !== first.target) : undefined
    if (second !== undefined) injuries.push(injury(second, random() * (injuries[0]?.lasts ?? 0)))
    yield { peace, injuries }
  }
}
