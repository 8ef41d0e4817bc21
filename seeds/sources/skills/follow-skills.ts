import { isJsonObject, memberOf, parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { SellerReader } from '../../facts/seed-source.ts'

/** UTF-16 units of all skills of a run together. */
const MAX_LENGTH = 32 * 1024 * 1024

const ADDRESS =
  /^https:\/\/(?:github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/([\w.-]+)(?:\/([\w.@/-]+?))?)?|raw\.githubusercontent\.com\/([\w-]+\/[\w.-]+)\/([\w.-]+)\/([\w.@/-]+))\/?$/

interface Place {
  repo: string
  /** Where the paths lie. */
  root: string
  commit?: string | null
  paths: readonly string[]
  files?: string[] | undefined
}

/**
 * Addresses of skills become rows: on GitHub of the file itself, of its folder, or of the folder of
 * a plugin whose only skill has its name; elsewhere of a `skill.md`, or of an index of several on
 * the same host. Other rows stay as they are.
 */
export async function followSkills(values: readonly unknown[], reader: Reader) {
  const refused: Refusal[] = []
  const refuse = (name: string, reason: Refusal['reason'], detail: string) => {
    refused.push({ reason, name, detail })
    return []
  }
  const read = createReading(reader, refuse)
  const readIndex = async (address: string): Promise<unknown[]> => {
    const answer = await reader.read(address)
    if (!answer.ok) return refuse(address, 'unreadable_seller', answer.detail)
    const listed = memberOf(parseJson(answer.text), 'skills')
    const rows: unknown[] = []
    for (const each of [listed].flat().filter(isJsonObject).slice(0, MAX_INDEXED)) {
      const url = String(URL.parse(String(each.url ?? `${each.name}/SKILL.md`), address))
      const place = url.startsWith(`${new URL(address).origin}/`) ? parseAddress(url) : null
      const found =
        place === null
          ? refuse(url, 'invalid_url', 'expected a skill.md on the host of its index')
          : await read(url, { ...place, files: textsOf(each.files) })
      for (const row of found) rows.push(row)
    }
    return rows
  }
  const followed = await reader.each(values, async (value): Promise<unknown[]> => {
    if (typeof value !== 'string') return [value]
    if (INDEX.test(value)) return readIndex(value)
    const place = parseAddress(value)
    return place === null ? refuse(value, 'invalid_url', EXPECTED) : read(value, place)
  })
  return { values: followed.flat(), refused }
}

type Reader = Pick<SellerReader, 'read' | 'each'>

const EXPECTED = 'expected the address of a skill on GitHub, of a skill.md or of an index.json'

/** The first of a place's paths that is there, as a row. */
function createReading(
  reader: Reader,
  refuse: (name: string, reason: Refusal['reason'], detail: string) => never[],
) {
  let length = 0
  return async (name: string, place: Place): Promise<unknown[]> => {
    const { repo, root, commit = null, paths, files } = place
    if (length > MAX_LENGTH) return refuse(name, 'unreadable_seller', 'expected fewer skills')
    let fault = ''
    for (const path of paths) {
      const answer = await reader.read(`${root}/${path}`)
      if (!answer.ok) {
        fault = answer.detail
        continue
      }
      length += answer.text.length
      const licence = repo === root ? null : await reader.read(`${root}/LICENSE`)
      const license = licence?.ok === true ? nameLicence(licence.text) : null
      return [{ repo, path, commit, text: answer.text, license, ...(files && { files }) }]
    }
    return refuse(name, 'unreadable_seller', fault)
  }
}

function textsOf(files: unknown): string[] | undefined {
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : undefined
}

/** Skills of one index. */
const MAX_INDEXED = 200
const INDEX = /^https:\/\/[a-z0-9.-]+\/(?:[\w.-]+\/)*index\.json$/

/** @returns null for an address of something else */
function parseAddress(address: string): Place | null {
  const [, page, pageRef = 'HEAD', pagePath = '', raw, rawRef, rawPath = ''] =
    ADDRESS.exec(address) ?? []
  const repo = page ?? raw
  if (repo === undefined) {
    const { origin = '', pathname = '' } = URL.parse(address) ?? {}
    const isSkill = origin.startsWith('https://') && /\/skill\.md$/i.test(pathname)
    return isSkill ? { repo: origin, root: origin, paths: [pathname.slice(1)] } : null
  }
  const ref = rawRef ?? pageRef
  const commit = /^[0-9a-f]{40}$/.test(ref) && { commit: ref }
  const there = { repo, root: `https://raw.githubusercontent.com/${repo}/${ref}`, ...commit }
  const path = page === undefined ? rawPath : pagePath
  if (/skill\.md$/i.test(path)) return { ...there, paths: [path] }
  if (page === undefined) return null
  const below = path === '' ? '' : `${path}/`
  const last = path.split('/').at(-1)
  const plugin = path === '' ? [] : [`${below}skills/${last}/SKILL.md`]
  return { ...there, paths: [`${below}SKILL.md`, ...plugin, `${below}skill.md`] }
}

/** By the title of a licence's text, if well known. */
function nameLicence(text: string): string | null {
  const head = text.slice(0, 600)
  if (/\bMIT License\b/i.test(head)) return 'MIT'
  if (/\bApache License\s+Version 2\.0\b/i.test(head)) return 'Apache-2.0'
  if (/Attribution-ShareAlike 4\.0/i.test(head)) return 'CC-BY-SA-4.0'
  return 'see LICENSE'
}
