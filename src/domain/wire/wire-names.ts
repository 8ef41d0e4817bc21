/** Snake case, and milliseconds as seconds. @example { graceMs: 10_000 } → { grace_seconds: 10 } */
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
