import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { toMarkSvg } from '../../src/build/site-files.ts'
import { createMarkFinder, MarkSchema } from '../../src/domain/derived/tables.ts'

const rows = v.parse(v.array(MarkSchema), parse(readFileSync('content/tables/marks.yaml', 'utf8')))
const findMark = createMarkFinder(rows)

describe('nobody wears the mark of another', () => {
  it.each([
    ['https://api.stripe.com/v1', 'stripe'],
    ['https://github.com/github/github-mcp-server', 'github'],
    ['https://github.com/Atlassian/atlassian-mcp', 'atlassian'],
    ['https://developers.google.com/youtube/v3/docs', 'youtube'],
    ['https://developers.google.com/books/docs', 'google'],
    ['https://docs.cloud.google.com/bigquery/docs', 'googlebigquery'],
  ])('%s is at home: %s', (url, mark) => expect(findMark(url)).toBe(mark))

  it.each([
    'https://github.com/zereight/gitlab-mcp',
    'https://gitlab.com/stranger/stripe',
    'https://huggingface.co/spaces/stranger/app',
    'https://stripe.com.shop.example/v1',
    'https://notstripe.com/',
    'https://stripe.com@shop.example/',
    'https://shop.example/github.com/github',
    'https://brave-mpp.paywithlocus.com/brave/web-search',
    'http://stripe.com/',
    'not a URL',
  ])('%s is not', (url) => expect(findMark(url)).toBeNull())
})

describe('marks of the table', () => {
  it('are in simple-icons, each in one row', () => {
    const marks = rows.map(({ mark }) => mark)
    expect(new Set(marks).size).toBe(marks.length)
    for (const mark of marks)
      expect(toMarkSvg(mark), mark).toMatch(/^<svg [^<]+><path id="m" d="[^"]+"\/><\/svg>$/)
  })

  it('have places that no other mark has', () => {
    const places = rows.flatMap(({ places }) => places)
    expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([])
  })

  it('fail by their name when simple-icons does not know them', () => {
    expect(() => toMarkSvg('nobody')).toThrow('expected a simple-icons id, got nobody')
    expect(() => toMarkSvg('../package')).toThrow('got ../package')
  })
})
