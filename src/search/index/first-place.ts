/** The first position in `[low, high)` that passes a monotonic test; `high` for none. */
export function firstPlace(low: number, high: number, test: (place: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (test(middle)) to = middle
    else from = middle + 1
  }
  return from
}
