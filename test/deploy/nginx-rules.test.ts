import { expect, test } from 'vitest'
import { toNginxRules } from '../../src/build/hosts.ts'
import { FILES } from './released-files.ts'

const locationsOf = (rules: string) =>
  rules.split('\n').filter((line) => line.trimStart().startsWith('location '))

test('nothing that pays or writes is sent to a second server', () => {
  const once = locationsOf(toNginxRules('https://waypost.example', FILES))
    .filter((line) => line.includes('proxy_next_upstream off;'))
    .map((line) => /location (?:(?:=|~|\^~) )?(\S+)/.exec(line)?.[1])
  expect(once).toEqual(['/go/', '/api/v1/sellers/', '/api/v1/call/', '@functions'])
})

test('files by https forbid plain http from then on; by http nothing is said', () => {
  const files = (baseUrl: string) =>
    locationsOf(toNginxRules(baseUrl, FILES)).filter((line) => line.includes('add_header'))
  const withHsts = (lines: string[]) =>
    lines.filter((line) => line.includes('add_header strict-transport-security "max-age=63072000"'))
  const secure = files('https://waypost.example')
  expect(secure.length).toBeGreaterThan(4)
  expect(withHsts(secure)).toEqual(secure)
  expect(withHsts(files('http://localhost:4321'))).toEqual([])
})
