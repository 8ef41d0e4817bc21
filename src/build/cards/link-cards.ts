import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { toXmlText } from '../../components/frame/html.ts'
import { KIND_ORDER, KIND_TEXTS } from '../../components/rows/kind-texts.ts'
import {
  type DirectoryPart,
  type SiteNames,
  type Switches,
  toMissingParts,
} from '../../domain/derived/tables.ts'
import { CARD_HEIGHT, CARD_WIDTH, categoryCardPath, kindCardPath } from '../../domain/wire/links.ts'
import type { Kind } from '../../domain/wire/vocabulary.ts'

interface Category {
  id: string
  name: string
  description: string
}

/**
 * The previews of links that a build draws, as SVG: a sign for the directory, for each kind (its
 * listings show it too) and for each category.
 */
export function toLinkCards(
  categories: readonly Category[],
  { name, strapline }: SiteNames,
  switches: Partial<Switches>,
): { path: string; svg: string }[] {
  const missing = toMissingParts(switches)
  const facts = STATUS_FACTS.filter(({ part }) => !missing.includes(part))
  const draw = (title: string, words: string, arm: LinkCard['arm']) =>
    renderCardSvg({ title, words, arm, facts, brand: name })
  return [
    { path: '/og.png', svg: draw(name, strapline, null) },
    ...KIND_ORDER.map((kind) => {
      const { plural, text } = KIND_TEXTS[kind]
      const [letters = ''] = plural.split(' ')
      const arm = { kind, letters }
      return { path: kindCardPath(kind), svg: draw(plural, text, arm) }
    }),
    ...categories.map(({ id, name, description }) => ({
      path: categoryCardPath(id),
      svg: draw(name, description, null),
    })),
  ]
}

interface Fact {
  part: DirectoryPart
  label: string
  value: string
}

/** On every card: they do not change with the content, so neither do the drawings. */
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
  /** The arm beside the title; null draws our own mark. */
  arm: { kind: Kind; letters: string } | null
  facts: readonly Fact[]
  /** Whose directory it is; also the title in place of one that the face has no letters for. */
  brand: string
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
const FACT_SIZES = [56, 48, 42, 36, 30]
/** Left edges of the facts, and the width of each. */
const FACT_PLACES = [
  { x: 112, width: 275 },
  { x: 412, width: 410 },
  { x: 850, width: 240 },
] as const

/**
 * Names of a directory's own are escaped, cut to fit and left out where the face has no glyphs for
 * them; nothing refers to external resources.
 */
function renderCardSvg({ title, words, arm, facts, brand }: LinkCard): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" font-family="Overpass" fill="#fff">`,
    `<path d="M0 0h${CARD_WIDTH}v${CARD_HEIGHT}H0z" fill="${PAPER}"/><path d="M178 540h34v90h-34zM988 540h34v90h-34z" fill="${POST}"/>`,
    `<rect x="790" y="34" width="340" height="92" rx="20" fill="${SIGN}"/><rect x="797" y="41" width="326" height="92" rx="14" fill="none" stroke="#fff" stroke-width="5"/>`,
    `<rect x="60" y="112" width="1080" height="440" rx="34" fill="${SIGN}"/><rect x="69" y="121" width="1062" height="422" rx="27" fill="none" stroke="#fff" stroke-width="6"/>`,
    `<g text-anchor="middle">${text(TAB, { x: 960, y: 97, size: 38, weight: 800 })}</g>`,
    ...renderWords(toWritable(title) ?? brand, words),
    renderArm(arm),
    facts.length === 0 ? '' : `<path d="M112 384h976" stroke="${RULE}" stroke-width="2"/>`,
    ...renderFacts(facts),
    `<g fill="${DARK}"><g transform="translate(236 566) scale(1.5)">${MARK}</g>${text(cutToWidth(brand, 800, 36, 400), { x: 284, y: 600, size: 36, weight: 800 })}`,
    `<g text-anchor="end">${text(FOOT, { x: 966, y: 600, size: 27, weight: 500 })}</g></g></svg>`,
  ].join('')
}

function renderArm(arm: LinkCard['arm']): string {
  if (arm === null) return `<g transform="translate(136 178) scale(5.4)">${MARK}</g>`
  const { path, middle } = ARMS[arm.kind]
  return [
    `<path d="${path}"/>`,
    `<g text-anchor="middle" fill="${DARK}">${text(arm.letters, { x: middle, y: 266, size: 50, weight: 800 })}</g>`,
  ].join('')
}

/** A name on one line where it fits, else on two, and two lines of words under it. */
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

/** All in one size, so that they read as one line. */
function renderFacts(facts: LinkCard['facts']): string[] {
  const roomOf = (place: number) => FACT_PLACES[place]?.width ?? 0
  const fits = (size: number) =>
    facts.every(({ value }, place) => widthOf(value, 800, size) <= roomOf(place))
  const size = FACT_SIZES.find(fits) ?? 30
  return facts.map(({ label, value }, place) => {
    const { x } = FACT_PLACES[place] ?? FACT_PLACES[0]
    return `<g fill="${SOFT}">${text(label, { x, y: 432, size: 29, weight: 500 })}</g>${text(value, { x, y: 494, size, weight: 800 })}`
  })
}

function text(
  words: string,
  { x, y, size, weight }: { x: number; y: number; size: number; weight: Weight },
): string {
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}">${toXmlText(words)}</text>`
}

/**
 * Glyphs and widths of the drawn face: `overpass-500.ttf` and `overpass-800.ttf` beside this file,
 * which are the site's own face at two weights (SIL Open Font License 1.1, see
 * `src/assets/overpass-OFL.txt`). Read from their tables once; both sets are the same.
 */
const CHARACTERS =
  ' !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\u00a0\u00a1\u00a2\u00a3\u00a4\u00a5\u00a6\u00a7\u00a8\u00a9\u00aa\u00ab\u00ac\u00ae\u00af\u00b0\u00b1\u00b2\u00b3\u00b4\u00b5\u00b6\u00b7\u00b8\u00b9\u00ba\u00bb\u00bc\u00bd\u00be\u00bf\u00c0\u00c1\u00c2\u00c3\u00c4\u00c5\u00c6\u00c7\u00c8\u00c9\u00ca\u00cb\u00cc\u00cd\u00ce\u00cf\u00d0\u00d1\u00d2\u00d3\u00d4\u00d5\u00d6\u00d7\u00d8\u00d9\u00da\u00db\u00dc\u00dd\u00de\u00df\u00e0\u00e1\u00e2\u00e3\u00e4\u00e5\u00e6\u00e7\u00e8\u00e9\u00ea\u00eb\u00ec\u00ed\u00ee\u00ef\u00f0\u00f1\u00f2\u00f3\u00f4\u00f5\u00f6\u00f7\u00f8\u00f9\u00fa\u00fb\u00fc\u00fd\u00fe\u00ff\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2212'

/** Widths in thousandths of the font size, one for each character. */
const WIDTHS = {
  500: [
    240, 282, 416, 690, 594, 864, 688, 224, 353, 353, 540, 642, 233, 404, 231, 501, 648, 382, 612,
    602, 628, 618, 603, 527, 617, 603, 231, 231, 642, 642, 642, 513, 818, 692, 668, 644, 692, 608,
    566, 686, 707, 288, 550, 676, 562, 806, 712, 728, 633, 728, 674, 604, 590, 696, 662, 842, 628,
    656, 646, 382, 501, 382, 642, 492, 400, 536, 567, 514, 567, 544, 342, 568, 572, 264, 264, 540,
    272, 856, 572, 561, 570, 568, 398, 477, 383, 572, 528, 726, 537, 542, 518, 376, 282, 376, 642,
    240, 280, 526, 600, 640, 580, 282, 534, 400, 856, 449, 530, 642, 856, 400, 412, 642, 366, 364,
    400, 578, 637, 231, 400, 208, 467, 530, 694, 737, 822, 513, 692, 692, 692, 692, 692, 692, 876,
    644, 608, 608, 608, 608, 288, 288, 288, 288, 692, 712, 728, 728, 728, 728, 728, 642, 728, 696,
    696, 696, 696, 656, 636, 568, 536, 536, 536, 536, 536, 536, 856, 514, 544, 544, 544, 544, 264,
    264, 264, 264, 561, 572, 561, 561, 561, 561, 561, 642, 561, 572, 572, 572, 572, 542, 570, 542,
    507, 587, 233, 233, 450, 450, 980, 642,
  ],
  800: [
    255, 309, 456, 708, 609, 845, 722, 256, 382, 382, 558, 633, 257, 420, 249, 533, 663, 409, 611,
    599, 650, 608, 620, 541, 635, 620, 249, 249, 633, 633, 633, 509, 842, 730, 702, 636, 720, 632,
    579, 679, 728, 300, 561, 724, 568, 811, 722, 720, 641, 720, 698, 618, 608, 720, 692, 850, 703,
    698, 636, 398, 533, 398, 633, 498, 498, 568, 582, 555, 582, 564, 372, 582, 602, 292, 292, 568,
    300, 886, 602, 569, 582, 582, 426, 500, 397, 602, 573, 759, 597, 581, 556, 387, 310, 387, 633,
    255, 308, 558, 606, 658, 620, 310, 534, 498, 847, 445, 576, 633, 847, 498, 418, 633, 376, 362,
    498, 606, 655, 249, 498, 234, 466, 576, 732, 770, 850, 509, 730, 730, 730, 730, 730, 730, 922,
    636, 632, 632, 632, 632, 300, 300, 300, 300, 720, 722, 720, 720, 720, 720, 720, 633, 720, 720,
    720, 720, 720, 698, 650, 583, 568, 568, 568, 568, 568, 568, 856, 555, 564, 564, 564, 564, 292,
    292, 292, 292, 569, 602, 569, 569, 569, 569, 569, 633, 569, 602, 602, 602, 602, 581, 582, 581,
    498, 578, 257, 257, 500, 500, 1094, 633,
  ],
} as const

type Weight = keyof typeof WIDTHS

const PLACES = new Map([...CHARACTERS].map((character, place) => [character, place]))

/**
 * The text as the face can write it: white space as one space, without characters that have no
 * glyph. Null where too little would be left, as in another script.
 *
 * @example toWritable('Tidewise 🌊') → 'Tidewise'; toWritable('天気') → null
 */
function toWritable(text: string): string | null {
  const characters = [...text.normalize('NFC').replace(/\s+/g, ' ').trim()]
  const known = characters.filter((character) => PLACES.has(character))
  const written = known.join('').replace(/ +/g, ' ').trim()
  return /[\p{L}\p{N}]/u.test(written) && known.length * 4 >= characters.length * 3 ? written : null
}

/** Width of a text in pixels; kerning is ignored, so the real width is a little less. */
export function widthOf(text: string, weight: Weight, size: number): number {
  let thousandths = 0
  for (const character of text) thousandths += WIDTHS[weight][PLACES.get(character) ?? 0] ?? 0
  return (thousandths * size) / 1000
}

/** The longest beginning that fits, with an ellipsis where something is cut. */
function cutToWidth(text: string, weight: Weight, size: number, width: number): string {
  if (widthOf(text, weight, size) <= width) return text
  const characters = [...text]
  while (characters.length > 1 && widthOf(`${characters.join('')}…`, weight, size) > width)
    characters.pop()
  return `${characters.join('').trimEnd()}…`
}

/** Lines of at most this width, the last one cut; a word longer than a line is broken. */
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
  // One word is wider than the line.
  for (const character of text) {
    if (!fits(line + character)) break
    line += character
  }
  return line === '' ? ([...text][0] ?? '') : line
}

/** Files that decide what a drawing looks like. */
const LIBRARY = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')
const FACES = ['overpass-500.ttf', 'overpass-800.ttf'].map((file) => new URL(file, import.meta.url))

let prepared: Promise<Uint8Array[]> | undefined

/** Draws SVG to PNG, in a tenth of a second. Only a build does: it has some thirty to draw. */
export async function drawCard(svg: string): Promise<Uint8Array> {
  prepared ??= initWasm(readFileSync(LIBRARY)).then(() => FACES.map((face) => readFileSync(face)))
  const fontBuffers = await prepared
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Overpass' } })
  const image = drawing.render()
  const png = image.asPng()
  image.free()
  drawing.free()
  return png
}

let drawnWith: string | undefined

/** Names a drawing by all its inputs: the same key means the same bytes. 32 hex characters. */
export function toDrawingKey(svg: string): string {
  drawnWith ??= digest([LIBRARY, ...FACES].map((file) => readFileSync(file)))
  return digest([drawnWith, svg]).slice(0, 32)
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
