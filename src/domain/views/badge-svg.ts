import { toXmlText } from '../wire/escape.ts'
import { cutText } from '../wire/text.ts'
import { BADGE_COLORS, type BadgeView } from './listing-view.ts'

const HEIGHT = 20
const PADDING = 6
const MARK_WIDTH = 15
/** How far the tip of the arm (right) reaches into the post (left), in pixels. */
const POINT = 7
const MARK =
  '<g fill="#8fe0b8"><path d="M10 3h1.4v14H10z" opacity=".6"/><path d="M6 4.2h8l3 2.3-3 2.3H6z"/><path d="M16 10.6H8.6l-2.8 2 2.8 2H16z" opacity=".7"/></g>'
/** Longer texts are cut: a badge shares its line with others. */
const MAX_CHARACTERS = 48

/**
 * A sign's arm on its post, 20 px high: no script, no outside reference, a title for screen readers.
 * Widths are estimated and then forced with `textLength`, so that the badge looks the same in any font.
 * @param known a sentence for its title
 * @param hasSign false for a directory with its own mark, which does not show our sign
 */
export function renderBadgeSvg(badge: BadgeView, known = '', hasSign = true): string {
  const { left, right, leftText, rightText, start, leftWidth, width } = layOut(badge, hasSign)
  const title = toXmlText(`${left}: ${right}${known && `. ${known}`}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${HEIGHT}" rx="3" fill="#17221d"/>`,
    `<path d="M${leftWidth + POINT} 0H${width - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${leftWidth + POINT}l-${POINT}-10z" fill="#${BADGE_COLORS[badge.tone]}"/>`,
    hasSign ? MARK : '',
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">',
    toTextNode(left, start, leftText),
    toTextNode(right, leftWidth + POINT + PADDING, rightText),
    '</g></svg>\n',
  ].join('')
}

/** A badge's width in pixels; a page that declares it does not shift when the image loads. */
export function badgeWidthOf(badge: BadgeView, hasSign: boolean): number {
  return layOut(badge, hasSign).width
}

function layOut({ label, message }: BadgeView, hasSign: boolean) {
  const left = cutText(label, MAX_CHARACTERS)
  const right = cutText(message, MAX_CHARACTERS)
  const leftText = estimateWidth(left)
  const rightText = estimateWidth(right)
  const start = PADDING + (hasSign ? MARK_WIDTH : 0)
  const leftWidth = start + leftText + PADDING
  return {
    left,
    right,
    leftText,
    rightText,
    start,
    leftWidth,
    width: leftWidth + POINT + PADDING + rightText + PADDING,
  }
}

function toTextNode(text: string, x: number, width: number): string {
  return `<text x="${x}" y="14" textLength="${width}" lengthAdjust="spacingAndGlyphs">${toXmlText(text)}</text>`
}

/** Approximate width of a text in Verdana 11 (pixels); wide scripts and emoji take a full em. */
function estimateWidth(text: string): number {
  let width = 0
  for (const character of text) width += widthOf(character)
  return Math.max(1, Math.round(width))
}

function widthOf(character: string): number {
  if (/[ilj.,:;|!'()[\]]/.test(character)) return 4.2
  if (/[frt -]/.test(character)) return 4.9
  if (/[mwMW@%]/.test(character)) return 10.2
  if (/[A-Z0-9]/.test(character)) return 7.3
  return character <= '\u02ff' ? 6.7 : 11
}
