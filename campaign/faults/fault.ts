/** Something that breaks, at a random moment. */
export interface Fault {
  /** `SIGKILL of gateway-1`. */
  readonly name: string
  /** What it breaks. Faults of a pair break different things: `gateway-1`. */
  readonly target: string
  /** Breaks it; the result mends it. Neither rejects for what the fault itself brings about. */
  inject(random: () => number): Promise<() => Promise<void>>
}
