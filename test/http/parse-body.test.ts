import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseBody } from '../../functions/http/parse-body.ts'
import { createProblems } from '../../functions/http/problem.ts'

const schema = v.strictObject({
  target: v.optional(v.string()),
  deliver: v.optional(
    v.pipe(
      v.strictObject({ email: v.optional(v.string()), webhook: v.optional(v.string()) }),
      v.check(() => true),
    ),
  ),
})

test.each([
  [{ deliver: { mail: 'a@b.example' } }, 'deliver.mail', 'email', ['email', 'webhook']],
  [{ targt: 'x' }, 'targt', 'target', ['target', 'deliver']],
])('the nearest field is one that may stand there: %j', async (body, name, nearest, allowed) => {
  const request = new Request('https://waypost.example/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await parseBody(request, schema, createProblems('https://waypost.example'))
  if (!('refusal' in answer)) throw new Error('expected a refusal')
  const detail = `no such field; did you mean ${nearest}?`
  expect(await answer.refusal.json()).toMatchObject({ errors: [{ name, detail, allowed }] })
})
