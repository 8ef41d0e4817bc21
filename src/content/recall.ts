import { hash } from 'node:crypto'

let known: Map<string, object> | undefined

/** From now on this process remembers what it makes for a build: the development server, which builds at each change. */
export function rememberBuilds(): void {
  known ??= new Map()
}

/**
 * What an earlier build of this process made for the same name, if it was from the same inputs. A
 * process that builds once remembers nothing.
 *
 * @param from all inputs but code and settings, or a digest of them, or the one object they are all in
 */
export function recall<Value extends object>(
  name: string,
  from: string | object,
  make: () => Value,
): Value {
  const entry = known?.get(name)
  // Typed `any`: under one name is one kind of value.
  if (entry !== undefined && Reflect.get(entry, 'from') === from) return Reflect.get(entry, 'value')
  const value = make()
  known?.set(name, { from, value })
  return value
}

const digests = new WeakMap<object, string>()

/** For `from`: of tables, which are long, and mostly the same objects as in the build before. */
export function digestOf(tables: object): string {
  if (known === undefined) return ''
  const each = Object.values(tables).map((table) => {
    const digest = digests.get(Object(table)) ?? hash('sha256', JSON.stringify(table) ?? '')
    if (typeof table === 'object' && table !== null) digests.set(table, digest)
    return digest
  })
  return hash('sha256', each.join(' '))
}
