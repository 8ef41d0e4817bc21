import { expect, test } from 'vitest'
import { renderDescription } from '../../src/derive/description.ts'

const headings = (source: string) => renderDescription(source).match(/<h\d>[^<]+/g)

test.each([
  ['starts below the page’s own headings', '# A\n## B\n# C', ['<h3>A', '<h4>B', '<h3>C']],
  ['starts there however deep it begins', '#### A\n#### B', ['<h3>A', '<h3>B']],
  ['skips no level', '# A\n##### B\n### C\n# D', ['<h3>A', '<h4>B', '<h4>C', '<h3>D']],
  [
    'ends at the deepest there is',
    '# A\n## B\n### C\n#### D\n##### E',
    ['<h3>A', '<h4>B', '<h5>C', '<h6>D', '<h6>E'],
  ],
])('a description %s', (_, source, expected) => {
  expect(headings(source)).toEqual(expected)
})

test('each heading closes as it opened', () => {
  expect(renderDescription('# A\n##### B')).toBe('<h3>A</h3>\n<h4>B</h4>')
})

test('a table lies in a box that scrolls, by keyboard too', () => {
  const html = renderDescription('| a | b |\n|---|---|\n| 1 | 2 |')
  expect(html).toMatch(/^<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>/)
  expect(html).toMatch(/<\/table><\/div>$/)
})

test('code scrolls by keyboard, fenced or indented', () => {
  expect(renderDescription('```sh\nls\n```')).toContain('<pre tabindex="0"><code')
  expect(renderDescription('    ls')).toContain('<pre tabindex="0"><code')
})
