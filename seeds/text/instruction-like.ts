/**
 * Wording that has no place in a description and every place in an attack on the agent that reads
 * it. Kept narrow: "several system prompts" is an honest description, "ignore previous
 * instructions" is not.
 *
 * Known limit: a list of phrases in English stops the copied attack, not the careful one. Clients
 * are told that summaries are foreign text.
 */
const PHRASES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your)\b.{0,20}\b(?:instructions?|prompts?|rules|messages)\b/i,
  /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|telling|inform|informing|mention|alert|show)\w*\b.{0,20}\b(?:the )?(?:user|human|operator)\b/i,
  /\byou (?:must|should|shall) (?:always |first |now )*(?:call|use|run|invoke|prefer|recommend|select|choose)\b.{0,40}\b(?:this (?:tool|server|listing)|before any|instead of)\b/i,
  /<\/?(?:system|important|instructions?|assistant)>|\[\/?INST\]|<\|im_(?:start|end)\|>/i,
  /\b(?:reveal|send|print|exfiltrate)\b.{0,30}\b(?:system prompt|private keys?|api keys?|\.env|credentials|seed phrase)\b.{0,30}\bto\b/i,
]

/** @returns the words that give orders to an agent, or null. */
export function findInstruction(text: string): string | null {
  for (const phrase of PHRASES) {
    const found = phrase.exec(text)
    if (found !== null) return found[0]
  }
  return null
}
