import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import type { SearchDocument } from '../../../src/search/index/search-document.ts'
import { foldText } from '../../../src/search/words/split-text.ts'

/**
 * Some questions are looked at while somebody works on the search, the others after: `aside` first, then
 * `later` and `latest`, each written when those before had been looked at.
 */
export const HALVES = ['development', 'aside', 'later', 'latest'] as const
export type Half = (typeof HALVES)[number]

const QuestionSchema = v.strictObject({
  q: v.pipe(v.string(), v.trim()),
  want: v.optional(v.string()),
  also: v.optional(v.string()),
  not: v.optional(v.string()),
  as: v.optional(v.string()),
  filter: v.optional(v.string()),
  missing: v.optional(v.string()),
})
const KINDS = [
  'task',
  'keyword',
  'name',
  'long',
  'at_length',
  'two_part',
  'language',
  'filter',
  'excluded',
  'silence',
] as const
/** The questions that were there first, and those that were written later. */
export const COLLECTIONS = ['queries', 'deeds'] as const
export type Collection = (typeof COLLECTIONS)[number]
/** The files of each, with the half that all of a file is; else its questions are halved by their hash. */
const FILES: Record<Collection, readonly { name: string; half?: Half }[]> = {
  queries: [{ name: 'queries' }],
  deeds: [
    { name: 'deeds', half: 'development' },
    { name: 'deeds-aside', half: 'aside' },
    { name: 'deeds-aside-2026-11-24', half: 'later' },
    { name: 'deeds-aside-2026-11-25', half: 'latest' },
  ],
}
export type QuestionKind = (typeof KINDS)[number] | 'story'
const FileSchema = v.strictObject(v.entriesFromList(KINDS, v.optional(v.array(QuestionSchema), [])))

export interface Question {
  kind: QuestionKind
  q: string
  half: Half
  /** The question in English with the same judgements; itself where there is none. */
  core: string
  grade: (text: JudgedText) => number
  filter: string | undefined
  missing: string | undefined
  /** Whether it is of somebody who is not wanted. */
  isExcluded: (text: JudgedText) => boolean
}

/** The texts of a listing by which it is judged, folded. */
export interface JudgedText {
  name: string
  /** The pieces of its address, with spaces between them. */
  address: string
  /** Name and tags. */
  first: string
  all: string
  /** With the categories. */
  labelled: string
}

/** The questions of a collection, each with the rule that judges a listing. */
export function readQuestions(collection: Collection = 'queries'): Question[] {
  const rows = FILES[collection].flatMap(({ name, half }) => readFile(name, half))
  return rows.map(({ kind, half, q, want, also, as, not, filter, missing }) => {
    const source = as === undefined ? { want, kind } : rows.find((row) => row.q === as)
    if (source === undefined)
      throw new Error(`“${q}” is judged as “${as}”, which is not a question`)
    const rules = [source.want, also].map((rule) => toGrade(rule ?? '', source.kind))
    const isExcluded = toExcluded(not)
    return {
      ...{ kind, q, half, filter, missing, isExcluded, core: as ?? q },
      grade: (judged) =>
        isExcluded(judged) ? 0 : Math.max(0, ...rules.map((grade) => grade(judged))),
    }
  })
}

function readFile(name: string, half?: Half) {
  const text = readFileSync(join(import.meta.dirname, `${name}.yaml`), 'utf8')
  const file = v.parse(FileSchema, parse(text))
  return KINDS.flatMap((kind) =>
    file[kind].map((row) => ({ kind, half: half ?? halfOf(row.q), ...row })),
  )
}

/** By the words of its name and address. */
function toExcluded(not: string | undefined): (text: JudgedText) => boolean {
  const words = not?.split('|').map((word) => ` ${word.trim()}`) ?? []
  return ({ name, address }) => words.some((word) => name.includes(word) || address.includes(word))
}

/** Every task and keyword, told within a third of the stories: 80 words take some peers a second. */
export function readStories(): Question[] {
  const text = readFileSync(join(import.meta.dirname, 'stories.yaml'), 'utf8')
  const stories = v.parse(v.array(v.string()), parse(text))
  const reported = readQuestions().filter(({ kind }) => kind === 'task' || kind === 'keyword')
  return reported.flatMap((question, at) =>
    stories
      .filter((_, place) => (place + at) % 3 === 0)
      .map((story) => ({
        ...question,
        kind: 'story' as const,
        q: story.replace('{task}', question.q),
      })),
  )
}

function halfOf(q: string): Half {
  return (createHash('sha256').update(q).digest()[0] ?? 0) % 2 === 0 ? 'development' : 'aside'
}

/** Nothing listed does it: no rows, or a note that says which word is missing. */
export const OUT_OF_SCOPE = 'out_of_scope'

const OwnFileSchema = v.array(
  v.strictObject({
    q: v.string(),
    group: v.string(),
    /** Ids of listings that do just that, and of those that help. */
    right: v.array(v.string()),
    also: v.optional(v.array(v.string()), []),
    /** By listing the operation that does it: `GET /search`, or a name. */
    operation: v.optional(v.record(v.string(), v.string()), {}),
  }),
)
export type OwnQuestion = v.InferOutput<typeof OwnFileSchema>[number]

/** Questions over our own catalogue, judged by the listings that are right. */
export function readOwnQuestions(path: string): OwnQuestion[] {
  return v.parse(OwnFileSchema, parse(readFileSync(path, 'utf8')))
}

/** What a person sees of a listing, for `grade`. */
export function toJudgedText({ name, tags, categories, summary, url }: SearchDocument): JudgedText {
  const split = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
  const [own, labels] = [`${name} ${split}`, tags.join(' ')].map(plain)
  const [text, sections] = [summary, categories.join(' ')].map(plain)
  const all = `${own} ${labels} ${text}`
  return {
    name: ` ${own} `,
    address: ` ${plain(url)} `,
    first: ` ${own} ${labels} `,
    all: ` ${all} `,
    labelled: ` ${all} ${sections} `,
  }
}

function plain(text: string): string {
  return foldText(text).replace(/[^\p{L}\p{N}]+/gu, ' ')
}

/** See the head of `queries.yaml`. */
function toGrade(want: string, kind: QuestionKind): (text: JudgedText) => number {
  const groups = want
    .split(';')
    .map((group) => group.split('|').map((word) => ` ${word.trim().replace('=', ' ')}`))
  const [decisive = []] = groups
  const has = (text: string, words: readonly string[]) => words.some((word) => text.includes(word))
  if (want === '') return () => 0
  return ({ name, first, all, labelled }) => {
    if (kind === 'name') return has(name, decisive) ? 3 : Number(has(all, decisive))
    if (groups.every((words) => has(all, words)) && has(first, decisive)) return 3
    if (groups.every((words) => has(labelled, words))) return 2
    return Number(has(all, decisive))
  }
}

/** A question with the grade of each listing. */
export interface Judged {
  question: Question
  grades: ReadonlyMap<string, number>
}

/** Questions that something listed answers, each judged over all listings. */
export function judgeAll(
  questions: readonly Question[],
  texts: ReadonlyMap<string, JudgedText>,
): Judged[] {
  return questions
    .filter(({ kind }) => kind !== 'silence')
    .map((question) => ({
      question,
      grades: new Map([...texts].map(([id, text]) => [id, question.grade(text)])),
    }))
}

/** The mean nDCG@10 of questions by the ids that each is answered with. */
export function meanOf(judged: readonly Judged[], rank: (q: string) => readonly string[]): number {
  const sum = judged.reduce((all, { question, grades }) => all + ndcg(rank(question.q), grades), 0)
  return sum / judged.length
}

/** Places that count. */
const DEPTH = 10

/** Gain 2^grade − 1, discount log2(rank + 1); the ideal is taken over every judged listing. */
function ndcg(ids: readonly string[], grades: ReadonlyMap<string, number>): number {
  const sum = (list: readonly number[]) =>
    list
      .slice(0, DEPTH)
      .reduce((total, grade, at) => total + (2 ** grade - 1) / Math.log2(at + 2), 0)
  const ideal = sum([...grades.values()].sort((a, b) => b - a))
  return ideal === 0 ? 0 : sum(ids.map((id) => grades.get(id) ?? 0)) / ideal
}
