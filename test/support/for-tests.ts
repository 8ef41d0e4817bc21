import { afterAll, beforeAll } from 'vitest'

/**
 * What `open` gives, for all tests of the file or `describe` that calls this: opened before the first of
 * them, then closed. Several open in the order written and close in the other.
 */
export function forAllTests<Opened extends { close(): unknown }>(
  open: () => Promise<Opened>,
): Opened {
  const opened = {} as Opened // filled in before the first test
  beforeAll(async () => {
    Object.assign(opened, await open())
  })
  afterAll(() => opened.close())
  return opened
}
