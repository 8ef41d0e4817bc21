import { toXmlText } from './xml-text.ts'

/** Fills dark enough that white 11 px text on them has a contrast of at least 4.5:1. */
const FILLS = {
  accent: '#0b6b50',
  strong: '#084c39',
  neutral: '#5a6057',
  muted: '#6b7168',
} as const
export type BadgeTone = keyof typeof FILLS

export interface Badge {
  label: string
  message: string
  tone: BadgeTone
}

const HEIGHT = 20
const PADDING = 6
const MARK_WIDTH = 14
/** Longer texts are cut: a badge stands in a line of others. */
const MAX_CHARACTERS = 48

/**
 * A flat badge, 20 px high: no script, no outside reference, a title for screen readers.
 * Widths are estimated and then forced with `textLength`, so that it looks the same whatever
 * font the viewer has.
 */
export function renderBadgeSvg({ label, message, tone }: Badge): string {
  const { left, right, leftText, rightText, leftWidth, width } = layOut(label, message)
  const title = toXmlText(`${left}: ${right}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${leftWidth}" height="${HEIGHT}" fill="#22272a"/>`,
    `<rect x="${leftWidth}" width="${width - leftWidth}" height="${HEIGHT}" fill="${FILLS[tone]}"/></g>`,
    `<path d="M${PADDING + 4} 4v12M${PADDING} 6h7l2 2-2 2h-7z" fill="#5cd3a8" stroke="#5cd3a8" stroke-width="1"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">',
    toTextNode(left, PADDING + MARK_WIDTH, leftText),
    toTextNode(right, leftWidth + PADDING, rightText),
    '</g></svg>\n',
  ].join('')
}

/** Pixels a badge is wide; a page that says so in advance does not jump when the image comes. */
export function badgeWidthOf({ label, message }: Badge): number {
  return layOut(label, message).width
}

function layOut(label: string, message: string) {
  const left = cut(label)
  const right = cut(message)
  const leftText = estimateWidth(left)
  const rightText = estimateWidth(right)
  const leftWidth = PADDING + MARK_WIDTH + leftText + PADDING
  return {
    left,
    right,
    leftText,
    rightText,
    leftWidth,
    width: leftWidth + PADDING + rightText + PADDING,
  }
}

function toTextNode(text: string, x: number, width: number): string {
  return `<text x="${x}" y="14" textLength="${width}" lengthAdjust="spacingAndGlyphs">${toXmlText(text)}</text>`
}

function cut(text: string): string {
  const characters = [...text]
  return characters.length <= MAX_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}

/** Pixels of a text in Verdana 11, near enough; wide scripts and emoji take a full em. */
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
