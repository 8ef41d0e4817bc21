import type { DeliveredAnswer } from './delivered-answer.ts'

/** First bytes of files, in hex; a dot is any digit. After a bar: last bytes of a complete file. */
const IMAGES = [
  '89504e470d0a|49454e44',
  'ffd8ff|ffd9',
  '47494638',
  '52494646........57454250',
].concat(['424d', '49492a00', '4d4d002a', '00000100', '........66747970', 'ff0a', '38425053'])
const AUDIO = [
  '494433',
  'fffb',
  'fff3',
  'fff2',
  'fffa',
  'fff1',
  'fff9',
  '4f676753',
  '664c6143',
].concat([
  '52494646........57415645',
  '464f524d........41494646',
  '2321414d52',
  '........66747970',
  '1a45dfa3',
])
const VIDEO = [
  '........66747970',
  '........6d6f6f76',
  '1a45dfa3',
  '52494646........41564920',
].concat(['4f676753', '464c56', '000001b.', '47'])

/** Any member of a family is accepted: a WebP in place of a PNG is still an image. */
const FAMILIES = new Map([
  ['image', IMAGES],
  ['audio', AUDIO],
  ['video', VIDEO],
  ['application/pdf', ['255044462d|2525454f46']],
  ['application/zip', ['504b0304|504b0506', '504b0506']],
  ['application/gzip', ['1f8b']],
])

const HEAD_BYTES = 512
/** Covers the comment of a zip and anything writers append to a PDF. */
const TAIL_BYTES = 2048

/** Why an answer of text or bytes is not as declared; null where it is. */
export function findMediaFault(
  declared: string,
  { body }: Pick<DeliveredAnswer, 'body'>,
): { isCut: boolean; text: string } | null {
  const kinds = FAMILIES.get(declared) ?? FAMILIES.get(declared.split('/')[0] ?? '')
  const head = toHex(body.subarray(0, HEAD_BYTES))
  const text = new TextDecoder('latin1').decode(body.subarray(0, HEAD_BYTES))
  const isDrawing = declared.startsWith('image/') && /<svg\b/i.test(text)
  if (isDrawing) return null
  if (kinds !== undefined) return findKindFault(declared, kinds, head, body)
  const isPage = /^(?:ï»¿)?\s*<(?:!doctype html|html\b)/i.test(text)
  if (isPage && !/html|xml/.test(declared))
    return { isCut: false, text: `Expected ${declared}, got a web page.` }
  return null
}

function findKindFault(declared: string, kinds: readonly string[], head: string, body: Uint8Array) {
  const kind = kinds.find((each) => begins(head, each.split('|')[0] ?? ''))
  if (kind === undefined)
    return { isCut: false, text: `Expected ${declared}, got bytes that begin as something else.` }
  const end = kind.split('|')[1] ?? ''
  const isCut = !toHex(body.subarray(-TAIL_BYTES)).includes(end)
  return isCut ? { isCut, text: `The ${declared} ends in the middle.` } : null
}

function begins(hex: string, pattern: string): boolean {
  return [...pattern].every((digit, at) => digit === '.' || digit === hex[at])
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
