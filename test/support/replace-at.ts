/** A copy in which the value at a path, of members or places with dots between, is another; or none. */
export function replaceAt<Whole extends object>(whole: Whole, path: string, value: unknown): Whole {
  const copy = structuredClone(whole)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  const holder = keys.reduce<object>((at, key) => Reflect.get(at, key), copy)
  if (value === undefined) Reflect.deleteProperty(holder, last)
  else Reflect.set(holder, last, value)
  return copy
}
