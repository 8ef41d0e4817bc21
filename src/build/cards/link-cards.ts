import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { create } from 'fontkitten'
import { KIND_ORDER, KIND_TEXTS } from '../../components/rows/kind-texts.ts'
import { toMonogram } from '../../components/rows/tile.ts'
import {
  type DirectoryPart,
  type SiteNames,
  type Switches,
  toMissingParts,
} from '../../domain/derived/tables.ts'
import { toXmlText } from '../../domain/wire/escape.ts'
import { CARD_HEIGHT, CARD_WIDTH, categoryCardPath, kindCardPath } from '../../domain/wire/links.ts'
import type { Kind } from '../../domain/wire/vocabulary.ts'

interface Category {
  id: string
  name: string
  description: string
}

/**
 * The link previews that a build draws, as SVG: a sign for the directory, one for each kind (which
 * listings of that kind show too) and one for each category.
 */
export function toLinkCards(
  categories: readonly Category[],
  { name, strapline, mark }: SiteNames,
  switches: Partial<Switches>,
): { path: string; svg: string }[] {
  const missing = toMissingParts(switches)
  const facts = STATUS_FACTS.filter(({ part }) => !missing.includes(part))
  const sign = mark === undefined ? MARK : ''
  const face = sign === '' ? { kind: 'kit' as const, letters: toMonogram(name) } : null
  const draw = (title: string, words: string, arm: LinkCard['arm']) =>
    renderCardSvg({ title, words, arm, facts, brand: name, sign })
  return [
    { path: '/og.png', svg: draw(name, strapline, face) },
    ...KIND_ORDER.map((kind) => {
      const { plural, text } = KIND_TEXTS[kind]
      const [letters = ''] = plural.split(' ')
      const arm = { kind, letters }
      return { path: kindCardPath(kind), svg: draw(plural, text, arm) }
    }),
    ...categories.map(({ id, name, description }) => ({
      path: categoryCardPath(id),
      svg: draw(name, description, face),
    })),
  ]
}

interface Fact {
  part: DirectoryPart
  label: string
  value: string
}

/** The facts on every card do not depend on the content, so the drawings change rarely. */
const STATUS_FACTS: readonly Fact[] = [
  { part: 'payments', label: 'Pays with', value: 'x402, MPP' },
  { part: 'trust', label: 'Trust from', value: 'payments' },
  { part: 'business_model', label: 'Placements sold', value: 'none' },
]
const TAB = 'Directory'
const FOOT = 'services for agents'

interface LinkCard {
  title: string
  words: string
  /** The arm next to the title; null draws the sign. */
  arm: { kind: Kind; letters: string } | null
  facts: readonly Fact[]
  /** The directory's name; also the title if the font lacks letters for it. */
  brand: string
  /** Our sign; empty for a directory with its own mark. */
  sign: string
}

const PAPER = '#eef1ec'
const POST = '#93a39a'
const SIGN = '#1d573d'
const DARK = '#14402c'
const SOFT = '#c4dfd0'
const RULE = '#5f927a'

/** Outline of an arm between 112,186 and 296,310, and where its letters are centred. */
const ARMS: Record<Kind, { path: string; middle: number }> = {
  http_api: { path: 'M112 186h128l56 62-56 62H112z', middle: 190 },
  mcp_server: { path: 'M149 186h110l37 62-37 62H149l-37-62z', middle: 204 },
  a2a_agent: { path: 'M112 186h140l44 62-44 62H112l40-62z', middle: 210 },
  kit: { path: 'M112 186h144l40 35v89H112z', middle: 204 },
}
const MARK =
  '<path d="M11 0h2v26h-2z" opacity=".55"/><path d="M3 2.5h14l5.5 4-5.5 4H3z"/><path d="M21 13.5H7.5l-5 3.7 5 3.8H21z" opacity=".62"/>'

const NAME = { width: 758, sizes: [80, 72, 64], size: 56, weight: 800, lines: 2 } as const
const WORDS = { size: 33, weight: 500, width: 758, lines: 2 } as const
/** Left edges of the facts. */
const FACT_PLACES = [112, 412, 850]

/**
 * A directory's own names are escaped, cut to fit and left out if the font has no glyphs for them;
 * nothing refers to external resources.
 */
function renderCardSvg({ title, words, arm, facts, brand, sign }: LinkCard): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" font-family="Overpass" fill="#fff">`,
    `<path d="M0 0h${CARD_WIDTH}v${CARD_HEIGHT}H0z" fill="${PAPER}"/><path d="M178 540h34v90h-34zM988 540h34v90h-34z" fill="${POST}"/>`,
    `<rect x="790" y="34" width="340" height="92" rx="20" fill="${SIGN}"/><rect x="797" y="41" width="326" height="92" rx="14" fill="none" stroke="#fff" stroke-width="5"/>`,
    `<rect x="60" y="112" width="1080" height="440" rx="34" fill="${SIGN}"/><rect x="69" y="121" width="1062" height="422" rx="27" fill="none" stroke="#fff" stroke-width="6"/>`,
    `<g text-anchor="middle">${text(TAB, { x: 960, y: 97, size: 38, weight: 800 })}</g>`,
    ...renderWords(toWritable(title) ?? brand, words),
    renderArm(arm, sign),
    facts.length === 0 ? '' : `<path d="M112 384h976" stroke="${RULE}" stroke-width="2"/>`,
    ...renderFacts(facts),
    `<g fill="${DARK}"><g transform="translate(236 566) scale(1.5)">${sign}</g>${text(cutToWidth(brand, 800, 36, 400), { x: 284, y: 600, size: 36, weight: 800 })}`,
    `<g text-anchor="end">${text(FOOT, { x: 966, y: 600, size: 27, weight: 500 })}</g></g></svg>`,
  ].join('')
}

function renderArm(arm: LinkCard['arm'], sign: string): string {
  if (arm === null) return `<g transform="translate(136 178) scale(5.4)">${sign}</g>`
  const { path, middle } = ARMS[arm.kind]
  return [
    `<path d="${path}"/>`,
    `<g text-anchor="middle" fill="${DARK}">${text(arm.letters, { x: middle, y: 266, size: 50, weight: 800 })}</g>`,
  ].join('')
}

/** Draws a name on one line if it fits, else on two, with two lines of words under it. */
function renderWords(name: string, words: string): string[] {
  const size = NAME.sizes.find((each) => widthOf(name, NAME.weight, each) <= NAME.width)
  const names = size === undefined ? wrapToWidth(name, NAME) : [name]
  const top = names.length > 1 ? 198 : 238
  const written = toWritable(words)
  const end = top + (names.length - 1) * NAME.size
  const lines = written === null ? [] : wrapToWidth(written, WORDS)
  return [
    ...names.map((line, place) =>
      text(line, { x: 330, y: top + NAME.size * place, size: size ?? NAME.size, weight: 800 }),
    ),
    `<g fill="${SOFT}">`,
    ...lines.map((line, place) => text(line, { x: 332, y: end + 56 + 42 * place, ...WORDS })),
    '</g>',
  ]
}

function renderFacts(facts: LinkCard['facts']): string[] {
  return facts.map(({ label, value }, place) => {
    const x = FACT_PLACES[place] ?? 0
    return `<g fill="${SOFT}">${text(label, { x, y: 432, size: 29, weight: 500 })}</g>${text(value, { x, y: 494, size: 48, weight: 800 })}`
  })
}

function text(
  words: string,
  { x, y, size, weight }: { x: number; y: number; size: number; weight: Weight },
): string {
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}">${toXmlText(words)}</text>`
}

/**
 * The site's own font at two weights (SIL Open Font License 1.1, see
 * `src/assets/overpass-OFL.txt`). Both weights have the same characters.
 */
const FILES = {
  500: readFileSync(new URL('overpass-500.ttf', import.meta.url)),
  800: readFileSync(new URL('overpass-800.ttf', import.meta.url)),
}
type Weight = keyof typeof FILES
const FACES = { 500: readFace(FILES[500]), 800: readFace(FILES[800]) }

function readFace(file: Buffer) {
  const face = create(file)
  if ('fonts' in face) throw new Error('expected a file with one font, got a collection of fonts')
  return face
}

/**
 * The text as the font can draw it: white space as one space, without characters that have no
 * glyph. Null if too little would be left, as in another script.
 * @example toWritable('Tidewise 🌊') → 'Tidewise'; toWritable('天気') → null
 */
function toWritable(text: string): string | null {
  const characters = [...text.normalize('NFC').replace(/\s+/g, ' ').trim()]
  const known = characters.filter((character) =>
    FACES[800].hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  )
  const written = known.join('').replace(/ +/g, ' ').trim()
  return /[\p{L}\p{N}]/u.test(written) && known.length * 4 >= characters.length * 3 ? written : null
}

/** Width of a text in pixels; kerning is ignored, so the real width is a little less. */
export function widthOf(text: string, weight: Weight, size: number): number {
  const face = FACES[weight]
  const widths = [...text].map(
    (character) => face.glyphForCodePoint(character.codePointAt(0) ?? 0).advanceWidth,
  )
  return (widths.reduce((sum, width) => sum + width, 0) * size) / face.unitsPerEm
}

/** The longest beginning that fits, with an ellipsis if something is cut. */
function cutToWidth(text: string, weight: Weight, size: number, width: number): string {
  if (widthOf(text, weight, size) <= width) return text
  const characters = [...text]
  while (characters.length > 1 && widthOf(`${characters.join('')}…`, weight, size) > width)
    characters.pop()
  return `${characters.join('').trimEnd()}…`
}

/** Lines of at most this width, the last line cut; a word longer than a line is broken. */
export function wrapToWidth(
  text: string,
  { weight, size, width, lines }: { weight: Weight; size: number; width: number; lines: number },
): string[] {
  const wrapped: string[] = []
  let rest = text
  while (rest !== '' && wrapped.length < lines - 1) {
    const line = takeLine(rest, (part) => widthOf(part, weight, size) <= width)
    wrapped.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  return rest === '' ? wrapped : [...wrapped, cutToWidth(rest, weight, size, width)]
}

function takeLine(text: string, fits: (part: string) => boolean): string {
  let line = ''
  for (const word of text.split(/(?<= )/)) {
    if (!fits((line + word).trimEnd())) break
    line += word
  }
  if (line !== '') return line
  // A single word is wider than the line.
  for (const character of text) {
    if (!fits(line + character)) break
    line += character
  }
  return line === '' ? ([...text][0] ?? '') : line
}

let prepared: Promise<void> | undefined

/** Draws SVG as PNG in a tenth of a second. Only builds draw: each has some thirty cards. */
export async function drawCard(svg: string): Promise<Uint8Array> {
  prepared ??= initWasm(readFileSync(createRequire(import.meta.url).resolve(LIBRARY)))
  await prepared
  const fontBuffers = Object.values(FILES)
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Overpass' } })
  const image = drawing.render()
  const png = image.asPng()
  image.free()
  drawing.free()
  return png
}
const LIBRARY = '@resvg/resvg-wasm/index_bg.wasm'
