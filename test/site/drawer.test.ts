import { expect, test } from 'vitest'
import { createDrawer } from '../../src/site/cards/create-drawer.ts'

const PNG = [0x89, 0x50, 0x4e, 0x47]

function square(size: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><path d="M0 0h4v4z"/></svg>`
}

test('a drawer draws one picture after another in one thread, and goes on after a rest', async () => {
  const drawer = createDrawer()
  const drawn = await Promise.all([8, 16, 24].map((size) => drawer.draw(square(size))))
  drawer.rest()
  drawn.push(await drawer.draw(square(32)))
  drawer.rest()
  expect(drawn.map((png) => [...png.subarray(0, 4)])).toEqual([PNG, PNG, PNG, PNG])
  expect(drawn.map((png) => Buffer.from(png).readUInt32BE(16))).toEqual([8, 16, 24, 32])
})

test('a drawing that fails says so, and the next one is drawn', async () => {
  const drawer = createDrawer()
  await expect(drawer.draw('no picture')).rejects.toThrow()
  await expect(drawer.draw(square(8))).resolves.toBeInstanceOf(Uint8Array)
  drawer.rest()
})
