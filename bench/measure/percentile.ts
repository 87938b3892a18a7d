/** The value below which `share` (0 to 1) of the sorted ones lie; 0 of none. Nearest rank, no interpolation. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? 0
}
