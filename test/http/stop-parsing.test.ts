import { expect, test } from 'vitest'
import { assertParserStops } from '../../functions/server/connections.ts'

test('this Node stops reading a connection when it is told to', () => {
  expect(() => assertParserStops()).not.toThrow()
})

test('a Node whose parser goes on is refused at the start, and the message says which to run', () => {
  const without = (socket: object) => void Reflect.set(socket, 'parser', undefined)
  for (const stop of [() => {}, without])
    expect(() => assertParserStops(stop)).toThrow(
      /Node v\d+.* parsed 3 of three .* instead of one.*npm ci/,
    )
})
