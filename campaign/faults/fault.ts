/**
 * Mends what was broken, and resolves when it is whole again, with how often the fault hit something: connections, statements,
 * answers. 1 where it hits whenever it is injected.
 */
export type Mend = () => Promise<number>

/** Something that breaks, at a random moment. */
export interface Fault {
  /** What happens, whoever it happens to: `SIGKILL`. */
  readonly kind: string
  /** `SIGKILL of gateway-1`. */
  readonly name: string
  /** What it breaks. Faults of a pair break different things: `gateway-1`. */
  readonly target: string
  /** Breaks it; the result mends it. Neither rejects for what the fault itself brings about. */
  inject(random: () => number): Promise<Mend>
}
