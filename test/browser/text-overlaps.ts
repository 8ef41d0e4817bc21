import type { Page } from 'playwright-core'

/**
 * Texts that are printed over each other, `"one" over "other"` each: boxes of lines of different
 * text nodes that meet, as far as both can be seen. Colours and pictures do not matter.
 */
export function findTextOverlaps(page: Page): Promise<string[]> {
  return page.evaluate(findOverlaps)
}

/** Runs in the page, so that it may use nothing from outside of itself. */
function findOverlaps(): string[] {
  const MOST = 5
  interface Line {
    text: string
    layer: Element | null
    left: number
    right: number
    top: number
    bottom: number
  }
  /** What floats above the page may cover it. */
  const layerOf = (element: Element | null): Element | null => {
    if (element === null) return null
    const { position } = getComputedStyle(element)
    const floats = position === 'fixed' || position === 'sticky' || element.matches('dialog')
    return floats ? element : layerOf(element.parentElement)
  }
  /** The part of a line that no box around it cuts off. */
  const cut = (line: Line, element: Element | null): Line => {
    if (element === null) return line
    const { overflowX, overflowY, clipPath } = getComputedStyle(element)
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const within = { ...line }
    if (overflowX !== 'visible' || clipPath !== 'none') {
      within.left = Math.max(line.left, left)
      within.right = Math.min(line.right, right)
    }
    if (overflowY !== 'visible' || clipPath !== 'none') {
      within.top = Math.max(line.top, top)
      within.bottom = Math.min(line.bottom, bottom)
    }
    return cut(within, element.parentElement)
  }
  const toLines = (node: Node): Line[] => {
    const element = node.parentElement
    const text = node.textContent?.trim().slice(0, 40) ?? ''
    const isSeen = element?.checkVisibility({
      opacityProperty: true,
      visibilityProperty: true,
      contentVisibilityAuto: true,
    })
    if (element === null || text === '' || isSeen !== true) return []
    if (element.closest('.visually-hidden, .skip') !== null) return []
    const range = document.createRange()
    range.selectNodeContents(node)
    return [...range.getClientRects()].map((box) => {
      // A font's box is higher than its letters: lines that stand close meet at their edges.
      const edge = box.height / 4
      const { left, right, top, bottom } = box
      const line = { text, layer: layerOf(element), left, right, top, bottom }
      return cut({ ...line, top: top + edge, bottom: bottom - edge }, element)
    })
  }
  const readTexts = (): Node[] => {
    const nodes: Node[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) nodes.push(node)
    return nodes
  }
  const isMet = (line: Line, other: Line) =>
    other.layer === line.layer &&
    other.text !== line.text &&
    other.left < line.right - 1 &&
    other.right > line.left + 1
  const lines = readTexts()
    .flatMap(toLines)
    .filter(({ left, right, top, bottom }) => right - left > 2 && bottom - top > 2)
    .sort((a, b) => a.top - b.top)
  const found = lines.flatMap((line, at) => {
    const end = lines.findIndex(({ top }, next) => next > at && top >= line.bottom - 1)
    const below = lines.slice(at + 1, end === -1 ? lines.length : end)
    return below
      .filter((other) => isMet(line, other))
      .map((other) => `"${other.text}" over "${line.text}"`)
  })
  return [...new Set(found)].slice(0, MOST)
}
