/** @param share 0.99: what 99 of 100 were at most; a hundredth of a thousand is ten answers. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
