/**
 * Names and times of our code as the wire has them: snake case, and milliseconds as seconds.
 *
 * @example toWireNames({ upload: { graceMs: 10_000 } }) → { upload: { grace_seconds: 10 } }
 */
export function toWireNames(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const shown = name
        .replace(/Ms$/, 'Seconds')
        .replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)
      if (typeof value === 'object') return [shown, toWireNames(value)]
      return [shown, name.endsWith('Ms') ? value / 1000 : value]
    }),
  )
}
