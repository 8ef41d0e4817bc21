/** Spellings of one sound, in the order they are replaced. */
const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:wr)/, 'r'],
  [/^(?:kn|gn)/, 'n'],
  [/igh/g, 'i'],
  [/ph/g, 'f'],
  [/ck|q|c(?![eiyh])/g, 'k'],
  [/c(?=[eiy])|z/g, 's'],
  [/x/g, 'ks'],
  [/(?<=.)y/g, 'i'],
  [/ei|ea|ee|ie/g, 'i'],
  [/oo|ou/g, 'u'],
  [/(.)\1+/g, '$1'],
  [/(?<=.{3})e$/, ''],
]

/**
 * How a word sounds, roughly: equal for `playwrite` and `playwright`, which no single edit joins.
 */
export function soundKey(word: string): string {
  return SOUNDS.reduce((key, [spelling, sound]) => key.replace(spelling, sound), word)
}
