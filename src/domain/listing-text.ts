import * as v from 'valibot'

/**
 * Rules for text that people read: names, summaries, tags. Everything legal comes through as it is
 * (HTML, quotes, CJK, right-to-left letters, emoji); what deceives the reader is refused.
 */
export const MAX_NAME_LENGTH = 80
export const MAX_SUMMARY_LENGTH = 200
export const MAX_TAG_LENGTH = 60

export const NameSchema = lineOfText(MAX_NAME_LENGTH)
export const SummarySchema = lineOfText(MAX_SUMMARY_LENGTH)
export const TagSchema = lineOfText(MAX_TAG_LENGTH)
/** What one HTTP endpoint does. */
export const EndpointTextSchema = lineOfText(300)

/**
 * @returns what is wrong with a line of text, or null.
 * @example findTextFault('P\u0430yPal') → 'expected one script in a word, got Latin mixed with Cyrillic in "Pаypal"'
 */
export function findTextFault(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text))
    return 'expected one line without control characters'
  if (/[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u.test(text))
    return 'expected no invisible or direction-changing characters'
  if (!text.isWellFormed() || text.includes('\ufffd'))
    return 'expected readable Unicode text, got broken characters'
  return findMixedScript(text)
}

/** A Latin word with one Cyrillic or Greek letter is how a name is forged (UTS 39). */
function findMixedScript(text: string): string | null {
  for (const word of text.match(/[\p{L}\p{M}]+/gu) ?? []) {
    const hasLatin = /\p{Script=Latin}/u.test(word)
    const other = /\p{Script=Cyrillic}/u.test(word)
      ? 'Cyrillic'
      : /\p{Script=Greek}/u.test(word)
        ? 'Greek'
        : null
    // Greek letters are ordinary in units and formulas (µm is Latin-1; μm and Ωm are Greek).
    const isUnit = other === 'Greek' && word.length <= 3
    if (hasLatin && other !== null && !isUnit)
      return `expected one script in a word, got Latin mixed with ${other} in ${JSON.stringify(word)}`
  }
  return null
}

function lineOfText(maxLength: number) {
  return v.pipe(
    v.string('expected text'),
    v.check((text) => text.trim() !== '', 'expected text, got nothing'),
    v.check((text) => text === text.trim(), 'expected no spaces at the start or the end'),
    v.maxLength(
      maxLength,
      ({ received }) => `expected at most ${maxLength} characters, got ${received}`,
    ),
    v.rawCheck(({ dataset, addIssue }) => {
      const fault = dataset.typed ? findTextFault(dataset.value) : null
      if (fault !== null) addIssue({ message: fault })
    }),
  )
}
