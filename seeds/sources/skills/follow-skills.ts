import type { Refusal } from '../../facts/refusal.ts'
import type { SellerReader } from '../../facts/seed-source.ts'

/** UTF-16 units of all skills of a run together. */
const MAX_LENGTH = 32 * 1024 * 1024

const ADDRESS =
  /^https:\/\/(?:github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/([\w.-]+)(?:\/([\w.@/-]+?))?)?|raw\.githubusercontent\.com\/([\w-]+\/[\w.-]+)\/([\w.-]+)\/([\w.@/-]+))\/?$/

/**
 * Addresses of skills on GitHub become rows: addresses of the file itself, of its folder, or of the
 * folder of a plugin whose only skill has its name. Other rows stay as they are.
 */
export async function followSkills(
  values: readonly unknown[],
  reader: Pick<SellerReader, 'read' | 'each'>,
) {
  const refused: Refusal[] = []
  let length = 0
  const followed = await reader.each(values, async (value): Promise<unknown[]> => {
    if (typeof value !== 'string') return [value]
    const place = parseAddress(value)
    const refuseIt = (reason: Refusal['reason'], detail: string) => {
      refused.push({ reason, name: value, detail })
      return []
    }
    if (place === null) return refuseIt('invalid_url', 'expected the address of a skill on GitHub')
    if (length > MAX_LENGTH) return refuseIt('unreadable_seller', 'expected fewer skills')
    const { repo, ref } = place
    const root = `https://raw.githubusercontent.com/${repo}/${ref}`
    let fault = ''
    for (const path of place.paths) {
      const answer = await reader.read(`${root}/${path}`)
      if (!answer.ok) {
        fault = answer.detail
        continue
      }
      length += answer.text.length
      const licence = await reader.read(`${root}/LICENSE`)
      const license = licence.ok ? nameLicence(licence.text) : null
      const commit = /^[0-9a-f]{40}$/.test(ref) ? ref : null
      return [{ repo, path, commit, text: answer.text, license }]
    }
    return refuseIt('unreadable_seller', fault)
  })
  return { values: followed.flat(), refused }
}

/** @returns null for an address of something else */
function parseAddress(address: string) {
  const [, page, pageRef = 'HEAD', pagePath = '', raw, rawRef, rawPath = ''] =
    ADDRESS.exec(address) ?? []
  const repo = page ?? raw
  if (repo === undefined) return null
  const path = page === undefined ? rawPath : pagePath
  if (path.endsWith('SKILL.md')) return { repo, ref: rawRef ?? pageRef, paths: [path] }
  if (page === undefined) return null
  const below = path === '' ? '' : `${path}/`
  const last = path.split('/').at(-1)
  const plugin = path === '' ? [] : [`${below}skills/${last}/SKILL.md`]
  return { repo, ref: pageRef, paths: [`${below}SKILL.md`, ...plugin] }
}

/** By the title of a licence's text, if well known. */
function nameLicence(text: string): string | null {
  const head = text.slice(0, 600)
  if (/\bMIT License\b/i.test(head)) return 'MIT'
  if (/\bApache License\s+Version 2\.0\b/i.test(head)) return 'Apache-2.0'
  if (/Attribution-ShareAlike 4\.0/i.test(head)) return 'CC-BY-SA-4.0'
  return 'see LICENSE'
}
