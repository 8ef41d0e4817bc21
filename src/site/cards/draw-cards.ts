import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CompiledSite } from '../../compiled.ts'
import { renderCardSvg } from './card-svg.ts'
import { createDrawer } from './create-drawer.ts'
import { toDrawingKey } from './drawing-key.ts'
import { toPageCards } from './link-card.ts'

/** Cards that builds before drew: nothing in them changes from day to day. */
const KEPT = fileURLToPath(new URL('../../../.cache/cards', import.meta.url))

/**
 * Draws the cards of lists, by path in `public/`. A listing's is drawn by the functions when somebody
 * first links to it: most never are.
 */
export async function drawCards({ categories }: CompiledSite): Promise<Map<string, Uint8Array>> {
  const drawer = createDrawer()
  try {
    const drawn = toPageCards(categories.categories).map(async ({ path, card }) => {
      const svg = renderCardSvg(card)
      const file = join(KEPT, `${toDrawingKey(svg)}.png`)
      return [path.slice(1), readKept(file) ?? keep(file, await drawer.draw(svg))] as const
    })
    return new Map(await Promise.all(drawn))
  } finally {
    drawer.rest()
  }
}

function readKept(file: string): Uint8Array | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}

/** Where nothing can be kept, the next build draws again. */
function keep(file: string, png: Uint8Array): Uint8Array {
  try {
    mkdirSync(KEPT, { recursive: true })
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, png)
    renameSync(unfinished, file)
  } catch {}
  return png
}
