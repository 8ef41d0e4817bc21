import { hash } from 'node:crypto'

let known: Map<string, object> | undefined

/** Makes this process remember what its builds make: the development server builds at each change. */
export function rememberBuilds(): void {
  known ??= new Map()
}

/**
 * What an earlier build in this process made under the same name, if the inputs were the same. A
 * process that builds once remembers nothing.
 * @param from all inputs except code and settings: a digest of them, or one object with all of them
 */
export function recall<Value extends object>(
  name: string,
  from: string | object,
  make: () => Value,
): Value {
  const entry = known?.get(name)
  // Typed `any`; values under one name always have the same type.
  if (entry !== undefined && Reflect.get(entry, 'from') === from) return Reflect.get(entry, 'value')
  const value = make()
  known?.set(name, { from, value })
  return value
}

const digests = new WeakMap<object, string>()

/** The argument `from` of `recall` for tables, which are long and mostly the same objects as in the last build. */
export function digestOf(tables: object): string {
  if (known === undefined) return ''
  const each = Object.values(tables).map((table) => {
    const digest = digests.get(Object(table)) ?? hash('sha256', JSON.stringify(table) ?? '')
    if (typeof table === 'object' && table !== null) digests.set(table, digest)
    return digest
  })
  return hash('sha256', each.join(' '))
}
