import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const PATH = /<path d="([^"]+)"\/>/
const require = createRequire(import.meta.url)

/**
 * A brand's mark as simple-icons draws it, on a square of 24. Its path has the id `m`, so that a page
 * draws it with `<use>` in the colour of its text.
 *
 * @throws when simple-icons has no such mark
 */
export function toMarkSvg(mark: string): string {
  const path = PATH.exec(readIcon(mark))?.[1]
  if (path === undefined)
    throw new Error(`tables/marks.yaml: expected an id of simple-icons, got ${mark}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path id="m" d="${path}"/></svg>`
}

function readIcon(mark: string): string {
  try {
    return readFileSync(require.resolve(`simple-icons/icons/${mark}.svg`), 'utf8')
  } catch {
    return ''
  }
}
