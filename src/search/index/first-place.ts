/** The first place in `[low, high)` for which a test holds that then holds for all behind it; `high` for none. */
export function firstPlace(low: number, high: number, test: (place: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (test(middle)) to = middle
    else from = middle + 1
  }
  return from
}
