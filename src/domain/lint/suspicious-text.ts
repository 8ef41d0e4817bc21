import type { Skill, Tool } from '../listing/tools-and-skills.ts'
import type { Notice } from '../trust/interface.ts'

/**
 * Texts of tools that give orders to the agent reading them. A rule only says where a person should
 * look: honest tools also explain in which order to call them.
 *
 * Known limit: the rules read English. Somebody who knows them can avoid them.
 */
export const TEXT_RULES = [
  {
    id: 'overrides',
    says: 'tells the agent to ignore or replace earlier instructions',
    pattern:
      /\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:previous|prior|above|earlier|other|system|all)\b[^.]{0,30}\b(?:instructions?|prompts?|rules?|messages?|tools?)\b/i,
  },
  {
    id: 'comes_first',
    says: 'tells the agent to call it before or instead of any other tool',
    pattern:
      /\b(?:before|prior to|instead of)\b[^.]{0,30}\b(?:any|every|all|other)\b(?: other)? tools?\b/i,
  },
  {
    id: 'keeps_secret',
    says: 'tells the agent to hide something from the person it works for',
    pattern:
      /\b(?:do not|don.t|never|without)\b[^.;:]{0,20}\b(?:tell|telling|mention|mentioning|inform|informing|notify|notifying)\b[^.]{0,20}\b(?:user|human|person|them)\b/i,
  },
  {
    id: 'speaks_as_system',
    says: 'carries marks that make it look like a message of the system',
    pattern:
      /<\/?(?:important|system|instructions?|secret|assistant)>|\[\/?INST\]|<\|im_(?:start|end)\|>/i,
  },
  {
    id: 'reads_secrets',
    says: 'names a file with keys or configurations of other tools',
    pattern:
      /~\/\.ssh|\bid_(?:rsa|ed25519)\b|\.cursor\/mcp\.json|\bclaude_desktop_config\b|~\/\.aws/i,
  },
] as const

/** In addition to the rules: invisible characters are found where the text is read. */
export const HIDDEN_RULE = { id: 'hidden', says: 'contains invisible characters' } as const

type Told = Pick<Tool, 'name' | 'description' | 'hidden'> | Pick<Skill, 'name' | 'description'>

/** One for each tool or skill that matches a rule, by its name. */
export function findSuspiciousTexts(told: readonly Told[]) {
  return told.flatMap((each) => {
    const isHidden = 'hidden' in each && each.hidden === true
    const rule = isHidden
      ? HIDDEN_RULE
      : TEXT_RULES.find(({ pattern }) => pattern.test(each.description))
    return rule === undefined ? [] : [{ name: each.name, rule: rule.id, says: rule.says }]
  })
}

/** One notice; it changes no score. @param since when the text of a tool was first seen */
export function toSuspicionNotice(
  told: readonly Told[],
  since: (name: string) => string,
): Notice[] {
  const [first, ...more] = findSuspiciousTexts(told)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : ` So do ${more.length} more.`
  const note = `The text of ${first.name.slice(0, 60)} ${first.says}.${others} A person looks at it; by itself it says nothing about the seller.`
  return [{ id: 'suspicious_text', note, at: since(first.name) }]
}
