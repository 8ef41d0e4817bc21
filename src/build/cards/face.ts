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

export type Weight = keyof typeof WIDTHS

const PLACES = new Map([...CHARACTERS].map((character, place) => [character, place]))

/**
 * The text as the face can write it: white space as one space, without characters that have no
 * glyph. Null where too little would be left, as in another script.
 *
 * @example toWritable('Tidewise 🌊') → 'Tidewise'; toWritable('天気') → null
 */
export function toWritable(text: string): string | null {
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
export function cutToWidth(text: string, weight: Weight, size: number, width: number): string {
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
