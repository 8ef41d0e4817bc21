import { afterAll, beforeAll } from 'vitest'

/**
 * What `open` gives, for all tests of the file or `describe` that calls this: opened before the first of
 * them, then closed. Several open in the order written and close in the other.
 */
export function forAllTests<Opened extends { close(): unknown }>(
  open: () => Promise<Opened>,
): Opened {
  let opened = {} as Opened // there before the first test
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())
  return new Proxy(opened, {
    get: (_, key) => Reflect.get(opened, key),
    set: (_, key, value) => Reflect.set(opened, key, value),
  })
}
